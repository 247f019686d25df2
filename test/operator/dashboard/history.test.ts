/** The plots: rates and percentiles between samples, weights over time, bounded lists. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { LatencyCounts } from '../../../src/group/ports/observer.js';
import { limits } from '../../../src/limits.js';
import {
  PaceHistory,
  paceBetween,
  type Sample,
  VerdictHistory,
  WeightHistory,
} from '../../../src/operator/dashboard/history.js';
import { peerView } from '../recorded-group.js';

const boundsS = [0.001, 0.01, 0.1];
const none = { boundsS, upTo: [0, 0, 0], total: 0 };

function sample(at: number, accepted = 0, reads: LatencyCounts = none): Sample {
  return { at, accepted, traffic: { reads, events: none, idsRefused: 0 } };
}

/** Returns the pace of a second in which reads came to these totals. */
const paceOf = (reads: LatencyCounts, before = none) => paceBetween(sample(0, 0, before), sample(1_000, 0, reads));

test('rates are the differences of two samples, per second', () => {
  const reads = { boundsS, upTo: [30, 30, 30], total: 30 };
  const pace = paceBetween(sample(1_000, 100), sample(4_000, 250, reads));
  assert.equal([pace.events_per_s, pace.reads_per_s], [50, 10]);
  const quiet = paceBetween(sample(1_000), sample(4_000));
  assert.equal([quiet.events_per_s, quiet.reads_per_s], [0, 0]);
});

test('percentiles are those of histogram_quantile, of observations between the samples alone', () => {
  // 100 requests since: 50 up to 1 ms, 40 more up to 10 ms, 10 more up to 100 ms.
  const before = { boundsS, upTo: [1_000, 1_000, 1_000], total: 1_000 };
  const pace = paceOf({ boundsS, upTo: [1_050, 1_090, 1_100], total: 1_100 }, before);
  // Rank 99 lies 9/10 into the third bucket: 10 + 90 * 0.9.
  assert.ok(Math.abs((pace.read_ms_p99 ?? 0) - 91) < 1e-9);
  assert.is(pace.event_ms_p99, null);
  const slow = { boundsS, upTo: [0, 0, 0], total: 5 };
  assert.is(paceOf(slow).read_ms_p99, 100, 'an observation above the last bound counts as that bound');
  assert.is(paceOf({ boundsS, upTo: [1, 1, 1], total: 1 }).read_ms_p99, 0.99, 'within the first bucket');
});

test('a total that falls, as when events are erased, gives the rate 0', () => {
  const before = sample(0, 5, { boundsS, upTo: [3, 3, 3], total: 3 });
  const { events_per_s, reads_per_s, read_ms_p99 } = paceBetween(before, sample(1_000));
  assert.equal([events_per_s, reads_per_s, read_ms_p99], [0, 0, null]);
});

test('the present rate is that of the last samples alone', () => {
  const history = new PaceHistory();
  assert.equal([history.now.events_per_s, history.now.reads_per_s], [0, 0]);
  history.add(sample(0));
  const rates = Array.from({ length: limits.paceWindowSamples + 1 }, (_, i) => {
    history.add(sample((i + 1) * 1_000, 60));
    return history.now.events_per_s;
  });
  assert.equal(rates, [60, 30, 20, 15, 12, 10, 0]);
});

test('a clock that stops or goes back gives no rate', () => {
  const history = new PaceHistory();
  history.add(sample(1_000));
  history.add(sample(1_000, 5));
  history.add(sample(500, 9));
  assert.equal(history.value().at, []);
  assert.is(history.now.events_per_s, 0);
});

test('the history of rates stores the newest, oldest first', () => {
  const history = new PaceHistory();
  const samples = limits.paceSamplesMax + 10;
  for (let i = 0; i <= samples; i++) history.add(sample(i * 1_000, i));
  const { at, events_per_s } = history.value();
  assert.is(at.length, limits.paceSamplesMax);
  assert.is(at.length * limits.dashboardBeatMs, 3_600_000, 'an hour');
  assert.equal([at[0], at.at(-1)], [11, samples]);
  assert.ok(at.every((second, i) => i === 0 || second === at[i - 1]! + 1));
  assert.is(events_per_s.at(-1), 1);
});

test('weights are stored once a minute, and end with the present ones', () => {
  const history = new WeightHistory();
  const peer = { ...peerView(1), weight: 0.25, tau: 0.5 };
  assert.ok(history.isDue(0));
  history.add(0, [peerView(0), peer]);
  for (const at of [0, limits.weightSampleMs - 1]) assert.not.ok(history.isDue(at));
  assert.ok(history.isDue(limits.weightSampleMs));
  // A clock that was set back must not stop the samples.
  assert.ok(history.isDue(-1));
  history.add(60_000, [peerView(0), { ...peer, weight: 0.75 }]);
  const { at, weight, gate } = history.value({ ...peer, weight: 1 }, 90_000);
  assert.equal(at, [0, 60, 90]);
  assert.equal(weight, [0.25, 0.75, 1]);
  assert.equal(gate, [0.5, 0.5, 0.5]);
});

test('a peer has no weight before its registration', () => {
  const history = new WeightHistory();
  history.add(0, [peerView(0)]);
  assert.equal(history.value(peerView(1), 1_000).weight, [null, 0.5]);
});

test('weights are stored for a bounded time, and later samples are hidden once the clock is set back', () => {
  const history = new WeightHistory();
  for (let i = 0; i <= limits.weightSamplesMax; i++) history.add(i * 1_000, [peerView(0)]);
  const { at } = history.value(peerView(0), 1_440_000);
  assert.equal([at.length, at[0], at.at(-2), at.at(-1)], [limits.weightSamplesMax, 1, 1_439, 1_440]);
  assert.equal(history.value(peerView(0), 3_000).at, [1, 2, 3]);
});

test('the newest change of each verdict is listed, the newest first, until its player is erased', async () => {
  const history = new VerdictHistory();
  const mark = { seq: 1, asOf: 60_000 } as unknown as Parameters<VerdictHistory['publish']>[1];
  const row = (subject: string, was: 'neutral' | 'trusted' = 'neutral') => {
    const player = { subject, score: 1, confidence: 1, verdict: 'untrusted', allowed: false } as const;
    return { subject, player, was };
  };
  const { was: _, ...first } = row('new');
  await history.publish([row('a'), row('b'), row('a', 'trusted'), first], mark);
  await history.publish([row('c')], null);
  const at = '1970-01-01T00:01:00.000Z';
  const [a, b] = [
    { subject_hash: 'a', at, was: 'trusted', verdict: 'untrusted' },
    { subject_hash: 'b', at, was: 'neutral', verdict: 'untrusted' },
  ];
  assert.equal(history.value(), [a, b]);
  history.forgotten();
  await history.publish([{ subject: 'a', player: null }], null);
  assert.equal(history.value(), [b]);
  for (let i = 0; i < limits.verdictChangesMax; i++) await history.publish([row(`p${i}`)], mark);
  const listed = history.value().map(({ subject_hash }) => subject_hash);
  assert.equal([listed.length, listed[0], listed.at(-1)], [limits.verdictChangesMax, 'p199', 'p0']);
});

test.run();
