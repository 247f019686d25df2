import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { CoreTime } from '../../bench/neighbours.js';
import { type Machine, Patience } from '../../bench/patience.js';

const lookMs = 100;
const restMs = 250;
const windowMs = 1000;

/** A machine whose looks find these, and the last of them from then on; a look, a rest and a window take their time. */
function machine(cacheReadsNs: number[], coreTimes: (CoreTime | null)[] = [null]) {
  let nowMs = 0;
  const next = <T>(from: T[]): T => (from.length > 1 ? from.shift()! : from[0]!);
  const at: Machine = {
    cacheReadNs() {
      nowMs += lookMs;
      return next(cacheReadsNs);
    },
    coreTime: () => next(coreTimes),
    now: () => nowMs,
    async rest() {
      nowMs += restMs;
    },
  };
  let windows = 0;
  const measure = async () => {
    nowMs += windowMs;
    return ++windows;
  };
  return { at, measure };
}

test('a window that begins and ends on a machine of its own is kept', async () => {
  const { at, measure } = machine([30, 40]);
  const patience = new Patience(10, at);
  assert.is(await patience.measure(measure), 1);
  assert.equal(patience.surroundings, { cacheReadNs: 40, taken: undefined });
  assert.is(patience.note, 'waited 0 s for the machine to be its own, and measured 0 windows again');
});

test('while neighbours hold the cache nothing is measured', async () => {
  const { at, measure } = machine([101, 150, 101, 30, 30]);
  const patience = new Patience(10, at);
  assert.is(await patience.measure(measure), 1);
  assert.is(patience.surroundings.cacheReadNs, 30);
  assert.is(patience.note, 'waited 1 s for the machine to be its own, and measured 0 windows again');
});

test('a window that neighbours came into is measured again', async () => {
  const { at, measure } = machine([30, 101, 30, 30]);
  const patience = new Patience(10, at);
  assert.is(await patience.measure(measure), 2);
  assert.is(patience.surroundings.cacheReadNs, 30);
  assert.is(patience.note, 'waited 1 s for the machine to be its own, and measured 1 windows again');
});

test('so is one in which the host took the cores', async () => {
  const times = [
    { worked: 0, taken: 0 },
    { worked: 80, taken: 20 },
    { worked: 100, taken: 20 },
    { worked: 200, taken: 20 },
  ];
  const { at, measure } = machine([30], times);
  const patience = new Patience(10, at);
  assert.is(await patience.measure(measure), 2);
  assert.is(patience.surroundings.taken, 0);
});

test('what the host took of the cores is that of all kept windows together', async () => {
  const times = [
    { worked: 0, taken: 0 },
    { worked: 198, taken: 2 },
    { worked: 500, taken: 50 },
    { worked: 700, taken: 50 },
  ];
  const { at, measure } = machine([30], times);
  const patience = new Patience(10, at);
  await patience.measure(measure);
  await patience.measure(measure);
  assert.is(patience.surroundings.taken, 2 / 400);
});

test('once patience is at its end windows are kept as they come, and what stood around them is told', async () => {
  const { at, measure } = machine([200, 200, 200, 30, 300, 30, 30]);
  const patience = new Patience(1, at);
  // Three looks with their rests take 1.05 s.
  assert.is(await patience.measure(measure), 1);
  assert.is(patience.surroundings.cacheReadNs, 300);
  assert.is(await patience.measure(measure), 2);
  assert.is(patience.surroundings.cacheReadNs, 300);
});

test.run();
