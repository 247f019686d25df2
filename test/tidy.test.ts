/**
 * Keeps the house in order: the floors of the architecture page (which part may import which), a core without clock,
 * chance and I/O, and the rules of the style page that a machine can read.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const root = fileURLToPath(new URL('../../', import.meta.url));

const ground = ['limits', 'errors'];
const actor = [...ground, 'core', 'group'];
const outside = [
  ...actor,
  'validation',
  'contract',
  'store',
  'workers',
  'cluster',
  'http',
  'operations',
  'operator',
  'player-ids',
  'node/config',
  'node/variables',
  'node/logger',
  'node/version',
];

/**
 * The parts of `src` (a folder, a file at its top, or a file of a folder that is listed by itself) and the other parts
 * that each may import, if only a type.
 */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  limits: [],
  errors: [],
  listening: [],
  'text-lines': [],
  core: ground,
  group: [...ground, 'core'],
  store: actor,
  workers: [...actor, 'store'],
  operations: [...actor, 'validation'],
  cluster: [...actor, 'operations', 'text-lines'],
  validation: ground,
  contract: [...ground, 'core', 'validation'],
  http: [...actor, 'validation', 'contract', 'player-ids', 'listening'],
  operator: [...actor, 'validation', 'operations', 'listening', 'terminal', 'text-lines'],
  'node/variables': [...ground, 'core', 'player-ids'],
  'node/config': [...ground, 'core', 'node/variables'],
  'node/operator-environment': [...ground, 'group', 'operator', 'node/config', 'node/variables'],
  'node/operator-folder': [...outside, 'node/cluster', 'node/operator-environment'],
  'node/logger': ['node/variables'],
  'node/version': [],
  'node/system': ['group'],
  'node/upkeep': outside,
  'node/startup': [...outside, 'node/system'],
  'node/shutdown': [...outside, 'node/upkeep'],
  'node/operator-access': [...outside, 'node/startup', 'node/shutdown'],
  'node/cluster': [...outside, 'node/startup'],
  'node/node': [
    ...outside,
    'node/operator-access',
    'node/cluster',
    'node/upkeep',
    'node/system',
    'node/startup',
    'node/shutdown',
  ],
  'node/process': [...outside, 'node/node', 'node/operator-access', 'node/startup'],
  'node-version': [],
  'require-node': ['node-version'],
  'open-files': ['limits'],
  'require-open-files': ['open-files'],
  main: ['node/process', 'require-node', 'require-open-files'],
  ptf: [...outside, 'node/operator-environment', 'node/operator-folder', 'terminal'],
  // Aside: of the service it knows the types of the contract, see `forbiddenImports`.
  'player-ids': [],
  client: ['node-version', 'player-ids'],
  'client/entry': ['client', 'player-ids'],
  'client/for-peer': ['client'],
  // The command on the peer's side, shipped with the client: nothing of the service, nothing native.
  peer: ['client/entry', 'client/for-peer', 'player-ids', 'terminal'],
  'ptf-peer': ['peer', 'terminal'],
  terminal: [],
  'testing/test-node': ['client', 'client/entry'],
  'testing/test-node-process': ['main'],
};

/** The packages for game servers, which must run without the service: no package of the service, nothing native. */
const clientPackages = [
  'eventsource-parser',
  'http-message-signatures',
  'undici',
  'node:crypto',
  'node:events',
  'node:fs',
  'node:net',
  'node:path',
  'node:zlib',
];

/** The packages for `ptf-peer`. */
const peerPackages = [
  ...clientPackages,
  '@date-fns/tz',
  'commander',
  'csv-parse',
  'jsonc-parser',
  'node-sqlite3-wasm',
  'sax',
  'standardwebhooks',
  'steamid',
  'node:buffer',
  'node:child_process',
  'node:http',
  'node:os',
];

/** Parts that are held to these packages; any other part may use what package.json lists. */
const mayUsePackages: Readonly<Record<string, readonly string[]>> = {
  limits: [],
  errors: [],
  core: ['node:crypto', 'node:zlib'],
  group: ['node:crypto'],
  'node/variables': [],
  'node/config': ['dotenv', 'fastest-levenshtein'],
  'node/logger': ['pino'],
  client: clientPackages,
  'player-ids': ['node:net', 'steamid'],
  peer: peerPackages,
  'ptf-peer': ['node:fs', 'node:os', 'node:readline', 'node:stream'],
};

