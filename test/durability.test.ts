/** What was acknowledged survives SIGKILL, and each acknowledgement waited for a sync of its own. */
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { eventOf, kill, post, register } from './faults/kill.js';
import { testShort } from './faults/short.js';
import { endAll, startProcess, temporaryFolder } from './support/process.js';

// The long form is `npm run faults -- kill`.
testShort(kill, 20);

test('a hundred sequential acknowledged events cause at least a hundred syncs', async () => {
  if (spawnSync('strace', ['-V']).status !== 0) {
    process.stdout.write('SKIPPED: strace is not installed, so syncs cannot be counted\n');
    return;
  }
  const dir = temporaryFolder();
  const trace = join(dir, 'trace.txt');
  const wrapper = ['strace', '-f', '-e', 'trace=fdatasync,fsync,msync', '-o', trace];
  const node = await startProcess({ DATA_DIR: dir }, wrapper);
  const peer = await register(node.url);
  const syncs = () => (readFileSync(trace, 'utf8').match(/(fdatasync|fsync|msync)\(/g) ?? []).length;
  const before = syncs();
  for (let i = 0; i < 100; i++) {
    const response = await post(node.url, '/api/v1/events', peer, eventOf(peer, `e${i}`, 'p'));
    assert.is(response.status, 201);
  }
  const after = syncs();
  assert.ok(after - before >= 100, `${after - before} syncs`);
  await node.kill('SIGTERM');
  rmSync(dir, { recursive: true });
});

test.after(endAll);
test.run();
