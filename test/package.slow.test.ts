/**
 * The package as a game server gets it: packed, unpacked in an empty project elsewhere, its types checked by a strict
 * project, its examples run from there against a real node. The dependencies are links to those of this repository, so
 * nothing is downloaded.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startTestNode, type TestNode, type TestPeer } from '../src/testing/test-node.js';
import { execute, type Ran, watched } from './support/child-process.js';
import { temporaryFolder } from './support/process.js';
import { until } from './support/until.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const timeoutMs = 120_000;

let folder = '';
let project = '';
let node: TestNode;
let peer: TestPeer;
const children = new Set<ChildProcess>();

function run(command: string, args: readonly string[], cwd: string, env: Record<string, string> = {}): Promise<Ran> {
  const all = { PATH: process.env.PATH, HOME: process.env.HOME, ...env };
  return execute(command, args, { cwd, env: all, timeout: timeoutMs });
}

/** A project with the packed package and links to these of its dependencies. */
function makeProject(name: string, packed: string, dependencies: readonly string[]): string {
  const path = join(folder, name);
  cpSync(packed, join(path, 'node_modules', 'peer-trust-federation'), { recursive: true });
  for (const dependency of dependencies) {
    const link = join(path, 'node_modules', dependency);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(root, 'node_modules', dependency), link);
  }
  writeFileSync(join(path, 'package.json'), JSON.stringify({ name, private: true, type: 'module' }));
  return path;
}

function asPeer(): Record<string, string> {
  const { peerId, apiKey } = peer;
  return { TRUST_URL: node.url, TRUST_PEER_ID: peerId, TRUST_API_KEY: apiKey, TRUST_GROUP_SALT: node.groupSalt };
}

/** The severities of the peer's events about a player. */
async function severitiesOf(playerId: string): Promise<number[]> {
  const headers = { 'X-Peer-API-Key': peer.apiKey };
  const answer = await fetch(`${node.url}/api/v1/players/${playerId}/events`, { headers });
  const { data } = (await answer.json()) as { data: { severity: number }[] };
  return data.map(({ severity }) => severity);
}

let manifest: { readonly version: string; readonly dependencies: Readonly<Record<string, string>> };
let packed = '';

test.before(async () => {
  folder = temporaryFolder();
  const { code, out, err } = await run(
    'npm',
    ['pack', '--json', '--ignore-scripts', '--pack-destination', folder],
    root,
  );
  assert.is(code, 0, err);
  const [{ filename }] = JSON.parse(out) as [{ filename: string }];
  assert.is((await run('tar', ['-xzf', filename], folder)).code, 0);
  packed = join(folder, 'package');
  manifest = JSON.parse(readFileSync(join(packed, 'package.json'), 'utf8')) as typeof manifest;
  const ofExamples = ['@types/node', 'cli-progress', '@types/cli-progress'];
  project = makeProject('game', packed, [...Object.keys(manifest.dependencies), ...ofExamples]);
  cpSync(join(packed, 'examples'), join(project, 'examples'), { recursive: true });
  node = await startTestNode();
  peer = (await node.seed({ bad: ['cheater'], good: ['angel'] }))[0]!;
});
test.after(async () => {
  for (const child of children) child.kill('SIGKILL');
  await node.close();
});

test('the package contains the listed files, and neither sources nor tests nor secrets', () => {
  const paths = readdirSync(packed, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(packed.length + 1));
  for (const wanted of [
    'dist/client/entry.js',
    'dist/client/entry.d.ts',
    'dist/testing/test-node.js',
    'examples/quick-start.sh',
    'README.md',
    'LICENSE',
  ]) {
    assert.ok(paths.includes(wanted), wanted);
  }
  const odd = paths.filter((path) => /^(?:src|test|bench|snapshots)\/|\.env$|\.log$/.test(path));
  assert.equal(odd, []);
});

test('no file of the package points to one that is not in it', () => {
  const names = readdirSync(join(packed, 'dist'), { recursive: true, encoding: 'utf8' });
  // A source map would name the sources, which stay in the repository; what the compiler writes is readable as it is.
  assert.equal(
    names.filter((name) => name.endsWith('.map')),
    [],
  );
  for (const name of names.filter((one) => one.endsWith('.js'))) {
    assert.not.match(readFileSync(join(packed, 'dist', name), 'utf8'), 'sourceMappingURL', name);
  }
});

