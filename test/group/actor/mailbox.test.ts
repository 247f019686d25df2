/** The queue contains exactly the waiting commands. */
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Mailbox } from '../../../src/group/actor/mailbox.js';
import type { Holder } from '../../../src/group/ports/pool.js';
import { limits } from '../../../src/limits.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const batch = limits.batchEventsMax;

const envelope = <C>(command: C, events: number, holder: Holder | null = null, bytes = 1) => {
  return { command, token: null, events, bytes, holder };
};

/** A mailbox of named commands: `put` enters one that fits, `turn` takes the names of a turn's. */
function named() {
  const mailbox = new Mailbox<string, null>();
  const put = (...given: Parameters<typeof envelope<string>>) => assert.ok(mailbox.offer(envelope(...given)), given[0]);
  const turn = (events?: number, bytes: number = limits.turnBytes) =>
    mailbox.takeTurn(events === undefined ? undefined : { events, bytes }).map(({ command }) => command);
  const counts = () => [mailbox.empty, mailbox.events, mailbox.bytes];
  return { mailbox, put, turn, counts };
}

test('a turn takes commands in order, up to its bounds, and leaves the rest', () => {
  const { mailbox, put, turn, counts } = named();
  const events = limits.mailboxEvents / 4;
  for (const command of ['0', '1', '2', '3']) put(command, events);
  assert.not(mailbox.offer(envelope('4', 1)), 'it is full');
  assert.equal([turn(2 * events), turn(2 * events), turn(2 * events)], [['0', '1'], ['2', '3'], []]);
  assert.equal(counts(), [true, 0, 0]);
  for (const bytes of [2, 1, 1]) put(`${bytes} bytes`, 9, null, bytes);
  assert.equal(turn(100, 3), ['2 bytes', '1 bytes'], 'up to exactly the bytes');
  assert.equal(turn(100, 0), ['1 bytes'], 'one command in any case');
});

test('a holder with few events does not wait behind the queue of another', () => {
  const { put, turn, counts } = named();
  for (let round = 0; round < 4; round++) {
    put(`first ${round}`, batch, 1);
    put(`second ${round}`, batch, 2);
  }
  put('event', 1, 3);
  put('registration', 1);
  assert.equal(turn(batch + 2), ['event', 'registration', 'first 0']);
  // Those with equal queues take turns, and the commands of each stay in order.
  assert.equal(turn(2 * batch), ['second 0', 'first 1']);
  put('small batch', limits.fairShareEvents, 3);
  assert.equal(turn(batch + limits.fairShareEvents), ['second 1', 'small batch']);
  assert.equal(turn(limits.mailboxEvents), ['first 2', 'second 2', 'first 3', 'second 3']);
  assert.equal(counts(), [true, 0, 0]);
});

test('a command of few events waits for at most one turn of batches, which is short then', () => {
  const { put, turn } = named();
  for (let n = 0; n < 12; n++) put(`batch ${n}`, batch, 1);
  assert.equal(turn(), ['batch 0', 'batch 1', 'batch 2', 'batch 3'], 'nobody else waits');
  const few = limits.fairShareEvents - 1;
  put('event', 1, 2);
  put('few events', few, 3);
  put('behind its own', 1, 1);
  assert.equal(turn(), ['event', 'few events'], 'without the batches that came before');
  put('few events', few, 3);
  assert.equal(turn(), ['few events', 'batch 4'], 'the batch alone, and few events before it');
  put('few events', few, 3);
  assert.equal([turn(), turn()], [['few events'], ['batch 5']]);
  assert.equal(turn(), ['batch 6', 'batch 7', 'batch 8', 'batch 9'], 'a long turn again, since nobody waits');
  assert.equal([turn(), turn()], [['batch 10', 'batch 11'], ['behind its own']], 'one holder, in its order');
});

