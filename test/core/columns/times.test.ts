/** Selects the records that are old enough to expire, by the times of their receipt. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Times } from '../../../src/core/columns/times.js';

/** Two records at each of these moments. */
function timesOf(...ats: number[]): Times {
  const times = new Times();
  for (const [i, at] of ats.entries()) for (const half of [1, 2]) times.note(2 * i + half, at);
  return times;
}

const old = (times: Times, after = 0, upTo = 100, stepsMax = 100) => times.lastBefore(after, upTo, 50, 90, stepsMax);

test('old events end before the first time that is not old', () => {
  assert.is(old(timesOf()), 0);
  assert.is(old(timesOf(60)), 0);
  assert.is(old(timesOf(10, 20, 60, 30)), 4);
  assert.is(old(timesOf(10, 20, 60), 2), 4);
  assert.is(old(timesOf(10, 20, 60), 4), 4);
  assert.is(old(timesOf(10, 20, 30), 0, 4), 4);
  assert.is(old(timesOf(10, 20, 30), 0, 6), 6, 'the last moment has no other behind it');
});

test('a time in the future is as old as the time after it', () => {
  assert.is(old(timesOf(10, 95, 20, 60)), 6);
  assert.is(old(timesOf(10, 95, 96, 60)), 2);
  assert.is(old(timesOf(10, 95)), 2);
  assert.is(old(timesOf(95, 20), 0, 4), 4);
});

test('one look reads a bounded number of times, and the next one continues', () => {
  const times = timesOf(10, 95, 20, 30, 60);
  assert.is(old(times, 0, 10, 2), 6);
  assert.is(old(times, 6, 10, 2), 8);
  assert.is(old(times, 8, 10, 2), 8);
});

test.run();