/** Packages that have one home: what others need of them comes in through a port. */
const homes: Readonly<Record<string, readonly string[]>> = {
  lmdb: ['store'],
  piscina: ['workers'],
  '@grpc/grpc-js': ['store'],
  '@grpc/proto-loader': ['store'],
};

/** Files of the core that may use functions whose last bit differs between Node versions, and why. */
const inexactAllowed: readonly (readonly [start: string, reason: string])[] = [
  ['src/core/evidence/decay.ts', 'decide computes a factor once and the record carries it; reads are never replayed'],
  ['src/core/evidence/evidence.ts', 'its logit serves recorded weights only'],
  ['src/core/scoring/score.ts', 'a score is computed at the read and never replayed'],
  ['src/core/trust/', 'weights are recorded as computed; a replay takes the recorded values'],
];

/** Files besides the entries that may ask the process something, and why. */
const processAllowed: Readonly<Record<string, string>> = {
  'src/node/operator-folder.ts': 'a part of the entry `ptf`: its user, and the signals that cancel a backup',
  'src/http/room/work-turns.ts': 'the next tick, after the microtasks of a request',
  'src/require-node.ts': 'ends the process where its Node is too old',
  'src/require-open-files.ts': 'ends the process where it may open too few files',
  'src/client/require-node.ts': 'asks which Node runs the game server',
  'src/client/transport/listeners.ts': 'warns the process of a refusal that no listener learns of',
  'src/testing/test-node.ts': 'a tool of tests: the nodes that it starts must not outlive the process that did',
  'src/testing/test-node-process.ts': 'the entry of a process of its own: its channel to the parent, its end',
  'src/store/ownership/owner-record.ts': 'its pid, and signal 0, tell a living owner of a data folder from a dead one',
  'src/workers/pool/replica-worker.ts': 'a worker entry: on Linux a priority is that of a thread',
  'src/workers/backup/backup-process.ts':
    'the entry of a process of its own: its task, its channel to the parent, its end',
  'src/workers/verify/verify-process.ts': 'the entry of a process of its own: its arguments, its channel to the parent',
};

interface Source {
  /** From the root of the repository, with `/`. */
  readonly path: string;
  readonly text: string;
}

