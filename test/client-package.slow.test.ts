/**
 * The package `peer-trust-client` as a game server gets it: packed, installed into empty projects from its tarball and
 * the registry by npm, pnpm and yarn, and used there by ES modules, CommonJS and TypeScript against a real node.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startTestNode, type TestNode, type TestPeer } from '../src/testing/test-node.js';
import { execute, type Ran } from './support/child-process.js';
import { temporaryFolder } from './support/process.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const timeoutMs = 300_000;
const packagesMax = 15;
const bytesMax = 10 * 1000 * 1000;

function run(command: string, args: readonly string[], cwd: string, env: Record<string, string> = {}): Promise<Ran> {
  const all = { PATH: process.env.PATH, HOME: process.env.HOME, NO_COLOR: '1', ...env };
  return execute(command, args, { cwd, env: all, timeout: timeoutMs });
}

const node = (args: readonly string[], cwd: string, env = asPeer()): Promise<Ran> =>
  run(process.execPath, args, cwd, env);

let folder = '';
let packed = '';
let tarball = '';
let service: TestNode;
let peer: TestPeer;
let manifest: { readonly name: string; readonly version: string; readonly dependencies: Record<string, string> };

function asPeer(): Record<string, string> {
  const { peerId, apiKey } = peer;
  return { TRUST_URL: service.url, TRUST_PEER_ID: peerId, TRUST_API_KEY: apiKey, TRUST_GROUP_SALT: service.groupSalt };
}

function makeProject(name: string): string {
  const path = join(folder, name);
  mkdirSync(path);
  writeFileSync(join(path, 'package.json'), JSON.stringify({ name: 'game-server', version: '1.0.0', private: true }));
  return path;
}

/** Every file below a folder, links not followed. */
function filesBelow(path: string): string[] {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

test.before(async () => {
  folder = temporaryFolder();
  const { code, err } = await run(process.execPath, ['scripts/pack-client.mjs', '--to', folder], root);
  assert.is(code, 0, err);
  packed = join(folder, 'peer-trust-client');
  manifest = JSON.parse(readFileSync(join(packed, 'package.json'), 'utf8')) as typeof manifest;
  tarball = join(folder, `peer-trust-client-${manifest.version}.tgz`);
  service = await startTestNode();
  peer = (await service.seed({ bad: ['cheater'], good: ['angel'] }))[0]!;
});
test.after(() => service.close());

test('the package holds the client, the command and types, and nothing of the server', () => {
  const own =
    /^(?:cjs\/|dist\/)?(?:client|peer|player-ids)\/|^(?:cjs\/|dist\/)(?:node-version|require-node|terminal|ptf-peer)\.js$/;
  const top = ['LICENSE', 'README.md', 'bin/ptf-peer.mjs', 'cjs/package.json', 'package.json'];
  const entries = ['index.cjs', 'index.d.cts', 'index.d.ts', 'index.js'];
  const names = filesBelow(packed).map((path) => path.slice(packed.length + 1));
  assert.equal(
    names.filter((name) => !own.test(name) && ![...top, ...entries].includes(name)),
    [],
  );
  for (const wanted of entries) assert.ok(names.includes(wanted), wanted);
});

test('the manifest has the version and the dependencies of the repository, and no script', () => {
  const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as typeof manifest;
  assert.is(manifest.version, own.version);
  for (const [name, version] of Object.entries(manifest.dependencies)) assert.is(version, own.dependencies[name], name);
  for (const name of ['lmdb', 'koa', 'piscina']) assert.is(manifest.dependencies[name], undefined);
  assert.not('scripts' in manifest);
});

test('publint and arethetypeswrong report nothing', async () => {
  const publint = await run('npx', ['--no-install', 'publint', packed, '--strict'], root);
  assert.is(publint.code, 0, publint.out + publint.err);
  assert.match(publint.out, 'All good!');
  const attw = await run('npx', ['--no-install', 'attw', tarball], root);
  assert.is(attw.code, 0, attw.out + attw.err);
  assert.match(attw.out, 'No problems found');
});

const esm = `
import { EventSpool, TrustClient, TrustError } from 'peer-trust-client';
import { createRequire } from 'node:module';
const { TRUST_URL: url, TRUST_PEER_ID: peerId, TRUST_API_KEY: apiKey, TRUST_GROUP_SALT: groupSalt } = process.env;
const client = new TrustClient({ url, peerId, apiKey, groupSalt, readBudgetMs: 10_000 });
const { verdict } = await client.score('cheater');
const spool = await EventSpool.open({ folder: './spool', to: client });
await spool.add({ eventType: 'commendation', playerId: 'angel', gameId: 'arena', severity: 1 });
await spool.drained();
const { delivered } = spool.progress;
await spool.close();
await client.close();
const error = await client.submit({}).catch((one) => one);
const same = createRequire(import.meta.url)('peer-trust-client').TrustError === TrustError;
console.log(JSON.stringify({ verdict, delivered, isTrustError: error instanceof TrustError, same }));
`;

const cjs = `
const { TrustClient, subjectHash } = require('peer-trust-client');
const { TRUST_URL: url, TRUST_PEER_ID: peerId, TRUST_API_KEY: apiKey, TRUST_GROUP_SALT: groupSalt } = process.env;
(async () => {
  const client = new TrustClient({ url, peerId, apiKey, groupSalt, readBudgetMs: 10_000 });
  const feed = client.follow();
  await feed.live();
  const { verdict, source } = await client.score('cheater');
  const { status: outcome } = await client.submit({ eventType: 'session_clean', playerId: 'angel', gameId: 'arena', severity: 1 });
  feed.close();
  await client.close();
  console.log(JSON.stringify({ verdict, source, outcome, hash: subjectHash('a', 'b'.repeat(16)).length }));
})();
`;

const typed = `
import { AllowList, EventSpool, TrustClient, TrustError, TrustPolicy, type TrustEvent, type Verdict } from 'peer-trust-client';
export const event: TrustEvent = { eventType: 'report_cheating', playerId: 'p', gameId: 'arena', severity: 1 };
export async function decide(client: TrustClient): Promise<'in' | 'out'> {
  const spool = await EventSpool.open({ folder: '/tmp/x', to: client, whenFull: 'wait' });
  await spool.add(event);
  const policy = new TrustPolicy<'in' | 'out'>({ mode: 'shadow', pass: 'in', rule: () => 'out', allowList: new AllowList() });
  return policy.decide(await client.score('p', { budgetMs: 5 })).action;
}
export const isBusy = (error: unknown): boolean => error instanceof TrustError && error.code === 'overloaded';
export const verdict: Verdict = 'untrusted';
// @ts-expect-error no such event type
export const wrong: TrustEvent = { ...event, eventType: 'report_cheeting' };
// @ts-expect-error no such verdict
export const odd: Verdict = 'banned';
`;

/** Runs the ES module, the CommonJS and the TypeScript consumer in a project that has the package. */
async function useIn(project: string): Promise<void> {
  writeFileSync(join(project, 'esm.mjs'), esm);
  writeFileSync(join(project, 'cjs.cjs'), cjs);
  const module = await node(['esm.mjs'], project);
  assert.is(module.err, '');
  assert.equal(JSON.parse(module.out), { verdict: 'untrusted', delivered: 1, isTrustError: true, same: true });
  const common = await node(['cjs.cjs'], project);
  assert.is(common.err, '');
  assert.equal(JSON.parse(common.out), { verdict: 'untrusted', source: 'cache', outcome: 'accepted', hash: 64 });

  for (const [name, target] of [
    ['@types/node', join(root, 'node_modules/@types/node')],
    ['undici-types', join(root, 'node_modules/undici-types')],
  ] as const) {
    mkdirSync(dirname(join(project, 'node_modules', name)), { recursive: true });
    symlinkSync(target, join(project, 'node_modules', name));
  }
  for (const name of ['module.mts', 'common.cts']) writeFileSync(join(project, name), typed);
  const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--skipLibCheck', 'false'];
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  for (const moduleKind of ['node16', 'nodenext']) {
    const form = ['--module', moduleKind, '--target', 'es2023', '--types', 'node', '--noEmit'];
    const compiled = await node([compiler, ...strict, ...form, 'module.mts', 'common.cts'], project);
    assert.is(compiled.out, '', moduleKind);
    assert.is(compiled.code, 0);
  }
}

/** Folders of installed packages, wherever a package manager puts them, each once. */
function packagesIn(project: string): string[] {
  const names = filesBelow(join(project, 'node_modules'))
    .map((path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/.][^/]*)\/package\.json$/.exec(path)?.[1])
    .filter((path) => path !== undefined);
  return [...new Set(names)];
}

