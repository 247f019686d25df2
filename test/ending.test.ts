/**
 * The process ends even where one of its threads cannot be ended, as amid a call to a disk that answers no more. Here the replica opens a
 * file that nobody ever writes to, which no exit can call it back from.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { limits } from '../src/limits.js';
import { dataFileOf } from '../src/store/environment-file.js';
import { register } from './faults/kill.js';
import { endAll, type NodeProcess, startProcess, temporaryFolder } from './support/process.js';
import { until } from './support/until.js';

/** More than an end takes on a busy machine, and less than for ever. */
const slackMs = 20_000;

/** A node that is being stopped and whose replica, which was to make the last snapshot, hangs. */
async function stoppingWithHungReplica(): Promise<{ dir: string; node: NodeProcess }> {
  const dir = temporaryFolder();
  const node = await startProcess({ DATA_DIR: dir, LOG_LEVEL: 'info', DISK_FREE_MIN_MB: '0' });
  const snapshot = join(dir, 'snapshot-0000000000000001');
  mkdirSync(snapshot);
  execFileSync('mkfifo', [dataFileOf(snapshot)]);
  await register(node.url);
  void node.kill('SIGTERM');
  await until(() => node.output().includes('the last snapshot takes too long and is left'));
  return { dir, node };
}

async function endedWithin(ms: number, node: NodeProcess): Promise<number | string | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'hangs'>((resolve) => {
    timer = setTimeout(() => resolve('hangs'), ms);
  });
  const how = await Promise.race([node.ended, late]);
  clearTimeout(timer);
  return how;
}

// Both at once: each takes as long as a stop gives a last snapshot.
const hung = Promise.all([stoppingWithHungReplica(), stoppingWithHungReplica()]);

test('a second signal ends the node by that signal, whatever its threads do', async () => {
  const [{ dir, node }] = await hung;
  node.child.kill('SIGINT');
  assert.is(await endedWithin(slackMs, node), 'SIGINT', node.output());
  rmSync(dir, { recursive: true });
});

test('a stop that comes to no end by itself ends the node soon after its 10 s, whatever its threads do', async () => {
  const [, { dir, node }] = await hung;
  assert.is(await endedWithin(limits.shutdownMs + slackMs, node), 'SIGKILL', node.output());
  assert.match(node.output(), 'the node did not stop within');
  rmSync(dir, { recursive: true });
});

test.after(endAll);
test.run();