function sourcesUnder(folder: string, name = /\.(?:ts|mjs)$/): Source[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && name.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.includes('node_modules'))
    .map((path) => ({ path: path.slice(root.length), text: readFileSync(path, 'utf8') }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

const commentOrString = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\$]|\\.)*`/g;

/** The text without comments, its line breaks kept. */
function withoutComments(text: string): string {
  return text.replace(commentOrString, (found) => (found.startsWith('/') ? found.replace(/[^\n]/g, ' ') : found));
}

/** The text without comments and without what stands in strings. */
const codeOnly = (text: string): string => withoutComments(text).replace(commentOrString, "''");

/** Returns what the text imports and re-exports from, types included; `pattern` can choose some of it. */
function importsOf(
  text: string,
  pattern = /(?:(?<![.'"])\bfrom|(?<!['"])\bimport)\s*\(?\s*['"]([^'"]+)['"]/g,
): string[] {
  return Array.from(withoutComments(text).matchAll(pattern), ([, from]) => from ?? '');
}

/** The compiler removes these from the program. */
const typeImport = /\bimport type \{[^}]*\} from ['"]([^'"]+)['"]/g;

/** Returns the file of `src` that the file at `path` imports by a relative specifier. */
function importedFile(path: string, specifier: string): string {
  return posix.join(posix.dirname(path), specifier).replace(/\.js$/, '.ts');
}

function partOf(path: string): string {
  const [, part = '', file = ''] = path.replace(/\.ts$/, '').split('/');
  return mayImport[`${part}/${file}`] === undefined ? part : `${part}/${file}`;
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

/** Returns the imports of this file that its floor forbids. */
function forbiddenImports({ path, text }: Source): string[] {
  const part = partOf(path);
  const allowed = mayImport[part];
  if (allowed === undefined) return [`${path} belongs to no part that the table knows`];
  const typesOnly = importsOf(text, typeImport);
  return importsOf(text)
    .filter((specifier) => {
      if (specifier.startsWith('.')) {
        const file = importedFile(path, specifier);
        if ((part === 'client' || part === 'peer') && file.startsWith('src/contract/'))
          return !typesOnly.includes(specifier);
        const target = partOf(file);
        return target !== part && !allowed.includes(target);
      }
      const name = packageOf(specifier);
      return mayUsePackages[part]?.includes(name) === false || homes[name]?.includes(part) === false;
    })
    .map((specifier) => `${path} imports ${specifier}`);
}

/** Each `path:line: what was found` in the code of the files. */
function findInCode(sources: readonly Source[], pattern: RegExp, textOf = codeOnly): string[] {
  return sources.flatMap(({ path, text }) =>
    textOf(text)
      .split('\n')
      .flatMap((line, index) => {
        const found = pattern.exec(line)?.[0];
        return found === undefined ? [] : [`${path}:${index + 1}: ${found}`];
      }),
  );
}

const src = sourcesUnder('src');
const core = src.filter(({ path }) => path.startsWith('src/core/'));
/** A command without a node uses `cluster-data.ts` alone. */
const timeless = src.filter(({ path }) => /^src\/(?:group|cluster|node\/cluster)\/(?!cluster-data\.ts)/.test(path));
const everything = ['src', 'test', 'bench', 'scripts', 'examples'].flatMap((folder) => sourcesUnder(folder));

const pathsOf = (sources: readonly Source[]): string[] => sources.map(({ path }) => path);

/** `new Date(ms)` only converts; every other use of Date reads the clock. */
const impure =
  /(?<!\bnew )\bDate\b|\bDate\b(?!\([^)\s])|\b(?:setTimeout|setInterval|setImmediate|queueMicrotask|Promise|async|await|process|performance|console|fetch|globalThis)\b|\bMath\.random\b|\brandom(?:Bytes|UUID|Int|Fill\w*)\b|\bgetRandomValues\b/;
/** Private members of Node's sockets and requests, and the way to find members that have a symbol for a name. */
const privateSlot = /(?<!this)\._[a-z]|\bgetOwnPropertySymbols\b|\bReflect\.(?:get|set|ownKeys)\b|\bprocess\.binding\b/;
/** Waits for a time: a timer, a thread that sleeps, or a condition that reads the clock. */
const sleep =
  /(?<!\.)\bsetTimeout\(|^import (?!\{ setImmediate as \w+ \}).*'(?:node:)?timers|\bAtomics\.wait\(|\buntil\(.*\bnow\(/;
/** Fast tests with a timer or a sleep that is not their own, and why. */
const sleepAllowed: Readonly<Record<string, string>> = {
  'test/store/log/lmdb-log.test.ts': 'looks at a file again and again while the event loop stands still',
  'test/tidy.test.ts': 'the samples of this rule',
  'test/weights.test.ts': 'a timer without a delay in a worker, which is the subject of the test',
};
/** The timeout of a socket is a method, and stays with the socket. */
const ownTimers = /(?<!\.)\b(?:setTimeout|setInterval|setImmediate|performance)\b|\bDate\.now\b/;
const inexact = /\*\*|\bMath\.(?:pow|exp|expm1|log\w*|cbrt|hypot|a?(?:sin|cos|tan)h?|atan2)\b/;

test('no file imports from a floor that its own may not see', () => {
  assert.ok(src.length > 0 && core.length > 0);
  assert.equal(src.flatMap(forbiddenImports), []);
});

test('only the node plugs in the fast path: server and handlers work without it', () => {
  const entry = 'src/http/fast-path/fast-path.ts';
  const users = src.flatMap(({ path, text }) =>
    importsOf(text)
      .map((specifier) => importedFile(path, specifier))
      .filter((file) => file.startsWith('src/http/fast-path/') && !path.startsWith('src/http/fast-path/'))
      .map((file) => `${path} imports ${file}`),
  );
  assert.equal(users, [`src/node/node.ts imports ${entry}`]);
});

test('no code accesses private slots of objects of Node', () => assert.equal(findInCode(src, privateSlot), []));

test('the core has no clock, random source, timer, promise, process or I/O', () => {
  assert.equal(findInCode(core, impure), []);
  const zlib = core.flatMap(({ text }) => [...text.matchAll(/import \{([^}]*)\} from 'node:zlib'/g)]);
  for (const [, names] of zlib) assert.is(names?.trim(), 'crc32');
});

test('the core computes nothing that differs between Node versions, but where it is never replayed', () => {
  const exact = core.filter(({ path }) => !inexactAllowed.some(([start]) => path.startsWith(start)));
  assert.equal(findInCode(exact, inexact), []);
});

test('group and cluster have time through their ports alone, so that a simulation can own it', () => {
  assert.ok(timeless.some(({ path }) => path.startsWith('src/node/cluster/')));
  assert.equal(findInCode(timeless, ownTimers), []);
});

test('only the entries touch the process', () => {
  const entries = ['src/node/process.ts', 'src/ptf.ts', 'src/ptf-peer.ts', ...Object.keys(processAllowed)];
  const others = src.filter(({ path }) => !entries.includes(path));
  assert.equal(findInCode(others, /\bprocess\./), []);
  const importing = others.filter(({ text }) => importsOf(text).some((name) => /^(?:node:)?process$/.test(name)));
  assert.equal(pathsOf(importing), []);
});

/** Files of more than 400 lines, and why each is one idea. */
const longAllowed: Readonly<Record<string, string>> = {
  'src/limits.ts': 'one table of all bounds, read from top to bottom',
  'src/core/state.ts': 'the fold of all records; each record has one method',
  'src/core/records/records.ts': 'one declaration for each record, read from top to bottom',
  'src/core/tables/peer-entries.ts': 'the one layout of an entry; each access to it has a method',
  'src/contract/response-bodies.ts': 'one schema for each body that the service answers with',
  'src/contract/routes.ts': 'one table of all routes, read from top to bottom',
  'src/group/api.ts': 'the whole interface of a group, read from top to bottom',
  'src/group/group.ts': 'one method for each call of the API',
  'src/group/actor/loop.ts': 'the one shell of the actor; each of its effects has a method',
  'src/cluster/member.ts': 'the one state machine of a role; each of its steps has a method',
  'src/node/node.ts': 'the one place where the parts of a node are joined',
  'src/node/cluster/cluster-node.ts': 'the one place where the parts of a node of a cluster are joined',
  'src/node/variables.ts': 'one table of all variables, read from top to bottom',
};

test('no source file is longer than 400 lines without a reason', () => {
  const long = everything
    .filter(({ path }) => /^(?:src|bench)\//.test(path))
    .map(({ path, text }) => ({ path, lines: text.trimEnd().split('\n').length }))
    .filter(({ path, lines }) => lines > 400 && longAllowed[path] === undefined);
  assert.equal(long, []);
});

test('every source file starts with a comment that states its responsibility', () => {
  const bare = everything
    .filter(({ path }) => !path.startsWith('test/'))
    .filter(({ text }) => !/^(?:#![^\n]*\n)?\/(?:\*\*|\/)\s*\S/.test(text));
  assert.equal(pathsOf(bare), []);
});

test('no comment line is wider than 120 columns, tables aside', () => {
  const wide = everything.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, i) => {
      const isComment = /^\s*(?:\/\/|\/?\*)/.test(line) && !/^\s*\* (?:\||\s{3})/.test(line);
      return isComment && line.length > 120 ? [`${path}:${i + 1}`] : [];
    }),
  );
  assert.equal(wide, []);
});

test('file names are in kebab-case', () => {
  const name = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:(?:\.slow)?\.test)?\.(?:ts|mjs)$/;
  assert.equal(pathsOf(everything.filter(({ path }) => !name.test(basename(path)))), []);
});

/**
 * Retired words of docs/GLOSSARY.md that no name contains any more, nor any title of a test. A word joins the list once
 * its last use is gone and never leaves it.
 */
const retiredWords = [
  'chance',
  'entropy',
  'mail',
  'let in',
  'turned away',
  'tell',
  'told',
  'telling',
  'door',
  'partner',
  'hand over',
  'take out',
  'taken back',
  'kept',
  'shown',
  'trouble',
  'unfitness',
  'copies',
  'copying',
  'start faults',
  'group faults',
  'lane',
  'retirement',
  'lend',
  'lent',
  'warm',
  'look ahead',
  'moment',
  'worth',
  'assumption',
  'other half life',
  'plain head',
  'hot shapes',
  'give way',
];

/** Names that code declares: bindings, functions, types, methods and members. */
const declaration =
  /\b(?:const|let|function|class|interface|type|enum)\s+(\w+)|^\s+(?:(?:async|static|private|get|set|readonly)\s+)*#?(\w+)(?:<[^>]*>)?\??(?:\([^;]*\))?(?::|\s*\{$)/gm;

function wordsIn(name: string): string {
  return ` ${name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/[-_.]/g, ' ')
    .toLowerCase()} `;
}

/** The titles of tests, which are sentences. */
const title = /^\s*(?:\w+\.)?test\(\s*(['"`])(.*?)\1/gm;