function checkSize(project: string): void {
  const files = filesBelow(join(project, 'node_modules'));
  const bytes = files.reduce((sum, path) => sum + statSync(path).size, 0);
  const packages = packagesIn(project);
  const name = project.slice(folder.length + 1);
  process.stdout.write(`\nNOTE: ${name}: ${packages.length} packages, ${(bytes / 1e6).toFixed(1)} MB\n`);
  assert.ok(packages.length >= 1 + Object.keys(manifest.dependencies).length, packages.join(' '));
  assert.ok(packages.length <= packagesMax, packages.join(' '));
  assert.ok(bytes <= bytesMax, `${bytes} bytes`);
  const native = files.filter(
    (path) => /\.node$|binding\.gyp$|\.wasm$/.test(path) && !/\/(?:undici|node-sqlite3-wasm)\/.*\.wasm$/.test(path),
  );
  assert.equal(native, []);
  for (const path of packages) {
    const { scripts = {} } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as { scripts?: object };
    for (const script of ['preinstall', 'install', 'postinstall']) assert.not(script in scripts, `${path} ${script}`);
  }
}

const quiet = { npm_config_audit: 'false', npm_config_fund: 'false', npm_config_update_notifier: 'false' };
const isOnline = (await run('npm', ['ping', '--fetch-retries=0', '--fetch-timeout=15000'], root)).code === 0;

