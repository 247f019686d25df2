/** Repeated work comes at once, never overlaps itself, and is over when its end says so. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { repeatedly } from '../../../src/store/ownership/owner.js';
import { deferred } from '../../support/deferred.js';

// Repeated work keeps no process alive, so this does.
const awake = setInterval(() => undefined, 1_000);
test.after(() => clearInterval(awake));

/** Resolves once other work of 1 ms has come ten times. */
async function tenIntervals(): Promise<void> {
  const passed = deferred();
  let begun = 0;
  const stop = repeatedly(async () => {
    begun += 1;
    if (begun === 10) passed.resolve();
  }, 1);
  await passed.promise;
  await stop();
}

test('work that lasts longer than its interval is not begun a second time meanwhile', async () => {
  const first = deferred();
  const second = deferred();
  let begun = 0;
  const stop = repeatedly(async () => {
    begun += 1;
    if (begun === 2) second.resolve();
    await first.promise;
  }, 1);
  assert.is(begun, 1);
  await tenIntervals();
  assert.is(begun, 1);
  first.resolve();
  await second.promise;
  await stop();
});

test('the end waits for running work, and no work begins after it', async () => {
  const working = deferred();
  let begun = 0;
  let isOver = false;
  const stop = repeatedly(async () => {
    begun += 1;
    await working.promise;
    isOver = true;
  }, 1);
  const stopped = stop();
  working.resolve();
  await stopped;
  assert.ok(isOver);
  await tenIntervals();
  assert.is(begun, 1);
});

test.run();
