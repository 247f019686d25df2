/**
 * `npm run docs:client` writes `docs/CLIENT-REFERENCE.md` from the docstrings of the two packages that game servers
 * import. Every public symbol must be documented, and every type in its signature must be public. `--to FILE` writes
 * elsewhere. The script reads the declarations in `dist/`, which it builds if they are stale.
 */
import './lib/require-node.mjs';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { compile, projects, root } from './lib/compile.mjs';

if (!compile(projects.main, { ifStale: true })) process.exit(1);
const { Extractor, ExtractorConfig } = await import('@microsoft/api-extractor');

const entries = { client: 'dist/client/entry.d.ts', testing: 'dist/testing/test-node.d.ts' };

/**
 * Types documented elsewhere: the OpenAPI document has those of the contract, the client's part of the page has its
 * own.
 */
const elsewhere = {
  client: ['ErrorBody', 'EventBody', 'RegisteredPeerBody', 'RegistrationBody', 'TrustScoreBody'],
  testing: ['TrustClient', 'TrustClientOptions'],
};

const { values } = parseArgs({ options: { to: { type: 'string', default: 'docs/CLIENT-REFERENCE.md' } } });
const target = resolve(root, values.to);
const models = mkdtempSync(join(tmpdir(), 'ptf-docs-'));
try {
  const faults = Object.entries(entries).flatMap(([name, entry]) => extract(name, entry));
  if (faults.length > 0) {
    console.error(faults.join('\n'));
    process.exitCode = 1;
  } else {
    write();
  }
} finally {
  rmSync(models, { recursive: true, force: true });
}

