/** A caller that ignores `Retry-After` waits; nobody else does. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Holder } from '../../../src/group/ports/pool.js';
import { BatchPace } from '../../../src/http/room/batch-pace.js';
import { limits } from '../../../src/limits.js';

/** Batches of this size, each of which takes 100 ms at the rate of refused batches. */
const bytes = limits.refusedBytesPerS / 10;
const free = limits.refusedDebtMs;
const longest = limits.pacedWaitMsMax;

/** Begins and ends a batch of an overloaded node at `now`. Returns how long it would have waited. */
function send(pace: BatchPace, isRefused: boolean, now: number, holder: Holder = 'one'): number | null {
  const paced = pace.begin(holder, bytes, true, now);
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

test('a node that is not overloaded delays no batch', () => {
  const pace = new BatchPace();
  for (let n = 0; n < 10; n++) send(pace, true, 0);
  assert.is(pace.begin('one', bytes, false, 0).waitMs, 0);
  assert.ok(send(pace, true, 0)! > 0);
});

test('a holder that waits as long as Retry-After says is not delayed, as far as its debt shrinks meanwhile', () => {
  const pace = new BatchPace();
  const retryAfterMs = limits.retryAfterS * 1000;
  const several = retryAfterMs / 100;
  for (let second = 0; second < 20; second++) {
    const waits = Array.from({ length: several }, () => pace.begin('one', bytes, true, second * retryAfterMs));
    assert.is(waits[0]!.waitMs, 0);
    for (const paced of waits) paced.ended(true, second * retryAfterMs);
  }
});

test('a debt has a bound, so that a flood is forgotten soon', () => {
  const pace = new BatchPace();
  const waits = Array.from({ length: 10_000 }, () => send(pace, true, 0));
  assert.is(waits.at(-1), longest);
  assert.is(send(pace, false, longest), 0);
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
  const [first, second] = [pace.begin('one', bytes, true, 0), pace.begin('one', bytes, true, 0)];
  assert.equal([first.waitMs, second.waitMs], [0, 200 - free]);
  second.ended(false, 1);
  assert.is(pace.begin('one', bytes, true, 1).waitMs, 199 - free);
});

test('what a slow batch gives back does not pay the debt of others', () => {
  const pace = new BatchPace();
  send(pace, true, 0);
  const slow = pace.begin('one', bytes, true, 0);
  send(pace, true, 150);
  // 300 ms of debt, of which 200 are paid.
  slow.ended(false, 200);
  assert.is(pace.begin('one', 20 * bytes, true, 200).waitMs, 0);
  assert.is(send(pace, true, 200), longest);
});

test('only so many batches wait, and holders share the places', () => {
  const pace = new BatchPace();
  for (let n = 0; n < 100; n++) {
    send(pace, true, 0, 'flood');
    send(pace, true, 0, 'other');
  }
  const waiting = Array.from({ length: limits.pacedBatchesMax }, () => pace.begin('flood', bytes, true, 0));
  assert.ok(waiting.every(({ waitMs }) => waitMs === longest));
  assert.is(pace.begin('flood', bytes, true, 0).waitMs, null);
  assert.is(pace.begin('other', bytes, true, 0).waitMs, longest, 'the other has a share');
  assert.is(pace.begin('third', bytes, true, 0).waitMs, 0);
  for (const paced of waiting.slice(0, 2)) paced.ended(true, 0);
  assert.is(pace.begin('flood', bytes, true, 0).waitMs, longest);
  let others = 1;
  while (pace.begin('other', bytes, true, 0).waitMs !== null) others++;
  assert.is(others, Math.floor(limits.pacedBatchesMax / 2), 'half of the places is the share of one of two');
});

test('paid debts are forgotten', () => {
  const pace = new BatchPace();
  for (let holder = 0; holder < 1_000; holder++) send(pace, true, 0, holder);
  assert.is(pace.holders, 1_000);
  send(pace, true, limits.sharePeriodMs * 3, 'last');
  assert.is(pace.holders, 1);
});

test.run();
