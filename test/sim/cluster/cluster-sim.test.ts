/** The short form of `npm run sim -- cluster`: a few lives of a cluster with faults, and what a seed promises. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { live } from './life.js';

const shortMs = 10_000;

for (const seed of [1, 2, 3, 4]) {
  test(`no invariant breaks in the life of cluster ${seed}, whatever fails`, async () => {
    const { difference, counts } = await live({ seed, ms: shortMs });
    assert.is(difference?.message, undefined);
    assert.ok(counts.get('faults')! > 0 && counts.get('acknowledged')! > 0);
  });
}

test('the same seed is the same life', async () => {
  const notes: string[][] = [[], []];
  for (const list of notes) await live({ seed: 5, ms: 4_000, note: (text) => list.push(text) });
  assert.ok(notes[0]!.length > 10);
  assert.equal(notes[0], notes[1]);
});

test('a node whose disk fills up while callers ask it for fresh reads leaves and comes back', async () => {
  const { difference, counts } = await live({ seed: 1, ms: shortMs, only: ['disk_low'] });
  assert.is(difference?.message, undefined);
  assert.ok(counts.get('fresh reads')! > 0);
});

test('a node whose local commit failed shows callers no older state than before', async () => {
  const { difference } = await live({ seed: 4, ms: shortMs, only: ['commit_fails', 'disk_low'] });
  assert.is(difference?.message, undefined);
});

test.run();
