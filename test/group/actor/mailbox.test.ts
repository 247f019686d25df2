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

test('a turn takes commands in order, up to its bounds, and leaves the rest', () => {
  const mailbox = new Mailbox<number, null>();
  const events = limits.mailboxEvents / 4;
  for (let command = 0; command < 4; command++)
    assert.ok(mailbox.offer({ command, token: null, events, bytes: 1, holder: null }));
  assert.not(mailbox.offer({ command: 4, token: null, events: 1, bytes: 1, holder: null }), 'it is full');
  const takeTurn = () => mailbox.takeTurn({ events: 2 * events, bytes: limits.turnBytes });
  assert.equal(
    [takeTurn(), takeTurn(), takeTurn()].map((mails) => mails.map(({ command }) => command)),
    [[0, 1], [2, 3], []],
  );
  assert.equal([mailbox.empty, mailbox.events, mailbox.bytes], [true, 0, 0]);
  for (const bytes of [2, 1, 1])
    assert.ok(mailbox.offer({ command: bytes, token: null, events: 9, bytes, holder: null }));
  const taken = [3, 0].map((bytes) => mailbox.takeTurn({ events: 100, bytes }).map(({ command }) => command));
  assert.equal(taken, [[2, 1], [1]], 'up to exactly the bytes, and one command in any case');
});

test('a holder with few events does not wait behind the queue of another', () => {
  const mailbox = new Mailbox<string, null>();
  const put = (command: string, holder: Holder | null, events: number) =>
    assert.ok(mailbox.offer({ command, token: null, events, bytes: 1, holder }));
  const turn = (events: number) => mailbox.takeTurn({ events, bytes: limits.turnBytes }).map(({ command }) => command);
  const batch = limits.batchEventsMax;
  for (let round = 0; round < 4; round++) {
    put(`first ${round}`, 1, batch);
    put(`second ${round}`, 2, batch);
  }
  put('event', 3, 1);
  put('registration', null, 1);
  assert.equal(turn(batch + 2), ['event', 'registration', 'first 0']);
  // Those with equal queues take turns, and the commands of each stay in order.
  assert.equal(turn(2 * batch), ['second 0', 'first 1']);
  put('small batch', 3, limits.fairShareEvents);
  assert.equal(turn(batch + limits.fairShareEvents), ['second 1', 'small batch']);
  assert.equal(turn(limits.mailboxEvents), ['first 2', 'second 2', 'first 3', 'second 3']);
  assert.equal([mailbox.events, mailbox.bytes, mailbox.empty], [0, 0, true]);
});

test('a command of few events waits for at most one turn of batches, which is short then', () => {
  const mailbox = new Mailbox<string, null>();
  const put = (command: string, holder: Holder, events: number) =>
    assert.ok(mailbox.offer({ command, token: null, events, bytes: 1, holder }));
  const turn = () => mailbox.takeTurn().map(({ command }) => command);
  const flood = (count: number) => {
    for (let n = 0; n < count; n++) put(`batch ${n}`, 1, limits.batchEventsMax);
  };
  flood(12);
  assert.equal(turn(), ['batch 0', 'batch 1', 'batch 2', 'batch 3'], 'nobody else waits');
  put('event', 2, 1);
  put('few events', 3, limits.fairShareEvents - 1);
  put('behind its own', 1, 1);
  assert.equal(turn(), ['event', 'few events'], 'without the batches that came before');
  put('few events', 3, limits.fairShareEvents - 1);
  assert.equal(turn(), ['few events', 'batch 4'], 'the batch alone, and few events before it');
  put('few events', 3, limits.fairShareEvents - 1);
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
    const mailbox = new Mailbox<string, null>();
    const put = (command: string, holder: Holder, events: number) =>
      mailbox.offer({ command, token: null, events, bytes: 1, holder });
    const few = limits.fairShareEvents - 1;
    for (let n = 0; n < 5; n++) put('batch', 1, limits.batchEventsMax);
    let batches = 0;
    for (let round = 0; round < 10; round++) {
      for (let n = 0; n < bounds.events / few; n++) put('few', 2 + n, few);
      batches += mailbox.takeTurn(bounds).filter((taken) => taken.command === 'batch').length;
    }
    assert.is(batches, least, `of 10 turns with at most ${bounds.events} events`);
  }
});

