import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { within } from '../../src/workers/within.js';
import { deferred } from '../support/deferred.js';

test('a wait ends with its work, whether that succeeds or fails, or once its time is over, and not before', async () => {
  for (const fails of [false, true]) {
    const { promise, resolve: end } = deferred();
    const work = fails ? promise.then(() => Promise.reject(new Error('failed'))) : promise;
    let ended: boolean | null = null;
    const waited = within(60_000, work).then((isDone) => {
      ended = isDone;
    });
    await new Promise((resolve) => setImmediate(resolve));
    assert.is(ended, null);
    end();
    await waited;
    assert.is(ended, true);
  }
  assert.is(await within(1, new Promise(() => undefined)), false);
});

test.run();
