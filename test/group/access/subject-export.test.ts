import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { granted } from '../../../src/errors.js';
import { exportOf, holdingsOf } from '../../../src/group/access/subject-holdings.js';
import type { GroupPool } from '../../../src/group/ports/pool.js';
import { limits } from '../../../src/limits.js';
import { Given, subjectOf } from '../../support/given.js';

/** Whether an export is complete whose pool answers so many records to each question, by the pair's record. */
async function isComplete(readOf: (head: number) => readonly [read: number, next: number | null]): Promise<boolean> {
  const given = new Given().peers(2);
  given.event(0, 'p');
  given.event(1, 'p');
  const pool = {
    pairEvents: async ({ head }) => {
      const [read, next] = readOf(head);
      return { read, next, events: [] };
    },
    records: async () => [],
  } as Partial<GroupPool> as GroupPool;
  const holdings = holdingsOf(given.state, subjectOf('p'));
  const exported = await exportOf(given.state, 'p', 'receipt', holdings, async (work) => granted(await work(pool)));
  if (!exported.ok) return assert.unreachable(exported.code) as never;
  return exported.value.isComplete;
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

test('what is held of a player with events includes the trust, and of one without events none', () => {
  const given = new Given().peers(2);
  given.event(0, 'p');
  assert.equal(holdingsOf(given.state, subjectOf('p')).trust, given.trust('p'));
  assert.is(holdingsOf(given.state, subjectOf('q')).trust, null);
});

test.run();