test('many registrations, which are commands of few events with many bytes, leave batches their turns', () => {
  const mailbox = new Mailbox<string, null>();
  const bytes = limits.eventBodyBytes;
  for (let n = 0; n < 5; n++)
    assert.ok(mailbox.offer({ command: 'batch', token: null, events: limits.batchEventsMax, bytes, holder: 1 }));
  let batches = 0;
  for (let round = 0; round < 10; round++) {
    const registration = { command: 'registration', token: null, events: 1, bytes, holder: null };
    while (mailbox.bytes < 2 * limits.turnBytes) assert.ok(mailbox.offer(registration));
    const turn = mailbox.takeTurn();
    assert.ok(turn.reduce((sum, one) => sum + one.bytes, 0) <= limits.turnBytes);
    assert.is(turn[0]!.command, 'registration');
    batches += turn.filter(({ command }) => command === 'batch').length;
  }
  assert.is(batches, 5, 'one in every second turn');
});

test('few commands fill it by their bytes', () => {
  const mailbox = new Mailbox<number, null>();
  const bytes = limits.mailboxBytes / 2;
  for (let command = 0; command < 2; command++)
    assert.ok(mailbox.offer({ command, token: null, events: 1, bytes, holder: null }));
  assert.not(mailbox.offer({ command: 2, token: null, events: 1, bytes: 1, holder: null }));
  assert.equal([mailbox.events, mailbox.bytes], [2, limits.mailboxBytes]);
});

test('a full mailbox takes events of a holder with fewer, and drops the newest of the one with the most', () => {
  const mailbox = new Mailbox<string, null>();
  const [many, few]: Holder[] = [1, 2];
  const envelope = (command: string, holder: Holder, events: number) => ({
    command,
    token: null,
    events,
    bytes: 1,
    holder,
  });
  const half = limits.mailboxEvents / 2;
  for (const command of ['first', 'second']) assert.ok(mailbox.offer(envelope(command, many!, half)));
  const fresh = envelope('fresh', few!, half - 1);
  assert.not(mailbox.offer(fresh));
  assert.equal(
    mailbox.pushOutFor(fresh).map(({ command }) => command),
    ['second'],
  );
  assert.ok(mailbox.offer(fresh));
  // It has nearly as many now: nobody gives way to more of it.
  assert.equal(mailbox.pushOutFor(envelope('more', few!, 2)), []);
  assert.equal(mailbox.events, limits.mailboxEvents - 1);
  assert.equal(
    [mailbox.takeTurn(), mailbox.takeTurn()]
      .flat()
      .map(({ command }) => command)
      .sort(),
    ['first', 'fresh'],
  );
  assert.equal([mailbox.events, mailbox.bytes], [0, 0]);
});

test('a command without a holder never gives way', () => {
  const mailbox = new Mailbox<string, null>();
  assert.ok(mailbox.offer({ command: 'own', token: null, events: limits.mailboxEvents, bytes: 1, holder: null }));
  assert.equal(mailbox.pushOutFor({ command: 'event', token: null, events: 1, bytes: 1, holder: 1 }), []);
});

test('a command without a holder pushes out no other command', () => {
  const mailbox = new Mailbox<string, null>();
  assert.ok(mailbox.offer({ command: 'event', token: null, events: limits.mailboxEvents, bytes: 1, holder: 1 }));
  assert.equal(mailbox.pushOutFor({ command: 'own', token: null, events: 1, bytes: 1, holder: null }), []);
  assert.is(mailbox.events, limits.mailboxEvents);
});

test('nothing that a turn took stays in memory, however long the mailbox is never empty', async () => {
  const mailbox = new Mailbox<object, null>();
  const taken: WeakRef<object>[] = [];
  const offer = (): boolean =>
    mailbox.offer({ command: {}, token: null, events: limits.batchEventsMax, bytes: 1, holder: null });
  const refill = (): void => {
    while (offer()) assert.not(mailbox.empty);
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
  const turn = limits.turnEvents / limits.batchEventsMax;
  assert.ok(taken.filter((one) => one.deref() !== undefined).length <= turn);
});

test.run();