function retiredIn({ path, text }: Source): string[] {
  const declared = Array.from(codeOnly(text).matchAll(declaration), ([, binding, member]) => binding ?? member ?? '');
  // Names with an underscore cross the wire or the log, where formats keep the names that they have.
  const titles = Array.from(text.matchAll(title), ([, , sentence]) => sentence ?? '');
  return [basename(path, '.ts'), ...declared.filter((name) => !name.includes('_')), ...titles]
    .filter((name) => {
      // The warm-up of a measurement is a standard term.
      const words = wordsIn(name).replaceAll(' warm up ', ' ');
      return retiredWords.some((word) => words.includes(` ${word} `));
    })
    .map((name) => `${path}: ${name}`);
}

test('no file name, declared name or title of a test uses a retired word of the glossary', () => {
  const glossary = wordsIn(readFileSync(join(root, 'docs/GLOSSARY.md'), 'utf8'));
  for (const word of retiredWords) assert.ok(glossary.includes(word), `${word} is no retired word of the glossary`);
  assert.equal(everything.flatMap(retiredIn), []);
});

/** Starts of sentences that are fragments or hide their subject. */
const fragment =
  /(?:^|[.!?] )(?:(?:Of|Told|What|Whatever|Where|Whether or not|Who|Whoever|Whom|Whose|Nobody)\b|The same(?: as\b|[,.;:]|$)|That (?:is|it|of|which|the|a|no)\b|For (?:one|those|what|who|whoever|the same)\b)[^.]*/;

