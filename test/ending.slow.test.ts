/**
 * The process ends even where one of its threads cannot be ended, as amid a call to a disk that answers no more. Here
 * the replica opens a file that nobody ever writes to, which no exit can call it back from.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { limits } from '../src/limits.js';
import { dataFileOf } from '../src/store/files/lmdb-file.js';
import { eventOf, type Peer, post, register } from './faults/writers.js';
import { endAll, type NodeProcess, startProcess, temporaryFolder } from './support/process.js';
import { takeOver } from './support/take-over.js';
import { until } from './support/until.js';

/** More than an end takes on a busy machine, and less than for ever. */
const slackMs = 20_000;

/** A node whose replica, once it is asked for something, hangs. */
async function startedWithHungReplica(): Promise<{ dir: string; node: NodeProcess; peer: Peer }> {
  const dir = temporaryFolder();
  const node = await startProcess({ DATA_DIR: dir, LOG_LEVEL: 'info', DISK_FREE_MIN_MB: '0' });
  const snapshot = join(dir, 'snapshot-0000000000000001');
  mkdirSync(snapshot);
  execFileSync('mkfifo', [dataFileOf(snapshot)]);
  return { dir, node, peer: await register(node.url) };
}

/** A node that is being stopped and whose replica, which was to make the last snapshot, hangs. */
async function stoppingWithHungReplica(): Promise<{ dir: string; node: NodeProcess }> {
  const { dir, node } = await startedWithHungReplica();
  void node.kill('SIGTERM');
  await until(() => node.output().includes('the last snapshot takes too long and is skipped'));
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
  const [{ node }] = await hung;
  node.child.kill('SIGINT');
  assert.is(await endedWithin(slackMs, node), 'SIGINT', node.output());
});

test('a stop that comes to no end by itself ends the node soon after its 10 s, whatever its threads do', async () => {
  const [, { node }] = await hung;
  assert.is(await endedWithin(limits.shutdownMs + slackMs, node), 'SIGKILL', node.output());
  assert.match(node.output(), 'the node did not stop within');
});

/** The function of the kernel in which a thread waits; none where it has just ended. */
function waitingIn(task: string): string {
  try {
    return readFileSync(`${task}/wchan`, 'utf8');
  } catch {
    return '';
  }
}

/**
 * Resolves once a thread of the process waits for whoever writes to a pipe; where the system does not tell, it will by
 * then.
 */
async function hangs(pid: number): Promise<void> {
  if (process.platform !== 'linux') return delay(slackMs / 4);
  const tasks = `/proc/${pid}/task`;
  const waits = () => readdirSync(tasks).map((task) => waitingIn(`${tasks}/${task}`));
  if (waits().every((where) => where === '' || where === '0')) return delay(slackMs / 4);
  await until(() => waits().some((where) => where.startsWith('wait_for_partner')));
}

// Found by `faults -- disk` on a busy machine: a failed node waited for a thread that got no core.
test('a node that fails ends, whatever its threads do', async () => {
  const { dir, node, peer } = await startedWithHungReplica();
  // It calls for weights, and these for the replica.
  assert.is((await post(node.url, '/api/v1/events', peer, eventOf(peer, 'e', 'p'))).status, 201);
  await hangs(node.child.pid!);
  const taken = await takeOver(dir);
  assert.is(await endedWithin(slackMs, node), 'SIGKILL', node.output());
  assert.match(node.output(), 'the node cannot continue');
  await taken.close();
});

test.after(endAll);
test.run();
