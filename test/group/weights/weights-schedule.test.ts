import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { decideWeights } from '../../../src/core/rules/decide-setting.js';
import { granted, type Outcome, refused } from '../../../src/errors.js';
import type { Timers } from '../../../src/group/ports/clock.js';
import type { GroupPool, WeightsWithSignals } from '../../../src/group/ports/pool.js';
import { WeightsSchedule, type WeightsSite, WeightsWork } from '../../../src/group/weights/weights-computation.js';
import { limits } from '../../../src/limits.js';
import { dayMs, Given, t0 } from '../../support/given.js';
import { votesOf, weightsOf } from '../../support/weights.js';
import { weightsSite } from './weights-site.js';

const signals = { pairs: [], witnessPairs: [], reported: new Uint32Array(0), shared: new Uint32Array(0) };

function ran(schedule: WeightsSchedule, seq: number, from: number, to: number): void {
  schedule.started(from);
  schedule.computed({ ...weightsOf(0), based_on_seq: seq, computed_at: from, signals }, to - from);
}

/** A schedule, of two seconds unless stated, whose first computation of 1 ms began at t0 with record 5. */
function computedOnce(intervalMs = 2000, durationMs = 1): WeightsSchedule {
  const schedule = new WeightsSchedule(intervalMs, 0, null);
  ran(schedule, 5, t0, t0 + durationMs);
  return schedule;
}

test('weights are computed at once after a change, then at most once an interval, also after a failure', () => {
  const schedule = new WeightsSchedule(2000, 0, null);
  assert.is(schedule.startsAt(0, t0), null, 'nothing to compute from');
  assert.ok(schedule.startsAt(5, t0)! <= t0);
  schedule.started(t0);
  assert.is(schedule.startsAt(6, t0 + 10), null, 'one at a time');
  schedule.ended(10);
  assert.is(schedule.startsAt(6, t0 + 10), t0 + 2000);
  // Found by review: the rest after a computation was taken from a clock that had jumped ahead meanwhile.
  assert.is(schedule.startsAt(6, t0 + 7000 * dayMs), t0 + 2000, 'a clock that jumps ahead puts nothing off');
});

test('the next computation waits four times the last one, however short the interval', () => {
  assert.is(computedOnce(100, 1000).startsAt(6, t0 + 1000), t0 + 1000 + 4000);
});

test('without a new record weights are computed again hourly, since decay moves them', () => {
  const schedule = computedOnce();
  assert.is(schedule.startsAt(5, t0 + 1), t0 + limits.weightsRepublishMs);
  const back = t0 - 10 * limits.weightsRepublishMs;
  assert.is(schedule.startsAt(5, back), back + limits.weightsRepublishMs, 'a clock set back delays it by an hour');
  assert.is(schedule.startsAt(5, back + 1), back + limits.weightsRepublishMs, 'counted from when it was noticed');
});

test('a clock that was set back puts nothing off', () => {
  const back = t0 - 7000 * dayMs;
  assert.ok(computedOnce().startsAt(6, back)! <= back);
});

// Found in the dashboard: after a start of a quiet group no peer had a remark, and no pair was named, for up to an
// hour.
test('a node that starts on published weights computes once, since no record has the signals', () => {
  const schedule = new WeightsSchedule(2000, 5, t0);
  assert.ok(schedule.startsAt(5, t0 + 1)! <= t0 + 1);
  ran(schedule, 5, t0 + 1, t0 + 2);
  assert.is(schedule.startsAt(5, t0 + 2), t0 + 1 + limits.weightsRepublishMs);
});

function workOn(
  pool: object,
  publish: WeightsSite['publish'],
  onFailure: (what: string, error: unknown) => void,
  { now = () => t0, later = (() => () => undefined) as Timers['later'] } = {},
  site: Partial<WeightsSite> = {},
): WeightsWork {
  const deps = {
    pool: pool as GroupPool,
    log: { stored: async () => {} },
    clock: { now },
    timers: { elapsed: () => 0, soon: () => undefined, later },
    observer: { turnCommitted() {}, eventsDecided() {}, workDone() {} },
    weightsIntervalMs: 2000,
    onFailure,
  };
  return new WeightsWork(deps, weightsSite({ publish, ...site }));
}