test('the client loads with its four dependencies alone: nothing native, nothing of the service', async () => {
  const bare = makeProject('bare', packed, ['undici', 'eventsource-parser', 'steamid', 'http-message-signatures']);
  const script = "import * as all from 'peer-trust-federation/client'; console.log(Object.keys(all).sort().join());";
  const { code, out, err } = await run(process.execPath, ['--input-type=module', '-e', script], bare);
  assert.is(code, 0, err);
  assert.match(out, 'TrustClient');
  const service = await run(
    process.execPath,
    ['--input-type=module', '-e', "import 'peer-trust-federation/dist/node/node.js';"],
    bare,
  );
  assert.match(service.err, 'ERR_PACKAGE_PATH_NOT_EXPORTED');
});

test('a strict TypeScript project accepts the types and examples, and detects its own errors', async () => {
  const compilerOptions = {
    module: 'NodeNext',
    target: 'ES2023',
    lib: ['ES2023'],
    types: ['node'],
    noEmit: true,
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    noImplicitOverride: true,
    skipLibCheck: false,
    allowJs: true,
    checkJs: true,
  };
  writeFileSync(
    join(project, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, include: ['*.ts', 'examples/*.mjs'] }),
  );
  const text = `
    import { AllowList, EventSpool, TrustClient, TrustError, TrustPolicy } from 'peer-trust-federation/client';
    import { startTestNode } from 'peer-trust-federation/testing';
    export async function all(): Promise<string> {
      const node = await startTestNode();
      const client: TrustClient = node.client(await node.register());
      const spool = await EventSpool.open({ folder: '/tmp/x', to: client, whenFull: 'wait' });
      await spool.add({ eventType: 'commendation', playerId: 'p', gameId: 'arena', severity: 1, at: new Date() });
      const policy = new TrustPolicy<'in' | 'out'>({ mode: 'shadow', pass: 'in', rule: () => 'out', allowList: new AllowList() });
      try {
        return policy.decide(await client.score('p', { budgetMs: 5 })).action;
      } catch (error) {
        return error instanceof TrustError && error.code === 'overloaded' ? 'later' : 'never';
      }
    }
    const anywhere = new TrustClient({ url: 'http://node' });
    // @ts-expect-error no such event type
    void anywhere.submit({ eventType: 'report_cheeting', playerId: 'p', gameId: 'arena', severity: 1 });
    // @ts-expect-error no list of ids
    void anywhere.scores('p');
  `;
  writeFileSync(join(project, 'game.ts'), text);
  const clean = await run(process.execPath, [compiler, '-p', '.'], project);
  assert.is(clean.out, '');
  assert.is(clean.code, 0);
});