/** Writes the model of one package into `models` and returns the errors of its docstrings. */
function extract(name, entry) {
  const faults = [];
  const config = ExtractorConfig.prepare({
    configObjectFullPath: join(root, 'api-extractor.json'),
    packageJsonFullPath: join(root, 'package.json'),
    // Game servers import it by a path, which cannot be the name of a package.
    packageJson: { ...JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')), name },
    configObject: {
      projectFolder: root,
      mainEntryPointFilePath: join(root, entry),
      compiler: { overrideTsconfig: tsconfig(entry) },
      // The extractor looks for undocumented members only while it writes this report.
      apiReport: { enabled: true, reportFileName: `${name}.api.md`, reportFolder: models, reportTempFolder: models },
      docModel: { enabled: true, apiJsonFilePath: join(models, `${name}.api.json`), projectFolderUrl: '' },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      newlineKind: 'lf',
      messages: {
        extractorMessageReporting: {
          default: { logLevel: 'error' },
          'ae-undocumented': { logLevel: 'error' },
        },
        tsdocMessageReporting: { default: { logLevel: 'error' } },
      },
    },
  });
  Extractor.invoke(config, {
    localBuild: true,
    messageCallback(message) {
      const isElsewhere = elsewhere[name].some((symbol) => message.text.startsWith(`The symbol "${symbol}" `));
      const isKnown = message.messageId === 'ae-forgotten-export' && isElsewhere;
      if (!isKnown && message.category !== 'console' && ['error', 'warning'].includes(message.logLevel)) {
        const place = message.sourceFilePath ? `${message.sourceFilePath}:${message.sourceFileLine}: ` : '';
        faults.push(`${place}${message.messageId}: ${message.text}`);
      }
      message.handled = true;
    },
  });
  return faults;
}

/** The extractor brings a compiler of its own, which reads the declarations that our compiler wrote. */
function tsconfig(entry) {
  const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8'));
  const { rootDir, outDir, ...options } = compilerOptions;
  return { compilerOptions: { ...options, noEmit: true }, files: [join(root, entry)] };
}

function write() {
  const packages = Object.keys(entries).map((name) => {
    const model = JSON.parse(readFileSync(join(models, `${name}.api.json`), 'utf8'));
    const [entry] = model.members;
    return { name: `peer-trust-federation/${name}`, text: commentOf(model).summary, symbols: entry.members };
  });
  const anchors = anchorsOf(packages);
  const page = [
    '# Client reference',
    'Generated from the docstrings by `npm run docs:client`; change the docstrings, not this page. The guide is [CLIENT.md](CLIENT.md).',
    ...packages.flatMap(({ name, text, symbols }) => [
      `## ${name}`,
      linked(text, anchors),
      ...indexOf(symbols, anchors),
      ...symbols.flatMap((symbol) => sectionOf(symbol, anchors)),
    ]),
  ];
  writeFileSync(target, `${page.filter(Boolean).join('\n\n')}\n`);
  console.error(`wrote ${values.to}`);
}

/** The headings of the page by symbol. Members have no heading of their own. */
function anchorsOf(packages) {
  return new Map(packages.flatMap(({ symbols }) => symbols.map(({ name }) => [name, `#${name.toLowerCase()}`])));
}

/** One line of links for each kind of symbol. */
function indexOf(symbols, anchors) {
  const kinds = { Class: 'Classes', Function: 'Functions', Interface: 'Interfaces', TypeAlias: 'Types' };
  return Object.entries(kinds).flatMap(([kind, title]) => {
    const names = symbols.filter((symbol) => symbol.kind === kind).map(({ name }) => `[${name}](${anchors.get(name)})`);
    return names.length > 0 ? [`${title}: ${names.join(', ')}.`] : [];
  });
}

function sectionOf(symbol, anchors) {
  const members = (symbol.members ?? []).map((member) => lineOf(member, anchors));
  return [
    `### ${symbol.name}`,
    linked(commentOf(symbol).summary, anchors),
    `\`\`\`ts\n${signatureOf(symbol)}\n\`\`\``,
    parametersOf(symbol, anchors, ''),
    members.join('\n'),
  ];
}

function lineOf(member, anchors) {
  const text = linked(commentOf(member).summary, anchors);
  const parameters = parametersOf(member, anchors, '  ');
  const signature = signatureOf(member).replace(/\s+/g, ' ').replace(/;$/, '');
  return [`- \`\`${signature}\`\`${text === '' ? '' : `: ${text}`}`, parameters].filter(Boolean).join('\n');
}

function parametersOf(item, anchors, indent) {
  return commentOf(item)
    .parameters.map(([name, text]) => `${indent}- \`${name}\`: ${linked(text, anchors)}`)
    .join('\n');
}

/** The declaration without the keywords that every symbol has. */
function signatureOf({ excerptTokens }) {
  return excerptTokens
    .map(({ text }) => text)
    .join('')
    .trim()
    .replace(/^export (?:declare )?/, '');
}

/** The sentences of a docstring and what it says of each parameter. */
function commentOf({ docComment = '' }) {
  const plain = docComment.replace(/^\/\*\*|\*\/\s*$/g, '').replace(/^[ \t]*\* ?/gm, '');
  const [summary = '', ...blocks] = plain.split(/^@(?=\w)/m);
  const remarks = blocks.filter((block) => block.startsWith('remarks')).map((block) => block.slice('remarks'.length));
  const parameters = blocks.flatMap((block) => {
    const [, name, text = ''] = /^param (\w+) - ([\s\S]*)/.exec(block) ?? [];
    return name === undefined ? [] : [[name, flowed(text)]];
  });
  return { summary: flowed([summary, ...remarks].join('\n\n')), parameters };
}

/** Lines joined to paragraphs, since a docstring breaks them at its own margin. */
function flowed(text) {
  return text
    .trim()
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.replace(/\s+/g, ' ').trim())
    .join('\n\n');
}

/** `{@link Name}` and `{@link Name.member}` as links of the page. */
function linked(text, anchors) {
  return text.replace(/\{@link (\w+)((?:\.\w+)?)\}/g, (_, name, member) => {
    const anchor = anchors.get(name);
    return anchor === undefined ? `\`${name}${member}\`` : `[${name}${member}](${anchor})`;
  });
}
