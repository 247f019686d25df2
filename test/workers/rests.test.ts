/** Rests of a computation, by a clock that only moves when something is done. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Rests } from '../../src/workers/rests.js';

/** What a rest takes, more than it asks for. */
const sleptMs = 0.125;
/** What is worked between two calls of `pause`. */
const stepMs = 0.015625;

function restsOf() {
  let now = 5;
  let tookMs = 0;
  let restMs = sleptMs;
  const slept: number[] = [];
  const rests = new Rests({
    now: () => now,
    sleep(ms) {
      slept.push(ms);
      now += restMs;
    },
  });
  const work = (ms: number) => {
    for (let step = 0; step < ms / stepMs; step++) {
      now += stepMs;
      rests.pause();
    }
  };
  const slow = (ms: number) => {
    restMs = ms;
  };
  /** How often it rests in a computation that works for so long, and how long all of it takes. */
  const computing = (ms: number) => {
    slept.splice(0);
    const started = now;
    rests.during(() => work(ms));
    tookMs = now - started;
    return slept.length;
  };
  return { rests, slept, work, computing, took: () => tookMs, slow };
}

test('a computation rests as soon as it has worked for three hundredths of a millisecond', () => {
  const { slept, computing } = restsOf();
  assert.is(computing(100), 100 / (2 * stepMs));
  assert.equal([...new Set(slept)], [0.01]);
});

test('rests of a long computation are further apart, so that with them it takes nine tenths of a second', () => {
  const { computing, took } = restsOf();
  computing(500);
  // 5 / 4 of a rest's length is worked for each.
  assert.is(computing(500), 3_200);
  assert.is(took(), 900);
  assert.is(computing(250), 1_600, 'by what the last one worked');
  computing(600);
  assert.is(computing(600), 2_400);
  assert.is(took(), 900);
});

test('rests are no longer together than the last computation left, and no further apart than they are of use', () => {
  const { computing } = restsOf();
  computing(300);
  assert.is(computing(2_000), 600 / sleptMs);
  assert.is(computing(700), 0);
  // 0.25 ms of work for each, until the time is up.
  assert.is(computing(500), 200 / sleptMs);
  assert.is(computing(100), 3_200 / 5);
  assert.is(computing(100), 100 / (2 * stepMs));
});

test('rests that took long once are further apart the next time only', () => {
  const { computing, slow } = restsOf();
  computing(500);
  slow(0.5);
  assert.is(computing(500), 800);
  slow(sleptMs);
  assert.is(computing(500), 500 / 0.25);
  assert.is(computing(500), 3_200);
});

test('nothing rests outside of a computation, nor after one that failed', () => {
  const { rests, slept, work } = restsOf();
  work(10);
  assert.throws(() =>
    rests.during(() => {
      throw new Error('damaged');
    }),
  );
  work(10);
  assert.is(slept.length, 0);
});

test('by the clock of the system a rest ends by itself', () => {
  const rests = new Rests();
  let paused = 0;
  const computed = rests.during(() => {
    for (; paused < 1_000_000; paused++) rests.pause();
    return 'weights';
  });
  assert.is(computed, 'weights');
  assert.is(paused, 1_000_000);
});

test.run();