/** Starts the example of a match server; resolves once it listens. */
async function matchServer(env: Record<string, string>) {
  const child = spawn(process.execPath, ['examples/match-server.mjs'], {
    cwd: project,
    env: { ...env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.add(child);
  child.once('close', () => children.delete(child));
  const running = watched(child);
  await until(() => running.out().includes('http:') || child.exitCode !== null);
  const url = /http:\S+/.exec(running.out())?.[0];
  if (url === undefined) throw new Error(running.err());
  // biome-ignore lint/suspicious/noExplicitAny: the members are what the tests look at
  const post = async (path: string, body: unknown): Promise<any> =>
    (await fetch(url + path, { method: 'POST', body: JSON.stringify(body) })).json();
  return { ...running, post };
}

test('the example of a match server reads at match start, reports at its end, once, and stops cleanly', async () => {
  const { child, err, ended, post } = await matchServer(asPeer());
  // An earlier request waits 100 ms for the node, which is short for a process that starts on a busy machine.
  await until(() => /trust stream: live/.test(err()));
  const match = await post('/matches', { players: ['cheater', 'angel', 'fresh'] });
  assert.equal(
    match.players.map(({ player, lobby, would, verdict }: Record<string, string>) => [player, lobby, would, verdict]),
    [
      ['cheater', 'open', 'supervised', 'untrusted'],
      ['angel', 'open', 'open', 'trusted'],
      ['fresh', 'open', 'open', 'neutral'],
    ],
  );
  const reports = [
    { player: 'fresh', kind: 'report_cheating', severity: 0.7 },
    { player: 'somebody else', kind: 'report_cheating', severity: 0.7 },
  ];
  assert.equal(await post(`/matches/${match.match_id}/end`, { reports }), { reported: 1 });
  child.kill('SIGTERM');
  assert.is((await ended).code, 0, err());
  // Every report is in the folder or on the node: a spool on the same folder sends the rest.
  const { EventSpool } = await import('../src/client/write/spool/event-spool.js');
  const spool = await EventSpool.open({ folder: join(project, 'trust-spool'), to: node.client(peer) });
  await spool.drained();
  await spool.close();
  assert.is((await node.client(peer).explain('fresh'))?.event_count, 1);
});

/** Runs the example of an import in the project, on a list of this text if there is one. */
function importing(args: readonly string[], text: string | null = null, env = asPeer()): Promise<Ran> {
  if (text !== null) writeFileSync(join(project, args[0]!), text);
  return run(process.execPath, ['examples/import-bans.mjs', ...args], project, env);
}

/** The last line of an import. */
const summary = (imported: number, known: number, unreadable: number) =>
  `${imported} imported, ${known} known already, 0 rejected, ${unreadable} unreadable\n`;

const lists = {
  'bans.csv':
    'player_id,banned_at,severity\nbanned-1,2026-01-02T03:04:05Z,0.9\n"banned,2",2026-01-02,\n\nbanned-3,,\n,2026-01-02,1\n',
  'bans.ndjson':
    '{"player_id":"nd-1","banned_at":"2026-01-02T03:04:05Z"}\nno json\n{"player_id":"nd-2","severity":0.5}\n{"player_id":"nd-3"}\n',
};
for (const [name, text] of Object.entries(lists)) {
  test(`the example of an import sends a list once (${name}), and reports unreadable lines`, async () => {
    const first = await importing([name], text);
    assert.equal([first.code, first.out], [1, summary(3, 0, 1)], first.err);
    assert.is((await importing([name])).out, summary(0, 3, 1));
  });
}

test('an import reads thousands of rows, and columns in any order, with an empty cell in front', async () => {
  const rows = Array.from({ length: 2_343 }, (_, index) => `,many-${index},\n`);
  const text = `banned_at,player_id,severity\n,order-1,0.7\n,"order,2",\n${rows.join('')}`;
  const { code, out, err } = await importing(['many.csv'], text);
  assert.equal([code, out], [0, summary(2_345, 0, 0)], err);
  for (const id of ['order-1', 'order,2', 'many-2342']) assert.is((await severitiesOf(id)).length, 1, id);
});

test('an import gives a ban the severity of its length, or 1, under an id that does not depend on the time left', async () => {
  const whole = await importing(['whole.ndjson'], '{"player_id":"whole-1","severity":null,"banned_at":null}\n');
  assert.is(whole.out, summary(1, 0, 0), whole.err);
  const now = Date.now();
  const at = (days: number) => new Date(now + days * 86_400_000).toISOString();
  const rows = [
    `timed-1,${at(-1)},${at(14)}`,
    `timed-2,,${at(60)}`,
    `timed-3,${at(-1)},${at(0.5)}`,
    `over-1,,${at(-1)}`,
  ];
  const first = await importing(['timed.csv'], `player_id,banned_at,expires_at\n${rows.join('\n')}\n`);
  assert.is(first.out, summary(3, 0, 1), first.err);
  assert.match(first.err, /^timed\.csv:5: the ban has ended$/m);
  for (const [player, severity] of Object.entries({ 'whole-1': 1, 'timed-1': 0.5, 'timed-2': 1, 'timed-3': 0.2 })) {
    assert.equal(await severitiesOf(player), [severity], player);
  }
  assert.is((await importing(['timed.csv'])).out, summary(0, 3, 1));
});

test('an import names the line and the reason of every row that it does not read', async () => {
  const text =
    'player_id,banned_at,severity,note\nok-1,,,\n,,,\nok-2,,,"two\nlines"\nbad-1,tomorrow,,\nbad-2,,7,\nbad\u200b3,,,\nok-3,,,\n';
  const { out, err, code } = await importing(['faults.csv'], text);
  assert.equal([code, out], [1, summary(3, 0, 4)], err);
  assert.match(err, /^faults\.csv:3: player_id is missing$/m);
  assert.match(err, /^faults\.csv:6: banned_at is not a date$/m);
  assert.match(err, /^faults\.csv:7: severity must be a number from 0 to 1$/m);
  assert.match(err, /^faults\.csv:8: a player id must not contain a control or an invisible character$/m);
});

test('an import of a file whose first row names no columns loses no row: it asks for --columns', async () => {
  const refused = await importing(['headless.csv'], 'headless-1,2026-01-02\nheadless-2,2026-01-03\n');
  assert.is(refused.code, 2);
  assert.match(refused.err, /headless\.csv:1: the first row must name the columns.*--columns player_id/);
  assert.is((await importing(['headless.csv', '--columns', 'player_id,banned_at'])).out, summary(2, 0, 0));
});

test('an error that prevents an import is one line, never a stack trace', async () => {
  writeFileSync(join(project, 'one.csv'), 'player_id\none-1\n');
  const given = asPeer();
  for (const [what, args, env, code, text] of [
    ['no file', [], given, 2, /^usage: /m],
    ['an unknown option', ['one.csv', '--gane', 'x'], given, 2, /^usage: /m],
    ['a file that is not there', ['absent.csv'], given, 2, /ENOENT.*absent\.csv/],
    ['a file that cannot be read', ['examples'], given, 2, /EISDIR/],
    ['no key', ['one.csv'], { ...given, TRUST_API_KEY: '' }, 2, /^TRUST_API_KEY must be set/m],
    ['a wrong key', ['one.csv'], { ...given, TRUST_API_KEY: 'ptf_dev_wrong' }, 3, /invalid_api_key: invalid api key/],
    ['a wrong salt', ['one.csv'], { ...given, TRUST_GROUP_SALT: 'another salt of 16' }, 3, /salt_mismatch: /],
  ] as const) {
    const ran = await importing(args, null, env);
    assert.is(ran.code, code, `${what}: ${ran.err}`);
    assert.match(ran.err, text, what);
    assert.not.match(ran.err, /\n\s+at /, what);
  }
});

test('a match server with a wrong key or salt reports it once and continues to serve matches', async () => {
  const given = asPeer();
  for (const [env, code] of [
    [{ ...given, TRUST_API_KEY: 'ptf_dev_wrong' }, 'invalid_api_key'],
    [{ ...given, TRUST_GROUP_SALT: 'another salt of 16' }, 'salt_mismatch'],
  ] as const) {
    const { child, err, ended, post } = await matchServer({ ...env, SPOOL_DIR: join(project, `spool-${code}`) });
    await until(() => err().includes(`trust stream: refused, ${code}: `));
    const match = await post('/matches', { players: ['cheater'] });
    assert.is(match.players[0]?.lobby, 'open');
    const reports = [{ player: 'cheater', kind: 'report_cheating', severity: 0.7 }];
    await post(`/matches/${match.match_id}/end`, { reports });
    await until(() => err().includes(`trust spool: refused, 1 events wait, ${code}: `));
    child.kill('SIGTERM');
    await ended;
    assert.is(err().match(/trust stream: refused/g)?.length, 1, err());
    assert.is(err().match(/trust spool: refused/g)?.length, 1, err());
  }
});

const quickStart = (BASE: string) => run('bash', ['examples/quick-start.sh'], project, { BASE });

test('the quick start in the shell runs as it stands, and leaves its player neutral however often it runs', async () => {
  const { code, out, err } = await quickStart(node.url);
  assert.is(code, 0, err + out);
  assert.match(out, '"status":"accepted"');
  assert.match(out, /^409$/m);
  // With so few peers the score is whole, and may still be 50.
  assert.match(out, /"confidence":0\.(?:[1-9]|05)/, 'the report counts');
  assert.match(out, '"explain":');
  assert.match(out, '"code":"player_not_found"');
  for (let time = 0; time < 3; time++) assert.match((await quickStart(node.url)).out, '"verdict":"neutral"');
});

test('the quick start reports in words that no node answers', async () => {
  const { code, err } = await quickStart('http://127.0.0.1:9');
  assert.is(code, 3);
  assert.match(err, /^No node answers at http:\/\/127\.0\.0\.1:9\. Start one with 'npm start'/);
});

test.run();
