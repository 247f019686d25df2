import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { within } from '../../src/workers/within.js';
import { deferred } from '../support/deferred.js';

test('a wait ends with its work, whether that succeeds or fails, or once its time is over, and not before', async () => {
  for (const fails of [false, true]) {
    const { promise, resolve: end } = deferred();
    let isOver = false;
    const waited = within(60_000, fails ? promise.then(() => Promise.reject(new Error('failed'))) : promise).then(
      () => {
        isOver = true;
      },
    );
    await new Promise((resolve) => setImmediate(resolve));
    assert.not.ok(isOver);
    end();
    await waited;
  }
  await within(1, new Promise(() => undefined));
});

test.run();
