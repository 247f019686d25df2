/** A computation of weights by its steps: their order, their times, and weights that others publish meanwhile. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { granted } from '../../../src/errors.js';
import { WeightsSchedule, type WeightsSite, WeightsWork } from '../../../src/group/weights/weights-computation.js';
import { limits } from '../../../src/limits.js';
import { t0 } from '../../support/given.js';
import { weightsOf } from '../../support/weights.js';
import { weightsSite } from './weights-site.js';

const signals = { pairs: [], witnessPairs: [], reported: new Uint32Array(0), shared: new Uint32Array(0) };
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Work whose every step takes a time of its own; `said` holds the steps, and `reported` what the observer was told. */
function timedWork(site: Partial<WeightsSite> = {}) {
  let elapsed = 1_000;
  let cancelled = 0;
  const said: string[] = [];
  const reported: (readonly [what: string, isDone: boolean, ms: number])[] = [];
  const failures: string[] = [];
  const step = async (name: string, ms: number) => {
    await settled();
    said.push(name);
    elapsed += ms;
  };
  const computed = { ...weightsOf(0), based_on_seq: 5, computed_at: t0, signals };
  const deps = {
    pool: {
      follow: (upTo: number) => step(`follow ${upTo}`, 3_000),
      weights: async (upTo: number, at: number) => {
        await step(`weights ${upTo} ${at - t0}`, 50);
        return computed;
      },
    },
    log: {
      async stored() {
        // Whoever does not wait for it begins before it ends.
        await settled();
        await step('stored', 200);
      },
    },
    clock: { now: () => t0 },
    timers: { elapsed: () => elapsed, soon: () => undefined, later: () => () => cancelled++ },
    observer: {
      turnCommitted: () => undefined,
      eventsDecided: () => undefined,
      workDone: (...told: [what: string, isDone: boolean, ms: number]) => reported.push(told),
    },
    weightsIntervalMs: 2_000,
    onFailure: (what: string, error: unknown) => failures.push(`${what}: ${error}`),
  };
  const publish = async () => {
    await step('published', 7);
    return granted(true);
  };
  const work = new WeightsWork(deps as never, weightsSite({ publish, ...site }));
  const untilPlanned = async () => {
    while (work.schedule.startsAt(5, t0) === null) await settled();
  };
  return { work, said, reported, failures, untilPlanned, cancelled: () => cancelled };
}

const restOf = ({ schedule }: WeightsWork) => schedule.startsAt(6, t0)! - t0;

test('the pool reads what the files hold, and the time of publishing is no time of the computation', async () => {
  const { work, said, reported, untilPlanned } = timedWork();
  work.plan();
  await untilPlanned();
  assert.equal(said, ['stored', 'follow 5', 'weights 5 0', 'published']);
  assert.equal(reported, [['weights', true, 3_250]]);
  // Other evidence waits for four times the whole, a new voice for ten times the computation alone.
  assert.is(restOf(work), 5 * 3_250);
  assert.is(work.schedule.startsAt(6, t0, 6)! - t0, limits.weightsQuickFactor * 50);
  assert.is(work.schedule.startsAt(6, t0, 5)! - t0, 5 * 3_250, 'that voice was counted');
});

test('weights that find no room are reported as failed; those of a node that may no longer write are not', async () => {
  const full = timedWork({ publish: () => null });
  full.work.plan();
  await full.untilPlanned();
  assert.equal(full.reported, [['weights', false, 3_250]]);
  assert.equal(full.failures, ['computing peer weights: Error: the mailbox is full']);
  assert.is(restOf(full.work), 5 * 3_250);
  let mayWrite = true;
  const follower = timedWork({ readOnly: () => !mayWrite });
  follower.work.plan();
  mayWrite = false;
  await follower.untilPlanned();
  assert.equal([follower.reported, follower.said.at(-1)], [[], 'weights 5 0']);
  assert.is(restOf(follower.work), 5 * 3_250);
});

test('a new plan takes the place of the one before', async () => {
  const { work, cancelled, untilPlanned } = timedWork();
  work.plan();
  await untilPlanned();
  await settled();
  for (const before of [0, 1, 2]) {
    assert.is(cancelled(), before);
    work.plan();
  }
});

test('weights that another node published count as computed, older ones do not', () => {
  const schedule = new WeightsSchedule(2_000, 5, t0);
  const seen = (basedOnSeq: number, at: number) => {
    schedule.published(basedOnSeq, at);
    return [schedule.basedOnSeq, schedule.computedAt];
  };
  assert.equal(seen(4, t0 + 1), [5, t0]);
  assert.equal(seen(5, t0 + 1), [5, t0]);
  assert.equal(seen(6, t0 + 1), [6, t0 + 1]);
});

test.run();
