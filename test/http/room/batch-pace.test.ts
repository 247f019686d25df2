/** A caller that ignores `Retry-After` waits; nobody else does. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { BatchPace } from '../../../src/http/room/batch-pace.js';
import { limits } from '../../../src/limits.js';

/** Batches of this size, each of which takes 100 ms at the rate of refused batches. */
const bytes = limits.refusedBytesPerS / 10;
const free = limits.refusedDebtMs;

/** Begins and ends a batch at `now`. Returns how long it would have waited. */
function send(pace: BatchPace, isRefused: boolean, now: number, holder = 'one'): number | null {
  const paced = pace.begin(holder, bytes, now);
  paced.ended(isRefused, now);
  return paced.waitMs;
}

test('a refused batch delays further ones once they exceed the rate, and those of no other holder', () => {
  const pace = new BatchPace();
  assert.equal([send(pace, true, 0), send(pace, true, 0)], [0, 0], 'a few are read at once');
  assert.is(send(pace, true, 0), 200 - free);
  assert.is(send(pace, true, 0), 300 - free);
  assert.is(send(pace, true, 0, 'another'), 0);
  assert.is(send(pace, true, 100), 300 - free);
});

test('a holder that waits as long as it was told is never delayed', () => {
  const pace = new BatchPace();
  for (let second = 0; second < 20; second++) {
    assert.is(send(pace, true, second * limits.retryAfterS * 1000), 0);
  }
  assert.is(pace.debtors, 1);
});

test('admitted batches add no debt', () => {
  const pace = new BatchPace();
  for (let n = 0; n < 100; n++) assert.is(send(pace, false, 0), 0);
  send(pace, true, 0);
  for (let n = 0; n < 100; n++) assert.is(send(pace, false, 0), 0);
});

test('a batch counts as refused until it has ended', () => {
  const pace = new BatchPace();
  send(pace, true, 0);
  const [first, second] = [pace.begin('one', bytes, 0), pace.begin('one', bytes, 0)];
  assert.equal([first.waitMs, second.waitMs], [0, 200 - free]);
  second.ended(false, 1);
  assert.is(pace.begin('one', bytes, 0).waitMs, 200 - free);
});

test('no wait is longer than the bound, and only so many batches wait', () => {
  const pace = new BatchPace();
  const waits = Array.from({ length: 100 }, () => send(pace, true, 0));
  assert.is(waits.at(-1), limits.pacedWaitMsMax);
  const waiting = Array.from({ length: limits.pacedBatchesMax }, () => pace.begin('one', bytes, 0));
  assert.ok(waiting.every(({ waitMs }) => waitMs === limits.pacedWaitMsMax));
  assert.is(pace.begin('one', bytes, 0).waitMs, null);
  assert.is(pace.begin('another', bytes, 0).waitMs, 0);
  waiting[0]!.ended(true, 0);
  assert.is(pace.begin('one', bytes, 0).waitMs, limits.pacedWaitMsMax);
});

test('paid debts are forgotten', () => {
  const pace = new BatchPace();
  for (let holder = 0; holder < 1_000; holder++) send(pace, true, holder, String(holder));
  assert.is(pace.debtors, 1_000);
  send(pace, true, limits.sharePeriodMs * 3, 'last');
  assert.is(pace.debtors, 1);
});

test.run();
