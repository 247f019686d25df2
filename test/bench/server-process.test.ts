/** A server that is measured, in a process of its own, and the memory and the children of processes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { leaveUnpinned } from '../../bench/machine.js';
import { residentMbOf, withDescendants } from '../../bench/process-stats.js';
import { ServerProcess } from '../../bench/server-process.js';
import { temporaryFolder } from '../support/process.js';

leaveUnpinned();
const folder = temporaryFolder();

function serverOf(code: string, onFall: (text: string) => void): { server: ServerProcess; script: string } {
  const script = join(folder, 'server.mjs');
  writeFileSync(script, `${code}\nconsole.log('{"msg":"listening","port":7}');`);
  return { server: new ServerProcess({ script, cwd: folder, env: {} }, onFall), script };
}

test('a server that ends by itself is named, with how it ended and its last lines', async () => {
  const words = 'for (let i = 0; i < 30; i++) console.error("line " + i);';
  const ends = 'process.on("SIGUSR2", () => process.exit(3)); setInterval(() => undefined, 1000);';
  const fall = await new Promise<string>((resolve) => {
    const { server, script } = serverOf(words + ends, (text) => resolve(text.replace(script, 'SCRIPT')));
    server.start().then(() => process.kill(server.pid!, 'SIGUSR2'));
  });
  const [how, ...last] = fall.split('\n');
  assert.is(how, 'the server SCRIPT on port 7 ended by itself with 3');
  // The last lines of 30 and the one by which it listens; the order in which two pipes are read is random.
  assert.is(last.length, 20);
  assert.is(last.filter((line) => line.startsWith('line ')).at(-1), 'line 29');
});

test('a server that is ended by the bench has not ended by itself', async () => {
  const falls: string[] = [];
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    const { server } = serverOf('setInterval(() => undefined, 1000);', (text) => falls.push(text));
    await server.start();
    await server.end(signal);
  }
  assert.equal(falls, []);
});

/** Reads a field of `/proc/<pid>/status` (proc_pid_status(5)), in MB. */
function statusMb(pid: number, field: string): number {
  const kb = new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'latin1'))![1];
  return (Number(kb) * 1024) / 1e6;
}

test('memory that processes share counts once, not for each of them', async () => {
  if (!existsSync('/proc/self/smaps_rollup')) {
    process.stdout.write('SKIPPED: this system does not tell which memory is shared\n');
    return;
  }
  const text = 'console.log(1); setInterval(() => undefined, 1000)';
  const children = Array.from({ length: 3 }, () => spawn(process.execPath, ['-e', text]));
  try {
    await Promise.all(children.map((child) => once(child.stdout, 'data')));
    const pids = children.map(({ pid }) => pid!);
    const residentMb = residentMbOf(pids);
    const sum = (field: string) => pids.reduce((total, pid) => total + statusMb(pid, field), 0);
    // All of it is the same program and the same libraries.
    const fileOfOneMb = Math.max(...pids.map((pid) => statusMb(pid, 'RssFile')));
    assert.ok(fileOfOneMb > 10);
    // The processes go on meanwhile: some room for what they take and give back.
    assert.ok(residentMb < sum('RssAnon') * 1.1 + fileOfOneMb * 1.2, `${residentMb} MB`);
    assert.ok(residentMb > sum('RssAnon') * 0.9, `${residentMb} MB`);
  } finally {
    for (const child of children) child.kill('SIGKILL');
  }
});

test('children of a process count with it', async () => {
  const text = `require('node:child_process').spawn('sleep', ['60']).once('spawn', () => console.log(1))`;
  const child = spawn(process.execPath, ['-e', text]);
  await once(child.stdout, 'data');
  const pids = withDescendants([child.pid!]);
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  if (existsSync('/proc/self/stat')) assert.is(pids.length, 2);
});

test.run();
