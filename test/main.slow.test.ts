/**
 * The process from outside: exit codes, faults on standard error, signals. Runs `dist/main.js` as an operator would.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Running, watched } from './support/child-process.js';
import { closing } from './support/closing.js';
import { temporaryFolder } from './support/process.js';
import { until } from './support/until.js';

const entry = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

let folder = '';
test.before.each(() => {
  folder = temporaryFolder();
});

/** Starts the node in a folder of its own, with no more of this process's environment than it needs. */
function start(env: Readonly<Record<string, string>> = {}, command: readonly string[] = [process.execPath, entry]) {
  const [file = '', ...args] = command;
  const all = { PATH: process.env.PATH, PORT: '0', DATA_DIR: 'data', ...env };
  return watched(spawn(file, args, { cwd: folder, env: all, stdio: ['ignore', 'pipe', 'pipe'] }));
}

const said = ({ out, child }: Running, text: string) => until(() => out().includes(text) || child.exitCode !== null);

const linesOf = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

test('a start that its environment refuses says why on standard error, and exits with 2', async () => {
  const dotenv = join(folder, '.env');
  writeFileSync(dotenv, 'LOG_LEVEL=loud\n');
  const fromFile = await start().ended;
  assert.equal([fromFile.code, fromFile.out], [2, '']);
  assert.match(fromFile.err, /^LOG_LEVEL: .*\n$/);
  rmSync(dotenv);
  mkdirSync(dotenv);
  const unreadable = await start().ended;
  assert.is(unreadable.code, 2);
  assert.match(unreadable.err, /^\.env: /m);
  if (process.platform !== 'linux') return;
  const limited = await start({}, ['sh', '-c', `ulimit -n 64 && exec "${process.execPath}" "${entry}"`]).ended;
  assert.is(limited.code, 2);
  const needs = /^peer-trust-federation needs at least \d+ open files; this process may have 64: .*ulimit -n.*\n$/;
  assert.match(limited.err, needs, 'before anything else fails for it');
});

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`${signal} stops the node with exit code 0, and the last line says so`, async () => {
    const node = start({ PEER_AUTH_ENABLED: 'false' });
    await said(node, 'listening');
    node.child.kill(signal);
    const { code, out, err } = await node.ended;
    assert.is(code, 0, out + err);
    const lines = linesOf(out);
    assert.equal([lines[0].msg, lines.at(-1).msg], ['starting', 'stopped']);
    const { host, port, docs, data_dir: dir } = lines.find(({ msg }) => msg === 'listening');
    assert.equal([docs, dir], [`http://${host}:${port}/docs`, join(folder, 'data')]);
    assert.ok(lines.some(({ level, variable }) => level === 'warn' && variable === 'PEER_AUTH_ENABLED'));
  });
}

test('a signal stops a node whose only log line so far is that it starts', async () => {
  const node = start();
  await said(node, 'starting');
  node.child.kill('SIGTERM');
  const { code, out, err } = await node.ended;
  assert.is(code, 0, out + err);
});

test('a refused start is one line without a stack, which names the variable, and exits with 1', async () => {
  await using taken = closing(createServer().listen(0, '127.0.0.1'));
  await once(taken, 'listening');
  const port = String((taken.address() as AddressInfo).port);
  const inUse = `: port ${port} of 127.0.0.1 is in use by another process; stop it, or set `;
  mkdirSync(join(folder, 'marked'));
  writeFileSync(join(folder, 'marked', 'cluster.json'), '{"cluster_id":"c","node_id":"node-2"}\n');
  const belongs = ' belongs to node node-2 of the cluster c, and CLUSTER is none; set CLUSTER=etcd, or ';
  for (const [variable, value, text] of [
    ['PORT', port, `${inUse}PORT to another port`],
    ['METRICS_PORT', port, `${inUse}METRICS_PORT to another port`],
    ['DASHBOARD_PORT', port, `${inUse}DASHBOARD_PORT to another port`],
    ['HOST', 'no-such-host.invalid', ': this machine has no such address ('],
    ['DATA_DIR', entry, ' cannot be used: a part of its path is a file; set another folder'],
    ['DATA_DIR', 'marked', belongs],
    ['PRE_TRUSTED_PEERS', 'nobody', ': '],
  ] as const) {
    const { code, out, err } = await start({ LOG_LEVEL: 'error', [variable]: value }).ended;
    assert.equal([code, err], [1, ''], variable);
    const [line, ...others] = linesOf(out);
    assert.equal([others, line.err, line.level], [[], undefined, 'fatal'], out);
    assert.ok(line.msg.startsWith(variable) && line.msg.includes(text), line.msg);
  }
  assert.equal(readdirSync(join(folder, 'marked')), ['cluster.json']);
});

test.run();
