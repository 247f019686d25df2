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

test('work is not begun again before it has ended, its end is waited for, and no work begins after that', async () => {
  const works = [deferred(), deferred()] as const;
  const again = deferred();
  let begun = 0;
  let ended = 0;
  const stop = repeatedly(async () => {
    begun += 1;
    if (begun === 2) again.resolve();
    await works[begun - 1]!.promise;
    ended += 1;
  }, 1);
  assert.is(begun, 1, 'it comes at once');
  await tenIntervals();
  assert.is(begun, 1, 'it lasts longer than its interval');
  works[0].resolve();
  await again.promise;
  const endedByStop = stop().then(() => ended);
  await tenIntervals();
  works[1].resolve();
  assert.is(await endedByStop, 2, 'its end is waited for');
  await tenIntervals();
  assert.is(begun, 2);
});

test.run();
