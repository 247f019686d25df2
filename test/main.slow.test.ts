/**
 * The process from outside: exit codes, faults on standard error, signals. Runs `dist/main.js` as an operator would.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Running, watched } from './support/child-process.js';
import { closing } from './support/closing.js';
import { temporaryFolder } from './support/process.js';

const entry = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

interface Started extends Running {
  /** Resolves once the output holds `text`; rejects where the process ends before. */
  said(text: string): Promise<void>;
}

let folder = '';
test.before.each(() => {
  folder = temporaryFolder();
});

/** Starts the node in a folder of its own, with no more of this process's environment than it needs. */
function start(env: Readonly<Record<string, string>>): Started {
  const child = spawn(process.execPath, [entry], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const running = watched(child);
  const said = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (running.out().includes(text)) resolve();
      };
      child.stdout.on('data', look);
      void running.ended.then(({ out, err }) => reject(new Error(`ended without "${text}":\n${out}${err}`)));
      look();
    });
  return { ...running, said };
}

const local = { PORT: '0', DATA_DIR: 'data' };

test('a start with too few open files names the limit, before anything else fails for it', async () => {
  const shell = spawn('sh', ['-c', `ulimit -n 64 && exec "${process.execPath}" "${entry}"`], {
    cwd: folder,
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const { code, err } = await watched(shell).ended;
  if (process.platform !== 'linux') return;
  assert.is(code, 2, err);
  assert.match(err, /^peer-trust-federation needs at least \d+ open files; this process may have 64: .*ulimit -n.*\n$/);
});

test('every error of the configuration has its own line on standard error, and the exit code is 2', async () => {
  const node = start({ ...local, PORT: 'x', HALF_LIFE_DAYS: '-1', GROUP_SALT: 'hunter2' });
  assert.is((await node.ended).code, 2);
  const variables = node
    .err()
    .trim()
    .split('\n')
    .map((line) => line.split(':')[0]);
  assert.equal(variables.sort(), ['GROUP_SALT', 'HALF_LIFE_DAYS', 'PORT']);
  assert.not.match(node.err(), 'hunter2');
  assert.is(node.out(), '');
});

test('the .env file of the working folder counts', async () => {
  writeFileSync(join(folder, '.env'), 'LOG_LEVEL=loud\n');
  const node = start(local);
  assert.is((await node.ended).code, 2);
  assert.match(node.err(), /^LOG_LEVEL: /m);
});

test('a .env that cannot be read is an error', async () => {
  mkdirSync(join(folder, '.env'));
  const node = start(local);
  assert.is((await node.ended).code, 2);
  assert.match(node.err(), /^\.env: /m);
});

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`${signal} stops the node with exit code 0, and the last line says so`, async () => {
    const node = start({ ...local, PEER_AUTH_ENABLED: 'false' });
    await node.said('listening');
    node.child.kill(signal);
    assert.is((await node.ended).code, 0, node.out() + node.err());
    const lines = node
      .out()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.is(lines.at(0)?.msg, 'starting');
    assert.is(lines.at(-1)?.msg, 'stopped');
    const { host, port, docs, data_dir: dir } = lines.find(({ msg }) => msg === 'listening');
    assert.equal([docs, dir], [`http://${host}:${port}/docs`, join(folder, 'data')]);
    assert.ok(lines.some(({ level, variable }) => level === 'warn' && variable === 'PEER_AUTH_ENABLED'));
  });
}

test('a signal stops a node whose only log line so far is that it starts', async () => {
  const node = start(local);
  await node.said('starting');
  node.child.kill('SIGTERM');
  assert.is((await node.ended).code, 0, node.out() + node.err());
});

test('a refused start logs one fatal line without a stack and exits with 1', async () => {
  const first = start({ ...local, GROUP_ID: 'one', LOG_LEVEL: 'info' });
  await first.said('listening');
  first.child.kill('SIGTERM');
  assert.is((await first.ended).code, 0);
  const second = start({ ...local, GROUP_ID: 'another' });
  assert.is((await second.ended).code, 1);
  const fatal = second
    .out()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ level }) => level === 'fatal');
  assert.is(fatal.length, 1);
  assert.is(fatal[0].err, undefined);
  assert.match(fatal[0].msg, /group.?id/i);
});

test('a node without a cluster refuses to start on the folder of a node of a cluster', async () => {
  const first = start(local);
  await first.said('listening');
  first.child.kill('SIGTERM');
  assert.is((await first.ended).code, 0);
  writeFileSync(join(folder, 'data', 'cluster.json'), '{"cluster_id":"c","node_id":"node-2"}\n');
  const before = readdirSync(join(folder, 'data')).sort();
  const second = start({ ...local, CLUSTER: 'none' });
  assert.is((await second.ended).code, 1);
  const [last] = second.out().trim().split('\n').slice(-1);
  const { level, msg } = JSON.parse(last ?? '');
  assert.is(level, 'fatal');
  assert.match(
    msg,
    /^DATA_DIR: .* belongs to node node-2 of the cluster c, and CLUSTER is none; set CLUSTER=etcd, or /,
  );
  assert.equal(readdirSync(join(folder, 'data')).sort(), before);
});

test('an unknown host name to listen on refuses the start', async () => {
  const node = start({ ...local, HOST: 'no-such-host.invalid' });
  assert.is((await node.ended).code, 1);
  const [last] = node.out().trim().split('\n').slice(-1);
  assert.match(JSON.parse(last ?? '').msg, /^HOST: this machine has no such address \(\w+\)$/);
});

test('a port that is taken is one line without a stack, which names the variable', async () => {
  await using taken = closing(createServer().listen(0, '127.0.0.1'));
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  for (const name of ['PORT', 'METRICS_PORT', 'DASHBOARD_PORT']) {
    const node = start({ ...local, LOG_LEVEL: 'error', PORT: '0', [name]: String(port) });
    assert.is((await node.ended).code, 1);
    const lines = node.out().trim().split('\n');
    assert.is(lines.length, 1, node.out());
    const { msg, err } = JSON.parse(lines[0]!);
    assert.is(err, undefined);
    assert.is(
      msg,
      `${name}: port ${port} of 127.0.0.1 is in use by another process; stop it, or set ${name} to another port`,
    );
    assert.is(node.err(), '');
  }
});

test('a folder that cannot be made is one line without a stack', async () => {
  writeFileSync(join(folder, 'file'), '');
  const node = start({ ...local, LOG_LEVEL: 'error', DATA_DIR: join(folder, 'file', 'data') });
  assert.is((await node.ended).code, 1);
  const { msg, err } = JSON.parse(node.out().trim());
  assert.is(err, undefined);
  assert.match(msg, /^DATA_DIR: \S+ cannot be used: a part of its path is a file; set another folder$/);
});

test.run();
