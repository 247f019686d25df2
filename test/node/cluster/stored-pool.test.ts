/** The pool of a node of a cluster, whose workers read files that follow the shared log. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { GroupPool } from '../../../src/group/ports/pool.js';
import { storedPool } from '../../../src/node/cluster/stored-pool.js';

test('a task starts once the files hold every acknowledged batch, and a check of the files starts at once', async () => {
  const calls: string[] = [];
  let store: () => void = () => undefined;
  const stored = new Promise<void>((resolve) => {
    store = resolve;
  });
  const tasks = { follow: async () => void calls.push('follow'), check: async () => void calls.push('check') };
  // The tests call these tasks only.
  const pool = storedPool(tasks as unknown as GroupPool, { stored: () => stored });
  const followed = pool.follow(7);
  await pool.check(() => undefined, new AbortController().signal);
  assert.equal(calls, ['check']);
  store();
  await followed;
  assert.equal(calls, ['check', 'follow']);
});

test('a task is refused if the files could not be written', async () => {
  const tasks = { follow: () => assert.unreachable() };
  const failed = { stored: () => Promise.reject(new Error('no space left')) };
  const pool = storedPool(tasks as unknown as GroupPool, failed);
  assert.is(await pool.follow(7).catch((error: Error) => error.message), 'no space left');
});

test.run();
