import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { within } from '../../src/workers/within.js';

test('the wait ends with the work, whether it succeeds or fails, and not before', async () => {
  for (const fails of [false, true]) {
    let end = (): void => undefined;
    let isOver = false;
    const work = new Promise<void>((resolve, reject) => {
      end = fails ? () => reject(new Error('failed')) : resolve;
    });
    const waited = within(60_000, work).then(() => {
      isOver = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    assert.not.ok(isOver);
    end();
    await waited;
  }
});

test('the wait ends without the work once its time is over', async () => {
  await within(1, new Promise(() => undefined));
});

test.run();
