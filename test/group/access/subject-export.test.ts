import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { decideAllowed } from '../../../src/core/rules/decide-allowed.js';
import { granted } from '../../../src/errors.js';
import { type AskPool, exportOf, holdingsOf, type SubjectExport } from '../../../src/group/access/subject-holdings.js';
import type { GroupPool } from '../../../src/group/ports/pool.js';
import { limits } from '../../../src/limits.js';
import { Given, hourMs, subjectOf, t0 } from '../../support/given.js';

async function exported(given: Given, pool: Partial<GroupPool>): Promise<SubjectExport> {
  const holdings = holdingsOf(given.state, subjectOf('p'));
  const ask: AskPool = async (work) => granted(await work(pool as GroupPool));
  const outcome = await exportOf(given.state, 'p', 'receipt', holdings, ask);
  return outcome.ok ? outcome.value : (assert.unreachable(outcome.code) as never);
}

/** Whether an export is complete whose pool answers so many records to each question, by the pair's record. */
async function isComplete(readOf: (head: number) => readonly [read: number, next: number | null]): Promise<boolean> {
  const given = new Given().peers(2);
  given.event(0, 'p');
  given.event(1, 'p');
  const pairEvents: GroupPool['pairEvents'] = async ({ head }) => {
    const [read, next] = readOf(head);
    return { read, next, events: [] };
  };
  return (await exported(given, { pairEvents, records: async () => [] })).isComplete;
}

test('an export is complete unless events are left once its bound of records was read', async () => {
  const half = limits.exportRecordsMax / 2;
  assert.ok(await isComplete(() => [1, null]));
  assert.ok(await isComplete(() => [half, null]), 'it ends with the bound');
  assert.not(await isComplete(() => [2 * half, null]), 'the second pair is not read');
  assert.not(await isComplete((head) => (head === 1 ? [half, null] : [half, 1])), 'a piece is left');
  const pieces = new Map<number, number>();
  const endless = (head: number) => {
    pieces.set(head, (pieces.get(head) ?? 0) + 1);
    return [1_000, head] as const;
  };
  assert.not(await isComplete(endless));
  assert.is(
    [...pieces.values()].reduce((sum, one) => sum + one),
    limits.exportRecordsMax / 1_000,
  );
});

test('an entry of the allow list is exported as such until it ends, and then among those that ended', async () => {
  const given = new Given().peers(1);
  const [subject, until] = [subjectOf('p'), t0 + hourMs];
  given.done(decideAllowed(given.state, { subject, id: 'i', until, note: 'case 1', by: 'op' }, t0));
  const records: GroupPool['records'] = async (seqs) => seqs.map((seq) => given.records[seq - 1]!);
  const noted = async (at: number) => {
    given.peers(1, at);
    const { allowed, pastAllowed } = await exported(given, { records });
    return [allowed?.note, ...pastAllowed.map(({ note }) => `past: ${note}`)];
  };
  assert.equal([await noted(until), await noted(until + 1)], [['case 1'], [undefined, 'past: case 1']]);
});

test('what is held of a player with events includes the trust, and of one without events none', () => {
  const given = new Given().peers(2);
  given.event(0, 'p');
  assert.equal(holdingsOf(given.state, subjectOf('p')).trust, given.trust('p'));
  assert.is(holdingsOf(given.state, subjectOf('q')).trust, null);
});

test.run();