test('however many small commands come, a batch has every second turn, or its share where turns are short', () => {
  for (const [bounds, least] of [
    [{ events: limits.turnEvents, bytes: limits.turnBytes }, 5],
    // Without turns of their own, a batch and few events take turns by their size.
    [{ events: limits.clusterTurnEvents, bytes: limits.clusterTurnBytes }, 1],
  ] as const) {
    const { mailbox, put, turn } = named();
    const few = limits.fairShareEvents - 1;
    for (let n = 0; n < 5; n++) put('batch', batch, 1);
    let batches = 0;
    for (let round = 0; round < 10; round++) {
      for (let n = 0; n < bounds.events / few; n++) mailbox.offer(envelope('few', few, 2 + n));
      batches += turn(bounds.events, bounds.bytes).filter((command) => command === 'batch').length;
    }
    assert.is(batches, least, `of 10 turns with at most ${bounds.events} events`);
  }
});

test('many registrations, which are commands of few events with many bytes, leave batches their turns', () => {
  const { mailbox, put } = named();
  const bytes = limits.eventBodyBytes;
  for (let n = 0; n < 5; n++) put('batch', batch, 1, bytes);
  let batches = 0;
  for (let round = 0; round < 10; round++) {
    while (mailbox.bytes < 2 * limits.turnBytes) put('registration', 1, null, bytes);
    const turn = mailbox.takeTurn();
    assert.ok(turn.reduce((sum, one) => sum + one.bytes, 0) <= limits.turnBytes);
    assert.is(turn[0]!.command, 'registration');
    batches += turn.filter(({ command }) => command === 'batch').length;
  }
  assert.is(batches, 5, 'one in every second turn');
});

test('a command is refused whole if it does not fit by its events or its bytes', () => {
  const { mailbox, put, counts } = named();
  for (const command of ['0', '1']) put(command, 1, null, limits.mailboxBytes / 2);
  assert.not(mailbox.offer(envelope('2', 1)));
  assert.equal(counts(), [false, 2, limits.mailboxBytes]);
  for (const command of ['0', '1']) assert.is(mailbox.takeTurn()[0]!.command, command);
  put('events', limits.mailboxEvents - 1);
  assert.not(mailbox.offer(envelope('batch', 2)));
  assert.is(mailbox.events, limits.mailboxEvents - 1);
});

test('a full mailbox takes events of a holder with fewer, and drops the newest of the one with the most', () => {
  const { mailbox, put, turn, counts } = named();
  const half = limits.mailboxEvents / 2;
  for (const command of ['first', 'second']) put(command, half, 1);
  const fresh = envelope('fresh', half - 1, 2);
  const pushedOut = (by: typeof fresh) => mailbox.pushOutFor(by).map(({ command }) => command);
  assert.not(mailbox.offer(fresh));
  assert.equal(pushedOut(fresh), ['second']);
  assert.ok(mailbox.offer(fresh));
  assert.equal(pushedOut(envelope('more', 2, 2)), [], 'it has nearly as many now: nobody gives way to more of it');
  assert.is(mailbox.events, limits.mailboxEvents - 1);
  assert.equal([...turn(), ...turn()].sort(), ['first', 'fresh']);
  assert.equal(counts(), [true, 0, 0]);
});

test('a command without a holder neither gives way to another nor pushes one out', () => {
  for (const [inside, outside] of [
    [null, 1],
    [1, null],
  ]) {
    const { mailbox, put } = named();
    put('inside', limits.mailboxEvents, inside);
    assert.equal(mailbox.pushOutFor(envelope('outside', 1, outside)), [], `by ${outside}`);
    assert.is(mailbox.events, limits.mailboxEvents);
  }
});

test('nothing that a turn took stays in memory, however long the mailbox is never empty', async () => {
  const mailbox = new Mailbox<object, null>();
  const taken: WeakRef<object>[] = [];
  const refill = (): void => {
    while (mailbox.offer(envelope({}, batch))) assert.not(mailbox.empty);
  };
  refill();
  for (let turn = 0; turn < 50; turn++) {
    for (const { command } of mailbox.takeTurn()) taken.push(new WeakRef(command));
    refill();
  }
  // A referenced object lives until the job is over.
  await turnOfLoop();
  collect();
  assert.ok(taken.length > 100);
  // The newest may still lie on the stack of this test.
  assert.ok(taken.filter((one) => one.deref() !== undefined).length <= limits.turnEvents / batch);
});

test.run();
