import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { HourlyCounts } from '../../../src/core/tables/hourly-counts.js';
import { HOUR_MS } from '../../../src/limits.js';
import { Random } from '../../support/random.js';

/** A whole hour. */
const noon = Date.UTC(2026, 0, 1, 12);

test('a published count changes at whole hours, and includes no event that is younger than an hour', () => {
  const random = new Random(11);
  for (let round = 0; round < 200; round++) {
    const counts = new HourlyCounts();
    const times: number[] = [];
    let now = noon + random.below(HOUR_MS);
    for (let step = 0; step < 60; step++) {
      now += random.below(step % 7 === 0 ? 3 * HOUR_MS : HOUR_MS / 4);
      if (random.below(3) > 0) {
        counts.note(0, times.length, now);
        times.push(now);
      }
      const counted = counts.asOf(0, times.length, now);
      const hour = now - (now % HOUR_MS);
      // By definition: all that came before the hour that ended last.
      assert.is(counted, times.filter((at) => at < hour - HOUR_MS || now - at >= 2 * HOUR_MS).length);
      assert.is(counted, counts.asOf(0, times.length, hour));
    }
  }
});

test('a clock that goes back shows no event earlier', () => {
  const counts = new HourlyCounts();
  counts.note(0, 0, noon);
  counts.note(0, 1, noon + 5 * HOUR_MS);
  counts.note(0, 2, noon + 1);
  assert.is(counts.asOf(0, 3, noon + 2), 1);
  assert.is(counts.asOf(0, 3, noon + 3 * HOUR_MS), 3);
});

test('a clock that steps back over a whole hour includes no event that is seconds old', () => {
  const counts = new HourlyCounts();
  counts.note(0, 0, noon + 1);
  counts.note(0, 1, noon - 1);
  assert.is(counts.asOf(0, 2, noon + 2), 0);
  assert.is(counts.asOf(0, 2, noon + HOUR_MS), 2);
});

test.run();
