import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { samplesWithin } from '../../bench/windows.js';

/** Samples told at these times, each of the time since the one before. */
const samplesAt = (...times: readonly number[]) => times.map((at) => ({ at, p99: 0, max: 0 }));

test('a window includes every sample of its time, however late the server reports it', () => {
  const times = (beginMs: number, endMs: number, ...samples: readonly number[]) =>
    samplesWithin(samplesAt(...samples), beginMs, endMs).map(({ at }) => at);
  assert.equal(times(1_000, 1_200, 900, 1_000, 1_100, 1_200, 1_300, 1_400), [1_100, 1_200]);
  // The loop stood still from 1,150 on.
  assert.equal(times(1_000, 1_200, 1_050, 1_150, 1_600, 1_700), [1_050, 1_150, 1_600]);
  assert.equal(times(1_000, 1_200, 1_250), [1_250]);
});

test.run();
