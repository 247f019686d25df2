/** How a computation gives way, by a clock that only moves when something is done. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Rests } from '../../src/workers/rests.js';

/** What is worked between two calls of `pause`, and what a sleep takes beyond what it was asked for, ms. */
const stepMs = 0.015625;
const overMs = 0.0625;

function restsOf() {
  let now = 5;
  let tookMs = 0;
  let gaveWay = 0;
  const slept: number[] = [];
  const rests = new Rests({
    now: () => now,
    giveWay() {
      gaveWay++;
    },
    sleep(ms) {
      slept.push(ms);
      now += ms + overMs;
    },
  });
  const work = (ms: number) => {
    for (let step = 0; step < ms / stepMs; step++) {
      now += stepMs;
      rests.pause();
    }
  };
  /** What a computation that works for so long does, and how long all of it takes. */
  const computing = (ms: number) => {
    slept.splice(0);
    gaveWay = 0;
    const started = now;
    rests.during(() => work(ms));
    tookMs = now - started;
    return { slept: [...slept], gaveWay };
  };
  return { rests, work, computing, took: () => tookMs, idle: () => slept.length === 0 && gaveWay === 0 };
}

test('a computation gives way as soon as it has worked for three hundredths of a millisecond, and sleeps after two', () => {
  const { computing } = restsOf();
  const { slept, gaveWay } = computing(100);
  assert.is(slept.length, 100 / 2);
  // Every second step, but where it sleeps.
  assert.is(gaveWay, 100 / (2 * stepMs) - slept.length);
});

test('a short computation sleeps three times as long as it works', () => {
  const { computing, took } = restsOf();
  assert.equal([...new Set(computing(100).slept)], [6]);
  assert.equal([...new Set(computing(100).slept)], [6]);
  assert.is(took(), 400 + 50 * overMs);
});

test('a longer one sleeps as long as the last one left of nine tenths of a second, over all of it', () => {
  const { computing, took } = restsOf();
  computing(500);
  const { slept } = computing(500);
  assert.equal([...new Set(slept)], [1.6]);
  assert.is.not(slept.length, 0);
  assert.ok(took() > 900 - 1.6 - overMs && took() <= 900, `${took()}`);
  assert.equal([...new Set(computing(250).slept)], [1.6], 'by what the last one worked');
});

test('once it has slept for as long it only gives way, and so does one that takes as long by itself', () => {
  const { computing, took } = restsOf();
  computing(300);
  const { slept, gaveWay } = computing(2_000);
  assert.is(slept.length, Math.floor(600 / (4 + overMs)));
  assert.ok(gaveWay > 2_000 / (2 * stepMs) - 200, `${gaveWay}`);
  const next = computing(1_000);
  assert.equal(next, { slept: [], gaveWay: 1_000 / (2 * stepMs) });
  assert.is(took(), 1_000);
});

test('nothing rests outside of a computation, nor after one that failed', () => {
  const { rests, work, idle } = restsOf();
  work(10);
  assert.throws(() =>
    rests.during(() => {
      throw new Error('damaged');
    }),
  );
  work(10);
  assert.ok(idle());
});

test.run();
