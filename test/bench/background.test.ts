/** A process's threads below its own priority are seen at work and at rest, and the others are not. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { getPriority } from 'node:os';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Background } from '../../bench/background.js';
import { removeFolder, temporaryFolder } from '../store/temporary-folder.js';

/**
 * Says `ready`, works for 120 ms of processor time once it is told to, which it says too, and rests; in a thread of a
 * lower priority where that is wanted.
 */
function programOf(isLower: boolean): string {
  const work = `const { parentPort } = require('node:worker_threads'); parentPort.once('message', () => { parentPort.postMessage('works'); const at = process.cpuUsage(); const begun = at.user + at.system; for (let used = 0; used < 120_000; ) { const { user, system } = process.cpuUsage(); used = user + system - begun; } }); setInterval(() => undefined, 100_000);`;
  const thread = `${isLower ? "require('node:os').setPriority(0, 19);" : ''} ${work} parentPort.postMessage('ready');`;
  return `const worker = new (require('node:worker_threads').Worker)(${JSON.stringify(thread)}, { eval: true });
worker.on('message', (said) => console.log(said)); process.stdin.once('data', () => worker.postMessage(1));`;
}

test('low-priority work of a thread is waited for until it is done, also if it is profiled', async () => {
  if (!existsSync('/proc/self/schedstat')) {
    process.stdout.write('SKIPPED: this system does not tell what a thread takes\n');
    return;
  }
  if (getPriority() === 19) {
    process.stdout.write('SKIPPED: no priority is lower than that of this process\n');
    return;
  }
  const profiles = temporaryFolder();
  try {
    for (const { isLower, options = [] } of [
      { isLower: true },
      { isLower: true, options: ['--cpu-prof', `--cpu-prof-dir=${profiles}`] },
      { isLower: false },
    ]) {
      const child = spawn(process.execPath, [...options, '-e', programOf(isLower)]);
      try {
        await once(child.stdout, 'data');
        const background = new Background(child.pid!);
        assert.is(background.isSeen, isLower);
        if (!isLower) {
          assert.is(background.cpuMs(), 0);
          continue;
        }
        const begunMs = background.cpuMs();
        child.stdin.write('go');
        await once(child.stdout, 'data');
        await background.still(begunMs + 50);
        const workedMs = background.cpuMs() - begunMs;
        assert.ok(workedMs > 50 && workedMs <= 200, `${workedMs} ms`);
        // More than comes is not waited for without end.
        await background.still(begunMs + 1_000_000);
        background.stop();
      } finally {
        child.kill('SIGKILL');
      }
    }
  } finally {
    removeFolder(profiles);
  }
});

test.run();
