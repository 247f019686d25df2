/** The queue contains exactly the waiting commands. */
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Mailbox } from '../../../src/group/actor/mailbox.js';
import type { Share } from '../../../src/group/actor/shares.js';
import { limits } from '../../../src/limits.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

test('a turn takes commands in order, up to its bounds, and leaves the rest', () => {
  const mailbox = new Mailbox<number, null>();
  const events = limits.turnEvents / 2;
  for (let command = 0; command < 4; command++)
    assert.ok(mailbox.offer({ command, token: null, events, bytes: 1, share: null }));
  assert.not(mailbox.offer({ command: 4, token: null, events: 1, bytes: 1, share: null }), 'it is full');
  assert.equal(
    [mailbox.takeTurn(), mailbox.takeTurn(), mailbox.takeTurn()].map((mails) => mails.map(({ command }) => command)),
    [[0, 1], [2, 3], []],
  );
  assert.equal([mailbox.empty, mailbox.events, mailbox.bytes], [true, 0, 0]);
});

test('few commands fill it by their bytes', () => {
  const mailbox = new Mailbox<number, null>();
  const bytes = limits.mailboxBytes / 2;
  for (let command = 0; command < 2; command++)
    assert.ok(mailbox.offer({ command, token: null, events: 1, bytes, share: null }));
  assert.not(mailbox.offer({ command: 2, token: null, events: 1, bytes: 1, share: null }));
  assert.equal([mailbox.events, mailbox.bytes], [2, limits.mailboxBytes]);
});

test('a full mailbox takes events of a holder with fewer, and drops the newest of the one with the most', () => {
  const mailbox = new Mailbox<string, null>();
  const [many, few] = [
    { waiting: 0, recent: 0 },
    { waiting: 0, recent: 0 },
  ];
  const mail = (command: string, share: Share, events: number) => ({ command, token: null, events, bytes: 1, share });
  const half = limits.mailboxEvents / 2;
  for (const command of ['first', 'second']) assert.ok(mailbox.offer(mail(command, many, half)));
  const fresh = mail('fresh', few, half - 1);
  assert.not(mailbox.offer(fresh));
  assert.equal(
    mailbox.pushOutFor(fresh).map(({ command }) => command),
    ['second'],
  );
  assert.ok(mailbox.offer(fresh));
  // It has nearly as many now: nobody gives way to more of it.
  assert.equal(mailbox.pushOutFor(mail('more', few, 2)), []);
  assert.equal([many.waiting, few.waiting, mailbox.events], [half, half - 1, limits.mailboxEvents - 1]);
  assert.equal(
    [mailbox.takeTurn(), mailbox.takeTurn()].flat().map(({ command }) => command),
    ['first', 'fresh'],
  );
  assert.equal([many.waiting, few.waiting, mailbox.events, mailbox.bytes], [0, 0, 0, 0]);
});

test('a command without a holder never gives way', () => {
  const mailbox = new Mailbox<string, null>();
  assert.ok(mailbox.offer({ command: 'own', token: null, events: limits.mailboxEvents, bytes: 1, share: null }));
  const share = { waiting: 0, recent: 0 };
  assert.equal(mailbox.pushOutFor({ command: 'event', token: null, events: 1, bytes: 1, share }), []);
});

test('nothing that a turn took stays in memory, however long the mailbox is never empty', async () => {
  const mailbox = new Mailbox<object, null>();
  const taken: WeakRef<object>[] = [];
  const offer = (): boolean =>
    mailbox.offer({ command: {}, token: null, events: limits.batchEventsMax, bytes: 1, share: null });
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
