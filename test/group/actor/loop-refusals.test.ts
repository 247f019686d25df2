/** A loop refuses some commands while its node cannot decide or write; others wait or are answered. */
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Outcome } from '../../../src/errors.js';
import type { GroupLoop } from '../../../src/group/actor/loop.js';
import type { Answer, Command } from '../../../src/group/actor-commands.js';
import type { Timers } from '../../../src/group/ports/clock.js';
import { limits } from '../../../src/limits.js';
import { timers } from '../../../src/node/system.js';
import { deferred } from '../../support/deferred.js';
import { subjectOf } from '../../support/given.js';
import { grown, refusedAs } from './grown-loop.js';

const register: Command = { type: 'register', peerId: 'q', peerName: 'Q', gameIds: ['g1'], keyDigest: 'k', by: 't' };
const locate: Command = { type: 'locate', eventId: 'e' };
const chains: Command = { type: 'chains', subject: subjectOf('victim') };
/** Unlike any other time that the loop waits. */
const patienceMs = 12_345;
const unavailable = (reason: string) => ['dependency_unavailable', { reason }];

/** Returns the code and the details of each command's refusal; undefined if it is admitted. */
function admitted(loop: GroupLoop, ...commands: Command[]) {
  return commands.map((command) => {
    const refusal = loop.admit({ command, token: () => undefined, events: 1, bytes: 100, holder: null });
    return refusal && refusedAs(refusal);
  });
}

test('writes are refused without a leader, a right clock or a log within reach, and reads are not', async () => {
  const clockGuard = { clockAhead: false, isAheadNow: () => false };
  const { loop } = await grown(undefined, { clockGuard });
  const refusal = () => {
    const [write, ...reads] = admitted(loop, register, locate, chains);
    assert.equal(reads, [undefined, undefined]);
    return write;
  };
  clockGuard.clockAhead = true;
  assert.equal(refusal(), unavailable('clock_ahead'));
  clockGuard.clockAhead = false;
  loop.stalled = true;
  assert.equal(refusal(), unavailable('log_unreachable'));
  loop.stalled = false;
  loop.follow();
  assert.equal(refusal(), ['no_leader', undefined]);
  await loop.drain();
  assert.equal(
    admitted(loop, register, locate).map((refusal) => refusal?.[0]),
    ['dependency_unavailable', 'dependency_unavailable'],
  );
});

test('on a low disk no caller writes: neither events nor peers, removals or disputes', async () => {
  const { loop, gauge } = await grown();
  gauge.bytes = 0;
  await loop.disk.look();
  const subject = subjectOf('victim');
  const submit: Command = { type: 'submit', caller: 0, events: [] };
  const erase: Command = { type: 'erase', caller: 0, subject, commitment: 'c', by: 'peer-0' };
  const dispute: Command = { type: 'open_dispute', disputeId: 'd', caller: 0, subject, text: 'no', by: 'peer-0' };
  const diskLow = unavailable('disk_low');
  assert.equal(admitted(loop, submit, register, erase, dispute), [diskLow, diskLow, diskLow, diskLow]);
  await loop.drain();
});

test('waiting writes are refused if the clock went wrong since their admission, and reads are answered', async () => {
  let isAhead = false;
  const { ask, observed } = await grown(undefined, { clockGuard: { clockAhead: false, isAheadNow: () => isAhead } });
  await turnOfLoop();
  observed.length = 0;
  isAhead = true;
  const [write, read] = await Promise.all([ask(register), ask(locate)]);
  assert.equal(refusedAs(write), unavailable('clock_ahead'));
  assert.ok((read as { seq: number }).seq > 0);
  assert.equal(observed, []);
});

test('an event of a holder with few pushes out those of one with many, or else an overload begins', async () => {
  const { loop } = await grown();
  const answers = new Map<string, Answer>();
  const offer = (name: string, events: number, holder: string | null) => {
    const command: Command = { type: 'submit', caller: null, events: [] };
    return loop.admit({ command, token: (answer) => answers.set(name, answer), events, bytes: 1, holder })?.code;
  };
  const half = limits.mailboxEvents / 2;
  assert.is(offer('operator', half, null), undefined);
  assert.is(offer('flood', half, 'flood'), undefined);
  assert.is(offer('few', 1, 'other'), undefined);
  assert.is(answers.get('flood') !== undefined && (answers.get('flood') as Outcome<unknown>[]).length, half);
  assert.is(offer('all the rest', half - 1, null), undefined);
  assert.is(offer('operator again', 1, null), 'overloaded');
  assert.is(loop.overloaded, false, 'commands without a holder are no load of callers');
  assert.is(offer('too late', 1, 'third'), 'overloaded');
  assert.is(loop.overloaded, true);
});

test('a commit into the reserve is answered once the disk holds it', async () => {
  let isFull = false;
  const { writer, submit } = await grown(undefined, { reserve: { during: (act) => act(isFull) } });
  isFull = true;
  const { promise: stored, resolve: store } = deferred();
  writer.stored = () => stored;
  let isAnswered = false;
  const answer = submit('e2').then(() => {
    isAnswered = true;
  });
  for (let i = 0; i < 3; i++) await turnOfLoop();
  assert.is(isAnswered, false);
  store();
  await answer;
});

test('while a commit takes too long writes are refused, and reads wait for its end', async () => {
  let loseLatestPatience = () => {};
  const later: Timers['later'] = (act, ms) => {
    if (ms !== patienceMs) return timers.later(act, ms);
    loseLatestPatience = act;
    return () => undefined;
  };
  const { loop, writer, submit, ask } = await grown(undefined, {
    commitPatienceMs: patienceMs,
    timers: { ...timers, later },
  });
  const append = writer.append.bind(writer);
  const { promise: arrived, resolve: arrive } = deferred();
  writer.append = async (...batch) => {
    await arrived;
    await append(...batch);
  };
  const event = submit('e2');
  await turnOfLoop();
  const write = ask(register);
  let isRead = false;
  const read = ask(locate).finally(() => {
    isRead = true;
  });
  loseLatestPatience();
  const [outcome] = (await event) as Outcome<unknown>[];
  const details = { reason: 'log_unreachable', recorded: true };
  assert.equal(refusedAs(outcome as Answer), ['dependency_unavailable', details]);
  assert.equal(refusedAs(await write), unavailable('log_unreachable'));
  assert.equal([isRead, loop.stalled], [false, true]);
  arrive();
  assert.ok(((await read) as { seq: number }).seq > 0);
  assert.is(loop.stalled, false);
});

test('a node fails once, and what it commits afterwards is neither counted nor answered', async () => {
  const failures: unknown[] = [];
  const { loop, writer, observed, submit } = await grown((error) => failures.push(error));
  await turnOfLoop();
  observed.length = 0;
  let arrive = () => {};
  writer.append = () =>
    new Promise((resolve) => {
      arrive = resolve;
    });
  void submit('e2').then(() => observed.push('answered'));
  await turnOfLoop();
  for (const error of ['first', 'second']) loop.fail(error);
  observed.length = 0;
  arrive();
  for (let i = 0; i < 3; i++) await turnOfLoop();
  assert.equal([failures, observed], [['first'], []]);
});

test.run();
