/** How a computation gives way, by a clock that only moves when something is done. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Rests } from '../../src/workers/rests.js';

/** What is worked between two calls of `pause`, and what a sleep takes beyond what it was asked for, ms. */
const stepMs = 0.015625;
const overMs = 0.0625;
/** Work between two times that it gives way, where that takes no time. */
const pieceMs = 2 * stepMs;

/** `giveMs`: what giving way takes, and `turnMs` more each third time, in which others have their turn. */
function restsOf(giveMs = 0, turnMs = 0) {
  let now = 5;
  let tookMs = 0;
  let gaveWay = 0;
  const slept: number[] = [];
  const rests = new Rests({
    now: () => now,
    giveWay() {
      gaveWay++;
      now += giveMs + (gaveWay % 3 === 0 ? turnMs : 0);
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
  return { rests, work, computing, took: () => tookMs, isIdle: () => slept.length === 0 && gaveWay === 0 };
}

test('a computation gives way as soon as it has worked for three hundredths of a millisecond, and sleeps after two', () => {
  const { computing } = restsOf();
  const { slept, gaveWay } = computing(100);
  assert.is(slept.length, 100 / 2);
  // Each time but where it sleeps.
  assert.is(gaveWay, 100 / pieceMs - slept.length);
});

test('a short computation sleeps three times as long as it works', () => {
  const { computing, took } = restsOf();
  for (let time = 0; time < 2; time++) assert.equal([...new Set(computing(100).slept)], [6]);
  assert.is(took(), 400 + 50 * overMs);
});

test('a longer one sleeps as long as the last one left of nine tenths of a second, over all of it', () => {
  const { computing, took } = restsOf();
  computing(500);
  const { slept } = computing(500);
  assert.equal([...new Set(slept)], [1.6]);
  assert.ok(took() > 900 - 1.6 - overMs && took() <= 900, `${took()}`);
  assert.equal([...new Set(computing(250).slept)], [1.6], 'by what the last one worked');
});

test('once it has slept for as long it only gives way, and so does one that takes as long by itself', () => {
  const { computing, took } = restsOf();
  computing(300);
  const { slept, gaveWay } = computing(2_000);
  assert.is(slept.length, Math.floor(600 / (4 + overMs)));
  assert.ok(gaveWay > 2_000 / pieceMs - 200, `${gaveWay}`);
  assert.equal(computing(1_000), { slept: [], gaveWay: 1_000 / pieceMs });
  assert.is(took(), 1_000);
});

test('where giving way takes long a computation does it less often, so that all of it fits into nine tenths of a second', () => {
  const { computing, took } = restsOf(0.06);
  computing(500);
  // 5 / 4 of what giving way takes is worked each time, in whole steps.
  assert.equal(computing(500), { slept: [], gaveWay: 500 / (5 * stepMs) });
  assert.ok(took() > 880 && took() <= 900, `${took()}`);
});

test('what others take of it does not count', () => {
  const { computing } = restsOf(0.005, 0.5);
  computing(500);
  assert.is(computing(500).gaveWay, 500 / pieceMs);
});

test('where no time is left it takes a sixteenth of the work at most, as often as it is of use', () => {
  const quick = restsOf(0.005);
  quick.computing(1_000);
  assert.is(quick.computing(1_000).gaveWay, Math.floor(1_000 / (6 * stepMs)));
  assert.ok(quick.took() < 1_000 * (17 / 16), `${quick.took()}`);
  const slow = restsOf(0.5);
  slow.computing(1_000);
  assert.is(slow.computing(1_000).gaveWay, 1_000 / 0.25);
});

test('nothing rests outside of a computation, nor after one that failed', () => {
  const { rests, work, isIdle } = restsOf();
  work(10);
  assert.throws(() =>
    rests.during(() => {
      throw new Error('damaged');
    }),
  );
  work(10);
  assert.ok(isIdle());
});

test.run();
