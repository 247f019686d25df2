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
import { codeOf, erase, register, submit } from '../commands.js';
import { grown, holdAppends, refusedAs, unavailable } from './grown-loop.js';

const locate: Command = { type: 'locate', eventId: 'e' };
const chains: Command = { type: 'chains', subject: subjectOf('victim') };
/** Unlike any other time that the loop waits. */
const patienceMs = 12_345;

/** Returns the code and the details of each command's refusal; undefined if it is admitted. */
function admitted(loop: GroupLoop, ...commands: Command[]) {
  return commands.map((command) => {
    const refusal = loop.admit({ command, token: () => undefined, events: 1, bytes: 100, holder: null });
    return refusal && refusedAs(refusal);
  });
}

test('writes are refused without a leader, a right clock or a log with room within reach, and reads are not', async () => {
  const clockGuard = { clockAhead: false, isAheadNow: () => false };
  let isFull = false;
  const { loop, report } = await grown(undefined, { clockGuard, logIsFull: () => isFull });
  const refusal = () => {
    const [write, ...reads] = admitted(loop, register(1), locate, chains);
    assert.equal(reads, [undefined, undefined]);
    return write;
  };
  clockGuard.clockAhead = true;
  assert.equal(refusal(), unavailable('clock_ahead'));
  clockGuard.clockAhead = false;
  loop.stalled = true;
  assert.equal(refusal(), unavailable('log_unreachable'));
  loop.stalled = false;
  isFull = true;
  loop.writableChanged();
  assert.equal(refusal(), unavailable('log_full'));
  isFull = false;
  loop.writableChanged();
  assert.is(codeOf(await report('refused')), 'ok');
  loop.follow();
  assert.equal(refusal(), ['no_leader', undefined]);
  await loop.drain();
  for (const drained of admitted(loop, register(1), locate)) assert.is(drained?.[0], 'dependency_unavailable');
});

test('on a low disk no caller writes: neither events nor peers, removals or disputes', async () => {
  const { loop, gauge } = await grown();
  gauge.bytes = 0;
  await loop.disk.look();
  const subject = subjectOf('victim');
  const dispute: Command = { type: 'open_dispute', disputeId: 'd', caller: 0, subject, text: 'no', by: 'peer-0' };
  const refusals = admitted(loop, { ...submit(), caller: 0 } as Command, register(1), erase('victim', 0), dispute);
  assert.equal(refusals, Array(4).fill(unavailable('disk_low')));
  await loop.drain();
});

test('waiting writes are refused if the clock went wrong since their admission, and reads are answered', async () => {
  let isAhead = false;
  const { ask, observed } = await grown(undefined, { clockGuard: { clockAhead: false, isAheadNow: () => isAhead } });
  isAhead = true;
  const [write, read] = await Promise.all([ask(register(1)), ask(locate)]);
  assert.equal(refusedAs(write), unavailable('clock_ahead'));
  assert.ok((read as { seq: number }).seq > 0);
  assert.equal(observed, []);
});

test('waiting writes are refused if the disk filled up since their admission, and nothing is written', async () => {
  const { loop, observed, report, ask, gauge, released } = await grown();
  const writes = [report('late'), ask(register(1))];
  gauge.bytes = 0;
  assert.equal((await Promise.all(writes)).map(refusedAs), Array(2).fill(unavailable('disk_low')));
  assert.equal([observed, released, loop.disk.low], [[], [], true]);
  assert.equal(await ask({ type: 'locate', eventId: 'late' }), { seq: 0, asOf: 0 }, 'a read is answered');

  gauge.bytes = 1e9;
  await loop.disk.look();
  assert.is(codeOf(await report('late')), 'ok', 'writes are taken again by themselves');
});

test('an event of a holder with few pushes out those of one with many, or else an overload begins', async () => {
  const { loop } = await grown();
  const answers = new Map<string, Answer>();
  const offer = (name: string, events: number, holder: string | null) =>
    loop.admit({ command: submit(), token: (answer) => answers.set(name, answer), events, bytes: 1, holder })?.code;
  const half = limits.mailboxEvents / 2;
  assert.is(offer('operator', half, null), undefined);
  assert.is(offer('flood', half, 'flood'), undefined);
  assert.is(offer('few', 1, 'other'), undefined);
  assert.is((answers.get('flood') as Outcome<unknown>[] | undefined)?.length, half);
  assert.is(offer('all the rest', half - 1, null), undefined);
  assert.is(offer('operator again', 1, null), 'overloaded');
  assert.is(loop.overloaded, false, 'commands without a holder are no load of callers');
  assert.is(offer('too late', 1, 'third'), 'overloaded');
  assert.is(loop.overloaded, true);
});

test('a commit into the reserve is answered once the disk holds it', async () => {
  let isFull = false;
  const { writer, report } = await grown(undefined, { reserve: { during: (act) => act(isFull) } });
  isFull = true;
  const { promise: stored, resolve: store } = deferred();
  writer.stored = () => stored;
  let isAnswered = false;
  const answer = report('e2').then(() => {
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
  const patience = { commitPatienceMs: patienceMs, timers: { ...timers, later } };
  const { loop, writer, report, ask } = await grown(undefined, patience);
  const arrive = holdAppends(writer);
  const event = report('e2');
  await turnOfLoop();
  const write = ask(register(1));
  let isRead = false;
  const read = ask(locate).finally(() => {
    isRead = true;
  });
  loseLatestPatience();
  const details = { reason: 'log_unreachable', recorded: true };
  assert.equal(refusedAs(await event), ['dependency_unavailable', details]);
  assert.equal(refusedAs(await write), unavailable('log_unreachable'));
  assert.equal([isRead, loop.stalled], [false, true]);
  arrive();
  assert.ok(((await read) as { seq: number }).seq > 0);
  assert.is(loop.stalled, false);
});

test('a node fails once, and what it commits afterwards is neither counted nor answered', async () => {
  const failures: unknown[] = [];
  const { loop, writer, observed, report } = await grown((error) => failures.push(error));
  const arrive = holdAppends(writer);
  void report('e2').then(() => observed.push('answered'));
  await turnOfLoop();
  for (const error of ['first', 'second']) loop.fail(error);
  observed.length = 0;
  arrive();
  for (let i = 0; i < 3; i++) await turnOfLoop();
  assert.equal([failures, observed], [['first'], []]);
});

test.run();
