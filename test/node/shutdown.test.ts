/** The order in which a node closes what it opened, and the time that a stop leaves. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { limits } from '../../src/limits.js';
import { Closers } from '../../src/node/shutdown.js';

function closersOf(names: readonly string[]): { readonly closers: Closers; readonly closed: string[] } {
  const closers = new Closers();
  const closed: string[] = [];
  for (const name of names) closers.add(async () => void closed.push(name));
  return { closers, closed };
}

test('resources are closed in reverse order, one after the other, and once', async () => {
  const { closers, closed } = closersOf(['a', 'b']);
  closers.add(async () => {
    closed.push('c begins');
    await new Promise((resolve) => setImmediate(resolve));
    closed.push('c ends');
  });
  await closers.close();
  await closers.close();
  assert.equal(closed, ['c begins', 'c ends', 'b', 'a']);
});

test('a part that cannot be closed does not prevent others from closing, and the stop fails with its error', async () => {
  const { closers, closed } = closersOf(['folder']);
  closers.add(() => Promise.reject(new Error('first')));
  closers.add(() => Promise.reject(new Error('earlier')));
  assert.is(await closers.close().catch((error: Error) => error.message), 'earlier');
  assert.equal(closed, ['folder']);
});

test('a stop leaves its time minus that of threads and unmeasured work, and never a negative one', async () => {
  const { closers } = closersOf([]);
  assert.is(closers.msLeft(60_000), 60_000);
  await closers.close();
  const left = closers.msLeft(60_000);
  assert.ok(left <= limits.shutdownMs - limits.shutdownPoolMs - limits.shutdownLastMs && left > 0, String(left));
  assert.is(closers.msLeft(1), 1);
  assert.is(closers.msLeft(-1), 0);
});

test.run();
