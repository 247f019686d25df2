/**
 * Two containers on one volume: of two nodes in PID namespaces of their own one serves, and the other one is refused in
 * a sentence.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { eventOf, post, register } from './faults/writers.js';
import { rejection } from './store/log-contract.js';
import { endAll, type NodeProcess, NotStarted, startProcess, temporaryFolder } from './support/process.js';

/** A PID namespace of its own, in which the node is process 1. Unshare itself ignores SIGTERM. */
const container = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child=SIGKILL'];

const canUnshare = (): boolean => spawnSync(container[0]!, [...container.slice(1), 'true']).status === 0;

async function stop({ child, ended }: NodeProcess): Promise<void> {
  const node = Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8'));
  process.kill(node, 'SIGTERM');
  assert.is(await ended, 0);
}

async function accepts(url: string, peer: Awaited<ReturnType<typeof register>>, id: string): Promise<void> {
  const response = await post(url, '/api/v1/events', peer, eventOf(peer, id, id));
  assert.is(response.status, 201, await response.text());
}

test('a second node in another container is refused in one line, and the first one goes on', async () => {
  if (!canUnshare()) {
    process.stdout.write('SKIPPED: unshare is not installed or may make no PID namespace\n');
    return;
  }
  const dir = temporaryFolder();
  const first = await startProcess({ DATA_DIR: dir }, container);
  const peer = await register(first.url);
  await accepts(first.url, peer, 'before');
  const refused = (await rejection(startProcess({ DATA_DIR: dir, LOG_LEVEL: 'fatal' }, container))) as NotStarted;
  assert.instance(refused, NotStarted);
  assert.is(refused.exit, 1);
  assert.match(refused.output, /is in use by process 1 \(since [^)]+\); one node per folder/);
  assert.is(refused.output.trim().split('\n').length, 1, refused.output);
  await accepts(first.url, peer, 'after');
  await stop(first);
  const next = await startProcess({ DATA_DIR: dir }, container);
  for (const id of ['before', 'after']) {
    const again = await post(next.url, '/api/v1/events', peer, eventOf(peer, id, id));
    assert.is(again.status, 409, 'the event is known');
  }
  await stop(next);
});

test.after(endAll);
test.run();