// Health said that weights took account of all events one commit before they were in force: reads in between knew
// nothing of them.
test('weights count as computed once their record is durable, and not before', async () => {
  const computed: WeightsWithSignals = { ...weightsOf(0), based_on_seq: 5, computed_at: t0, signals };
  const pool = { follow: async () => undefined, weights: async () => computed };
  let durable = (): void => undefined;
  const outcome = new Promise<Outcome<boolean>>((resolve) => {
    durable = () => resolve(granted(true));
  });
  const fails = (_what: string, error: unknown) => assert.unreachable(String(error));
  const work = workOn(pool, () => outcome, fails);
  work.plan();
  await new Promise(setImmediate);
  assert.equal([work.schedule.basedOnSeq, work.schedule.computedAt], [0, null]);
  durable();
  await new Promise(setImmediate);
  assert.equal([work.schedule.basedOnSeq, work.schedule.computedAt], [5, t0]);
});

test('a computation is planned after each one, and after one that failed', async () => {
  const planned: { readonly ms: number; run(): void }[] = [];
  const failures: string[] = [];
  let now = t0;
  let isFailing = true;
  const pool = {
    follow: async () => undefined,
    weights: async () => {
      if (isFailing) throw new Error('the thread ended');
      return { ...weightsOf(0), based_on_seq: 5, computed_at: now, signals };
    },
  };
  const later: Timers['later'] = (run, ms) => {
    planned.push({ ms, run });
    return () => undefined;
  };
  const fails = (_what: string, error: unknown) => failures.push(String(error));
  const work = workOn(pool, async () => granted(true), fails, { now: () => now, later });
  work.plan();
  await new Promise(setImmediate);
  assert.equal([failures, planned.map(({ ms }) => ms)], [['Error: the thread ended'], [2000]]);
  isFailing = false;
  now += 2000;
  planned[0]!.run();
  await new Promise(setImmediate);
  assert.is(work.schedule.computedAt, now);
  assert.equal(
    planned.map(({ ms }) => ms),
    [2000, limits.weightsRepublishMs],
  );
});

test('a node that ends or may not write publishes nothing, and weights that no turn takes are a failure', async () => {
  const state = { ending: false, readOnly: false };
  const [failures, published, planned]: [string[], number[], number[]] = [[], [], []];
  let [computations, cancelled] = [0, 0];
  let meanwhile = (): void => undefined;
  const pool = {
    follow: async () => void computations++,
    weights: async () => {
      meanwhile();
      return { ...weightsOf(3), based_on_seq: 5, computed_at: t0, signals };
    },
  };
  const later: Timers['later'] = (_, ms) => {
    planned.push(ms);
    return () => void cancelled++;
  };
  const run = async (answer: ReturnType<WeightsSite['publish']>) => {
    for (const list of [failures, published, planned]) list.length = 0;
    const publish: WeightsSite['publish'] = (_, bytes) => {
      published.push(bytes);
      return answer;
    };
    const site = { ending: () => state.ending, readOnly: () => state.readOnly };
    const work = workOn(pool, publish, (_, error) => failures.push(String(error)), { later }, site);
    work.plan();
    await new Promise(setImmediate);
    return work;
  };
  const success = Promise.resolve(granted(true));
  for (const name of ['ending', 'readOnly'] as const) {
    state[name] = true;
    await run(success);
    assert.is(computations, 0, `${name} before it begins`);
    state[name] = false;
  }
  for (const name of ['ending', 'readOnly'] as const) {
    meanwhile = () => {
      state[name] = true;
    };
    const { schedule } = await run(success);
    assert.equal([published, planned, failures], [[], [], []], `${name} meanwhile`);
    assert.is(schedule.startsAt(5, t0) === null, name === 'ending', 'a node that may write again begins anew');
    state[name] = false;
  }
  meanwhile = () => {
    state.ending = true;
    throw new Error('the pool was closed');
  };
  await run(success);
  assert.equal([failures, planned], [[], []]);
  [state.ending, meanwhile] = [false, () => undefined];
  await run(null);
  assert.equal([failures, planned], [['Error: the mailbox is full'], [2000]]);
  await run(Promise.resolve(refused('no_leader', { text: 'not me' })));
  assert.equal([failures, planned], [['Error: not me'], [2000]]);
  const work = await run(success);
  assert.equal([published, planned, cancelled], [[3 * 59], [limits.weightsRepublishMs], 0]);
  work.stop();
  assert.is(cancelled, 1);
});