/** The comments of a text, each without its markers and in one line. */
function commentsOf(text: string): string[] {
  const joined = text.replace(/(?<=^[ \t]*\/\/[^\n]*)\n[ \t]*\/\/ ?/gm, ' ');
  return (joined.match(commentOrString) ?? [])
    .filter((found) => found.startsWith('/'))
    .map((found) =>
      found
        .replace(/^\/\*+|\*\/$|^\/\/|\n[ \t]*\* ?/g, ' ')
        .replace(/\s+/g, ' ')
        .trim(),
    );
}

function fragmentsIn({ path, text }: Source): string[] {
  return commentsOf(text).flatMap((comment) => {
    const found = fragment.exec(comment)?.[0];
    return found === undefined ? [] : [`${path}: ${found}`];
  });
}

test('no comment has a sentence that starts as a fragment', () => assert.equal(everything.flatMap(fragmentsIn), []));

test('nothing is left for later, left out, or exported by default', () => {
  const marks = new RegExp(`\\b(?:${['TO' + 'DO', 'FIX' + 'ME', 'X'.repeat(3)].join('|')})\\b`);
  assert.equal(
    findInCode(everything, marks, (text) => text),
    [],
  );
  assert.equal(findInCode(sourcesUnder('test'), /\btest\.(?:skip|only)\b/), []);
  // The runner knows the tests of uvu's own `test` alone.
  assert.equal(findInCode(sourcesUnder('test'), /\bsuite\b.* from 'uvu'/, withoutComments), []);
  assert.equal(findInCode(everything, /\bexport default\b|@ts-(?:ignore|nocheck)/), []);
});

test('a fast test waits for a condition or replaces the clock, and never sleeps', () => {
  const fast = sourcesUnder('test', /(?<!\.slow)\.test\.ts$/).filter(({ path }) => sleepAllowed[path] === undefined);
  assert.equal(findInCode(fast, sleep, withoutComments), []);
});

