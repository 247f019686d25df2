/** Rests of a computation, by a clock that only moves when something is done. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Rests } from '../../src/workers/rests.js';

/** What a rest takes, more than it asks for. */
const sleptMs = 0.1;
/** What is worked between two calls of `pause`. */
const stepMs = 0.03125;

function restsOf() {
  let now = 5;
  const slept: number[] = [];
  const rests = new Rests({
    now: () => now,
    sleep(ms) {
      slept.push(ms);
      now += sleptMs;
    },
  });
  const work = (ms: number) => {
    for (let step = 0; step < ms / stepMs; step++) {
      now += stepMs;
      rests.pause();
    }
  };
  /** How often it rests in a computation that works for so long. */
  const computing = (ms: number) => {
    slept.splice(0);
    rests.during(() => work(ms));
    return slept.length;
  };
  return { rests, slept, work, computing };
}

test('a computation rests as soon as it has worked for six hundredths of a millisecond', () => {
  const { slept, computing } = restsOf();
  assert.is(computing(100), 100 / (2 * stepMs));
  assert.equal([...new Set(slept)], [0.02]);
});

test('rests are as long together as the last computation left of nine tenths of a second', () => {
  const { computing } = restsOf();
  computing(500);
  const rested = computing(500);
  assert.ok(Math.abs(rested - 400 / sleptMs) <= 1, `${rested} rests`);
  assert.is(computing(700), rested);
  assert.is(computing(700), 0, 'too little is left for most of it');
  assert.is(computing(20_000), 0);
  assert.is(computing(100), 0);
  assert.is(computing(100), 100 / (2 * stepMs));
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
