/** A submission is decided once the log was read for each of its events that may be repeated, in bounded reads. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { SubmitEvents } from '../../../src/core/commands.js';
import { granted, refused } from '../../../src/errors.js';
import { type Submitting, submitAll } from '../../../src/group/calls.js';
import type { RepeatQuery } from '../../../src/group/ports/pool.js';
import { limits } from '../../../src/limits.js';
import { codesOf } from '../commands.js';

/** An actor that wants to know of `count` events, and a reader that answers one check in each read. */
function scripted(count: number) {
  const reads: number[] = [];
  const offered: SubmitEvents[] = [];
  const events = Array<object>(count).fill({}) as unknown as SubmitEvents['events'];
  const checks = events.map((_, index) => ({ index, head: 1 + index, eventType: 1, timestamp: 0 }) as const);
  const to: Submitting = {
    offer(submission, answered) {
      offered.push(submission);
      if (submission.checked !== undefined) answered(events.map(() => granted({ receivedAt: 1 })));
      else answered({ type: 'repeats_unknown', events, checks, expired: 0, withdrawn: [] });
      return undefined;
    },
    async read(query: Omit<RepeatQuery, 'holder'>) {
      reads.push(query.checks.length);
      const { index, head } = query.checks[0]!;
      return granted({ found: [{ index, head, seq: 0 }], next: null });
    },
  };
  return { to, reads, offered, submission: { caller: 0, events } };
}

/** The event and the head of the chain of each answer of the log that a submission has. */
const checkedIn = ({ checked }: SubmitEvents) => checked?.map(({ index, head }) => `${index} ${head}`);

test('further reads complete what one read leaves out, before the submission is offered again', async () => {
  const { to, reads, offered, submission } = scripted(3);
  assert.equal(codesOf(await submitAll(to, submission, 1)), ['ok', 'ok', 'ok']);
  assert.equal(reads, [3, 2, 1]);
  assert.equal(checkedIn(offered[1]!), ['0 1', '1 2', '2 3']);
});

test('a submission that asks for more reads than one may is refused, and nothing of it is taken', async () => {
  const { to, reads, offered, submission } = scripted(limits.repeatReadsMax + 1);
  const outcomes = await submitAll(to, submission, 1);
  assert.equal([...new Set(codesOf(outcomes))], ['overloaded']);
  assert.equal([reads.length, offered.length], [limits.repeatReadsMax, 1]);
});

test('a submission whose pairs keep changing is refused after so many tries', async () => {
  const { to, reads, offered, submission } = scripted(1);
  const ask: Submitting['offer'] = (given, answered) => to.offer({ caller: 0, events: given.events }, answered);
  const outcomes = await submitAll({ ...to, offer: ask }, submission, 2);
  assert.equal(codesOf(outcomes), ['overloaded']);
  assert.equal([reads.length, offered.length], [2, 3]);
});

test('a refusal of the actor or of the reader is the answer to each event', async () => {
  const { to, submission } = scripted(2);
  for (const refusing of [{ offer: () => refused('no_leader') }, { read: async () => refused('no_leader') }]) {
    const outcomes = await submitAll({ ...to, ...refusing }, submission, 1);
    assert.equal(outcomes, [refused('no_leader'), refused('no_leader')]);
  }
});

test('an answer of the log is offered again behind those to later questions', async () => {
  const { to, offered, submission } = scripted(2);
  const asking: Submitting = {
    ...to,
    offer(given, answered) {
      offered.push(given);
      const known = new Map(given.checked?.toReversed().map(({ index, head }) => [index, head]));
      const [index, head] = known.size === 0 ? [0, 1] : known.size === 1 ? [1, 2] : [0, known.get(0) === 1 ? 3 : 0];
      const checks = [{ index, head, eventType: 1, timestamp: 0 } as const];
      if (head === 0) answered(given.events.map(() => granted({ receivedAt: 1 })));
      else answered({ type: 'repeats_unknown', events: given.events, checks, expired: 0, withdrawn: [] });
      return undefined;
    },
  };
  assert.equal(codesOf(await submitAll(asking, submission, 3)), ['ok', 'ok']);
  assert.equal(offered.map(checkedIn), [undefined, ['0 1'], ['1 2', '0 1'], ['0 3', '1 2', '0 1']]);
});

test.run();