test('versions are exact, and the lock file names no host', () => {
  const manifest: unknown = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  assert.ok(typeof manifest === 'object' && manifest !== null);
  const loose = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies', 'overrides']
    .flatMap((group) => Object.entries(Object.entries(manifest).find(([key]) => key === group)?.[1] ?? {}))
    // An override may be for the dependencies of one package alone.
    .flatMap(([name, version]) => (typeof version === 'object' ? Object.entries(version ?? {}) : [[name, version]]))
    .filter(([, version]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(String(version)));
  assert.equal(loose, []);
  assert.not.match(readFileSync(join(root, 'package-lock.json'), 'utf8'), /"resolved"/);
});

test('the checks above detect their faults', () => {
  for (const [path, text, count] of [
    ['src/http/a.ts', "import type { A } from '../store/log.js';", 1],
    ['src/http/deep/a.ts', "import {\n  a,\n} from '../../group/api.js';\nimport { b } from '../b.js';", 0],
    ['src/core/deep/a.ts', "export { a } from '../../group/api.js';", 1],
    ['src/core/a.ts', "// from '../http/a.js'\nimport { readFileSync } from 'node:fs';", 1],
    ['src/group/a.ts', "const a = await import('lmdb');", 1],
    ['src/operator/a.ts', "import { Piscina } from 'piscina';", 1],
    ['src/errors.ts', "import './limits.js';", 1],
    ['src/group/a.ts', "const a = Buffer.from('lmdb');", 0],
    ['src/strange/a.ts', '', 1],
    ['src/client/a.ts', "import type { A } from '../contract/routes.js';", 0],
    ['src/client/a.ts', "import { a } from '../contract/routes.js';", 1],
    ['src/client/a.ts', "import type { A } from '../http/deps.js';\nimport { limits } from '../limits.js';", 2],
    ['src/peer/cli/a.ts', "import { a } from '../../client/for-peer.js';", 0],
    ['src/peer/cli/a.ts', "import { a } from '../../client/bounds.js';", 1],
    ['src/client/a.ts', "import { open } from 'lmdb';\nimport { pid } from 'node:process';", 2],
  ] as const) {
    assert.is(forbiddenImports({ path, text }).length, count, text);
  }

  for (const [path, text, found] of [
    ['src/last-chance.ts', '', 'last-chance'],
    ['src/a.ts', "const byChance = 1; const a = 'chance'; // const chance", 'byChance'],
    ['src/a.ts', 'class A {\n  #chance(a: number): void {\n  readonly chances: number;', 'chance'],
    ['test/a.test.ts', `test${'('}'a door opens', () => {});\ntest${'('}'a gate opens');`, 'a door opens'],
  ] as const) {
    assert.equal(retiredIn({ path, text }), [`${path}: ${found}`], text);
  }

  for (const [text, ...found] of [
    ['/** Of the newest. */', 'Of the newest'],
    ['// Reads it.\n// What is read counts.', '. What is read counts'],
    ["/**\n * Reads a file.\n * Whoever asks\n * waits.\n */ const a = 'What is this';", '. Whoever asks waits'],
    ['// Returns the part\n// Of a file. The same seed gives the same file.\nconst a = 1;'],
  ] as const) {
    assert.equal(
      fragmentsIn({ path: 'a.ts', text }),
      found.map((one) => `a.ts: ${one}`),
      text,
    );
  }

  for (const [pattern, text, ...found] of [
    [impure, "const a = 1; /* Date */ const b = 'Date'; // Date"],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the code that is looked at
    [impure, '/*\n*/ const a = `${Date.now()}`;', '2: Date'],
    [impure, 'const a = new Date(ms).toISOString();'],
    [impure, 'const a = new Date();', '1: Date'],
    [impure, 'const a = Date(ms);', '1: Date'],
    [impure, 'const a = Math.random();', '1: Math.random'],
    [privateSlot, 'const a = socket._handle;', '1: ._h'],
    [ownTimers, 'response.setTimeout(1); setTimeout(act, 1);', '1: setTimeout'],
    [ownTimers, 'response.setTimeout(1);'],
    [inexact, 'const a = 2 ** b + Math.sqrt(c);', '1: **'],
    [inexact, 'const a = Math.log2(b);', '1: Math.log2'],
  ] as const) {
    assert.equal(
      findInCode([{ path: 'a.ts', text }], pattern),
      found.map((one) => `a.ts:${one}`),
      text,
    );
  }

  for (const [text, count] of [
    ['await new Promise((r) => setTimeout(r, 20));', 1],
    ["const code = 'setTimeout(end, 20)';", 1],
    ["import { setTimeout as delay } from 'node:timers/promises';", 1],
    ["import { scheduler } from 'timers/promises';", 1],
    ["import * as timers from 'timers';", 1],
    ['Atomics.wait(never, 0, 0, 20);', 1],
    ['await until(() => performance.now() > 20);', 1],
    ["import { setImmediate as turn } from 'node:timers/promises';", 0],
    ['socket.setTimeout(20); await until(() => isOver); // setTimeout(end, 20)', 0],
  ] as const) {
    assert.is(findInCode([{ path: 'a.ts', text }], sleep, withoutComments).length, count, text);
  }
});

test.run();
