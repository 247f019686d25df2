/** The access to a node's parts: modes of its files and its socket, addresses of its ports, headers of its answers. */
import { chmodSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ask } from '../http/exchange.js';
import { endAll, type NodeProcess, startProcess, temporaryFolder } from '../support/process.js';

let node: NodeProcess;
const dir = join(temporaryFolder(), 'data');

test.before(async () => {
  // As a careless operator left it.
  mkdirSync(dir);
  chmodSync(dir, 0o755);
  node = await startProcess({ DATA_DIR: dir, METRICS_PORT: '0', DASHBOARD_PORT: '0' });
});

test.after(async () => {
  await node.kill('SIGTERM');
  endAll();
  rmSync(join(dir, '..'), { recursive: true, force: true });
});

test('the data folder is open to its owner alone, and so is the operator socket in it', () => {
  assert.is(statSync(dir).mode & 0o777, 0o700);
  const socket = statSync(join(dir, 'operator.sock'));
  assert.ok(socket.isSocket());
  assert.is(socket.mode & 0o777, 0o600);
  assert.is(statSync(join(dir, 'group-salt')).mode & 0o777, 0o600);
});

test('no file of the data folder can be written by another user', () => {
  const all = readdirSync(dir, { recursive: true, withFileTypes: true });
  // The node writes meanwhile: a file may have got its last name since, and is nobody's to write under the one before.
  const modeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  const open = all.filter((entry) => modeOf(join(entry.parentPath, entry.name)) & 0o022);
  assert.equal(
    open.map(({ name }) => name),
    [],
  );
});

/** True if a process listens. */
function reaches(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const end = (reached: boolean): void => {
      socket.destroy();
      resolve(reached);
    };
    socket.setTimeout(10_000, () => end(false));
    socket.once('connect', () => end(true)).once('error', () => end(false));
  });
}

test('public port, metrics and dashboard listen on the loopback address unless configured otherwise', async () => {
  const line =
    node
      .output()
      .split('\n')
      .find((one) => one.includes('"msg":"listening"')) ?? '';
  const ports = [...line.matchAll(/"port":(\d+)/g)].map((one) => Number(one[1]));
  assert.is(ports.length, 3, line);
  const others = Object.values(networkInterfaces()).flatMap((all) =>
    (all ?? []).filter(({ internal, family }) => !internal && family === 'IPv4'),
  );
  if (others.length === 0) process.stdout.write('SKIPPED: this machine has the loopback address only\n');
  for (const port of ports) {
    assert.ok(await reaches('127.0.0.1', port));
    for (const { address } of others) assert.not(await reaches(address, port), `${address}:${port}`);
  }
});

test('nothing of the operator is on the public port', async () => {
  for (const path of [
    '/metrics',
    '/operator',
    '/dashboard',
    '/api/v1/operator',
    '/api/v1/peers/x',
    '/.env',
    '/operator.sock',
  ]) {
    assert.is((await ask(node.url, path)).status, 404, path);
  }
});

test('the pages run their own scripts only and stand in no frame', async () => {
  const { headers } = await ask(node.url, '/docs');
  const policy = headers['content-security-policy'] ?? '';
  for (const rule of [
    "default-src 'none'",
    "script-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ])
    assert.ok(policy.includes(rule), rule);
  assert.is(headers['x-frame-options'], 'DENY');
});

test('no answer allows another origin to read it', async () => {
  for (const path of ['/api/v1/health', '/api/v1/peers', '/docs']) {
    for (const method of ['GET', 'OPTIONS']) {
      const { headers } = await ask(node.url, path, { method, headers: { Origin: 'https://evil.example' } });
      assert.equal(
        Object.keys(headers).filter((name) => name.startsWith('access-control-')),
        [],
        `${method} ${path}`,
      );
    }
  }
});

test.run();