if (!isOnline) process.stdout.write('SKIPPED: the npm registry cannot be reached\n');
for (const [manager, version, args] of isOnline
  ? ([
      ['npm', null, ['install']],
      ['pnpm', '10.34.8', ['add', '--store-dir', 'STORE']],
      ['yarn', '1.22.22', ['add', '--non-interactive', '--cache-folder', 'STORE']],
    ] as const)
  : []) {
  test(`${manager} installs it into an empty project, small, and all three kinds of consumer work`, async () => {
    const project = makeProject(`with-${manager}`);
    const tools = makeProject(`${manager}-tools`);
    if (version !== null) {
      const got = await run('npm', ['install', `${manager}@${version}`], tools, quiet);
      assert.is(got.code, 0, got.err);
    }
    const command = version === null ? manager : join(tools, 'node_modules/.bin', manager);
    const [verb, ...options] = args.map((arg) => (arg === 'STORE' ? join(folder, `${manager}-store`) : arg));
    const { code, out, err } = await run(command, [verb!, tarball, ...options], project, quiet);
    assert.is(code, 0, out + err);
    checkSize(project);
    await useIn(project);
  });
}

/** A project with a copy of the package and links to the packages that it needs. */
function linkedProject(name: string): string {
  const project = makeProject(name);
  const modules = join(project, 'node_modules');
  cpSync(packed, join(modules, 'peer-trust-client'), { recursive: true });
  for (const one of Object.keys(manifest.dependencies)) {
    mkdirSync(dirname(join(modules, one)), { recursive: true });
    symlinkSync(join(root, 'node_modules', one), join(modules, one));
  }
  return project;
}

const { NODE_18, NODE_20_19 } = process.env;

/** Loads the package by require and by import with a Node. */
async function loadedBy(node: string, name: string): Promise<Ran[]> {
  const project = linkedProject(name);
  const scripts = [
    ['-e', "require('peer-trust-client'); console.log('loaded')"],
    ['--input-type=module', '-e', "import 'peer-trust-client'; console.log('loaded')"],
  ];
  return Promise.all(scripts.map((script) => run(node, script, project)));
}

if (NODE_20_19 === undefined) process.stdout.write('SKIPPED: no Node 20.19.0 is at hand (NODE_20_19)\n');
else {
  test('the oldest Node that it supports loads it by require and by import, without a warning', async () => {
    const loaded = { code: 0, out: 'loaded\n', err: '' };
    assert.equal(await loadedBy(NODE_20_19, 'oldest'), [loaded, loaded]);
  });
}
if (NODE_18 === undefined) process.stdout.write('SKIPPED: no Node 18 is at hand (NODE_18)\n');
else {
  test('an older Node is refused with one sentence', async () => {
    for (const { code, err } of await loadedBy(NODE_18, 'older')) {
      assert.is(code, 1);
      assert.match(err, /^Error: the peer trust client needs Node 20\.19 or later; this is 18\.[\d.]+$/m);
    }
  });
}

test.run();
