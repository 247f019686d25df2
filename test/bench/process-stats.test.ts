import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { residentMbOf, withDescendants } from '../../bench/process-stats.js';

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
