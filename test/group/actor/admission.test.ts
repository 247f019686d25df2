/** Admission: bursts into a calm node, and little beyond the work in progress in an overload. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Admission } from '../../../src/group/actor/admission.js';
import type { Holder } from '../../../src/group/ports/pool.js';
import { limits } from '../../../src/limits.js';

const batch = limits.batchEventsMax;
/** Duration of a batch in a turn here: two of them are as much work as may wait in an overload. */
const batchMs = limits.overloadWorkMs / 2;

const flood: Holder = 'flood';

/** A node that has taken a turn of one batch, which a commit of `commitMs` followed. */
function node(commitMs = 1): { nowMs: number; readonly admission: Admission } {
  const made = { nowMs: 0, admission: new Admission((): number => made.nowMs) };
  // From here on it has had more than its share.
  made.admission.offered(flood, limits.shareFirstEvents);
  made.admission.pauses();
  made.admission.turnTaken(batch, batchMs);
  made.admission.committed(commitMs);
  return made;
}

/** A node that had to refuse a batch, since its mailbox was full. */
function overloaded(commitMs?: number) {
  const one = node(commitMs);
  admitted(one);
  return one;
}

/** How many batches are let in, one after the other, while none is taken from the mailbox. */
function admitted({ admission }: ReturnType<typeof node>): number {
  let batches = 0;
  while (admission.admits(batches * batch, batch, flood)) {
    admission.offered(flood, batch);
    batches++;
  }
  return batches;
}

const whole = Math.floor(limits.mailboxEvents / batch);

test('a burst into a calm node is admitted until the mailbox is full', () => {
  const one = node();
  assert.not(one.admission.overloaded);
  assert.is(admitted(one), whole);
  assert.ok(one.admission.overloaded);
});

test('where a turn is slow, a burst is admitted up to so much work', () => {
  const one = node();
  // The mean moves by a tenth of what a turn differs from it: a batch takes 800 ms from here on, and two may wait
  // before a third.
  one.admission.turnTaken(batch, batchMs + 10 * (800 - batchMs));
  assert.is(limits.burstWorkMs, 2_000);
  assert.is(admitted(one), 3);
});

test('turns of few commands do not change the measured time per event', () => {
  const one = node();
  for (let turns = 0; turns < 100; turns++) one.admission.turnTaken(limits.eventsTimed - 1, 10_000);
  assert.is(admitted(one), whole);
});

test('a node that had to refuse admits only little work, and one batch whatever its cost', () => {
  const one = overloaded();
  // Behind two batches waits as much as may wait; a third is let in behind them, and is the last.
  assert.is(admitted(one), 3);
  for (let turns = 0; turns < 100; turns++) one.admission.turnTaken(batch, 1_000);
  assert.is(admitted(one), 2);
});

test('on a slow disk as much work may wait as half of a commit takes', () => {
  const one = overloaded(10 * batchMs);
  assert.is(admitted(one), 6);
});

test('events are always admitted while no more wait than a batch', () => {
  const one = overloaded();
  assert.ok(one.admission.admits(limits.eventsAheadAlways, 1, flood));
  assert.ok(limits.eventsAheadAlways >= batch);
});

test('an overload ends once no event has waited for an interval', () => {
  const one = overloaded();
  one.admission.pauses();
  one.nowMs += limits.overloadRestMs - 1;
  one.admission.offered(null, 1);
  assert.is(admitted(one), 3);
  one.admission.pauses();
  one.nowMs += limits.overloadRestMs;
  one.admission.offered(null, 1);
  assert.not(one.admission.overloaded, 'the event that waits next does not prolong it');
  assert.is(admitted(one), whole);
});

test('a node that events still reach does not rest, though none of them waits in its mailbox', () => {
  const one = overloaded();
  one.admission.pauses();
  one.nowMs += limits.overloadRestMs - 1;
  one.admission.isArriving();
  one.nowMs += limits.overloadRestMs - 1;
  one.admission.offered(null, 1);
  assert.is(admitted(one), 3);
  // Events that arrive while commands wait begin no rest.
  one.admission.isArriving();
  one.nowMs += limits.overloadRestMs;
  assert.is(admitted(one), 3);
});

test('an overload ends once no event was refused for a while, however busy the node is', () => {
  const one = overloaded();
  one.nowMs += limits.overloadEndsMs - 1;
  assert.is(admitted(one), 3);
  one.nowMs += limits.overloadEndsMs;
  assert.not(one.admission.overloaded, 'every caller that asks sees it');
  assert.is(admitted(one), whole);
});

test('an overload continues while batches are refused before admission, as long as many wait', () => {
  for (const [waiting, goesOn] of [
    [limits.eventsAheadAlways, false],
    [limits.eventsAheadAlways + 1, true],
  ] as const) {
    const one = overloaded();
    one.nowMs += limits.overloadEndsMs - 1;
    one.admission.noteRefusal(waiting);
    one.nowMs += 1;
    assert.is(one.admission.overloaded, goesOn, `${waiting} wait`);
  }
});

test('while one holder floods the node, another one is admitted up to half of the mean', () => {
  const one = overloaded();
  const { admission } = one;
  const other: Holder = 'other';
  // The first refusal made it forget the events before.
  const had = 10_000;
  admission.offered(flood, had);
  let events = 0;
  while (admission.admits(limits.mailboxEvents, 1, other)) {
    admission.offered(other, 1);
    events += 1;
  }
  // x = part * (had + x) / 2, and one more whole event may fit.
  const { shareFirst: part } = limits;
  const share = (had * part) / (2 - part);
  assert.ok(share > limits.shareFirstEvents && Math.abs(events - share) <= 1, `${events} of ${had}`);
});

test('each of very many holders is admitted with two batches in each period', () => {
  const { admission } = node();
  const holders = Array.from({ length: 100 }, (_, holder) => holder);
  assert.is(limits.shareFirstEvents, 2 * batch);
  for (const holder of [...holders, ...holders]) {
    assert.ok(admission.admits(limits.mailboxEvents, batch, holder), `${holder}`);
    admission.offered(holder, batch);
  }
  assert.not(admission.admits(limits.mailboxEvents, batch, holders[0]!));
});

test('events admitted while there was room for all do not count against a holder in an overload', () => {
  const one = node();
  const { admission } = one;
  const busy: Holder = 'busy';
  admission.offered(busy, 100_000);
  admitted(one);
  assert.ok(admission.admits(limits.mailboxEvents, batch, busy));
});

test('the count of a holder halves after each period, and is forgotten once it is zero', () => {
  const one = node();
  const { admission } = one;
  const pass = (): void => {
    one.nowMs += limits.sharePeriodMs;
    admission.turnTaken(1, 1);
  };
  const hasRoomFor = (events: number): boolean => admission.hasRoom(flood, events);
  const most = limits.shareFirstEvents;
  assert.not(hasRoomFor(1));
  pass();
  assert.equal([hasRoomFor(most / 2), hasRoomFor(most / 2 + 1)], [true, false]);
  for (let periods = 0; periods < 20; periods++) pass();
  assert.equal([hasRoomFor(most), hasRoomFor(most + 1)], [true, false]);
});

test.run();
