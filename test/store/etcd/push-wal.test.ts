/** The entries by which a scrub makes every member of etcd begin new write-ahead logs. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { limits } from '../../../src/limits.js';
import { rejection } from '../log-contract.js';
import { given, keys } from './model-log.js';

test('a scrub fills as many write-ahead logs as the members keep, and compacts one step behind', async () => {
  const { log, calls, store, compacted, text } = given();
  const values: Buffer[] = [];
  const { put } = calls;
  calls.put = async (request) => {
    values.push(request.value);
    return put({ ...request, value: request.value.subarray(0, 1) });
  };
  const steps: number[] = [];
  const marker = await log.pushWal({ snapshotEntries: 1, files: 1 }, (done, total) => {
    assert.is(total, 3 * 1_024);
    steps.push(done);
  });
  assert.is(marker, values[0]!.toString('hex'));
  assert.is(values[0]!.length, limits.walMarkerBytes);
  assert.equal(new Set(values.slice(1).map(({ length }) => length)), new Set([limits.walFillBytesMax]));
  assert.equal([values.length, steps], [1 + 3 * 1_024, Array.from({ length: 24 }, (_, step) => step * 128)]);
  // The first step ends after the marker and 128 entries, and is compacted at the end of the second one.
  const revisions = Array.from({ length: 23 }, (_, step) => String(2 + 128 * (step + 1)));
  assert.equal(compacted, [...revisions, String(store.revision)]);
  assert.equal([text(keys.filler), text(keys.marker)], [undefined, undefined]);
});

test('the entries of a scrub are long if members make snapshots often, and short if they do so rarely', async () => {
  const { log, calls } = given();
  for (const [snapshotEntries, files, bytes, total, step] of [
    [100_000, 5, limits.walFillBytes, 100_000 + 2 * 18_642, 2_331],
    [20_000, 5, 16_778, 28_000, 500],
    [20_000, 4, 13_422, 30_000, 625],
  ] as const) {
    const seen: number[] = [];
    calls.put = async ({ value }) => {
      seen[0] = value.length;
      return {};
    };
    const pushed = log.pushWal({ snapshotEntries, files }, (done, all) => {
      seen.push(all);
      if (done > 0) throw new Error(`a step of ${done}`);
    });
    assert.is(((await rejection(pushed)) as Error).message, `a step of ${step}`);
    assert.equal([seen[0], seen.at(-1)], [bytes, total]);
  }
});

test.run();