test('evidence of a peer without weights waits a tenth of a second, or ten times the last computation', () => {
  const schedule = new WeightsSchedule(2000, 0, null);
  const startsAfter = (computeMs: number, newVoiceSeq: number): number => {
    schedule.started(t0);
    schedule.computed(
      { ...computed(new Given().peers(2), [1, 1]), based_on_seq: 4, computed_at: t0, signals },
      1,
      computeMs,
    );
    return schedule.startsAt(5, t0 + 1, newVoiceSeq)! - t0;
  };
  assert.equal([startsAfter(9, 5), startsAfter(30, 5), startsAfter(500, 5)], [100, 300, 2000]);
  assert.is(startsAfter(9, 4), 2000, 'the computation included that event');
});

function computed(given: Given, tau: number[], at = t0, witness = [0, 1]) {
  return { ...weightsOf(2, { tau, witness }), based_on_seq: given.state.lastSeq, computed_at: at };
}

test('a vector becomes a record when a value moved by more than a thousandth, or after an hour', () => {
  const given = new Given().peers(2);
  given.event(0, 'a');
  const publishes = (tau: number[], at: number) => {
    const outcome = given.done(decideWeights(given.state, computed(given, tau, at), at), at);
    return outcome.ok && outcome.value;
  };
  // Without an event meanwhile: the record of a vector itself is newer than what the vector was computed from.
  for (const [tau, at, isPublished] of [
    [[1, 0.5], t0, true],
    [[1, 0.5], t0 + 1, false],
    [[1, 0.5009], t0 + 1, false],
    [[1, 0.502], t0 + 1, true],
    [[1, 0.502], t0 + limits.weightsRepublishMs, false],
    [[1, 0.502], t0 + limits.weightsRepublishMs + 1, true],
    [[1, 0.502], t0 + 3 * limits.weightsRepublishMs, true],
  ] as const) {
    assert.is(publishes([...tau], at), isPublished, `${tau} ${at - t0} ms later`);
  }
  const later = t0 + 9 * limits.weightsRepublishMs;
  const again = { ...computed(given, [1, 0.502], later), based_on_seq: given.state.weights.basedOnSeq };
  assert.equal(decideWeights(given.state, again, later).records, [], 'computed from the same records');
});

test('a vector is recorded if a witness group changed or the current one is of an earlier scoring', () => {
  const given = new Given().peers(2);
  given.apply([{ type: 'weights_published', ...computed(given, [1, 1]), measures: null }], t0);
  const publishes = (witness: number[]) => {
    const outcome = given.done(decideWeights(given.state, computed(given, [1, 1], t0, witness), t0));
    return outcome.ok && outcome.value;
  };
  assert.equal(
    [publishes([0, 1]), publishes([0, 1]), publishes([0, 0]), publishes([0, 0])],
    [true, false, true, false],
  );
});

test('evidence is gathered with its present value and the shared players of each peer', () => {
  const given = new Given(30).peers(3);
  given.event(0, 'a');
  given.event(1, 'a', { eventType: 'commendation' });
  given.event(2, 'b', { severity: 0.5 });
  const { judged, facts, sums } = votesOf(given.state, t0 + 30 * dayMs);
  assert.equal([...judged.offsets.subarray(0, judged.players + 1)], [0, 2, 3]);
  assert.equal([...judged.peer], [0, 1, 2]);
  assert.equal([...judged.claims], [0.5, 0.5, 0.25]);
  assert.equal([...judged.x], [1, 0, 1]);
  assert.equal([...facts.preTrusted, ...facts.excluded], [0, 0, 0, 0, 0, 0]);
  assert.equal([...sums.volume], [0.5, 0.5, 0.25]);
  assert.equal([...sums.badVolume], [0.5, 0, 0.25]);
  assert.equal([...sums.reported], [1, 1, 1]);
  assert.equal([...sums.shared], [1, 1, 0]);
});

test('a clock that was set back makes no evidence larger than it was', () => {
  const given = new Given(1).peers(2);
  const ahead = t0 + 40 * dayMs;
  given.event(0, 'a', { timestamp: ahead }, ahead);
  given.event(1, 'b', { timestamp: t0 - 7_300 * dayMs }, t0 - 7_300 * dayMs);
  const { judged } = votesOf(given.state, t0 - 7_300 * dayMs);
  assert.equal([...judged.claims], [1, 1]);
});

test.run();
