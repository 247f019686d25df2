/** Pages of the audit log, backwards from its newest entry. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { granted, refused } from '../../src/errors.js';
import type { OperatorApi } from '../../src/group/api.js';
import { limits } from '../../src/limits.js';
import { asksOf } from '../../src/operations/table.js';
import { recordedGroup } from '../operator/recorded-group.js';

const entryOf = (seq: number) => {
  const [actor, action] = seq % 2 === 0 ? ['operator:Alice', 'peer_status'] : ['operator', 'player_allowed'];
  return { seq, at: seq * 1_000, action, actor, target: 'c', prevHash: 'd', hash: 'e' };
};

/** Asks a node whose audit log has entries of the numbers 1 to `newest`, and returns those of the answer. */
async function tail(newest: number, request: object) {
  const asked: unknown[] = [];
  const auditTail: OperatorApi['auditTail'] = async (count, before = newest + 1) => {
    asked.push([count, before]);
    const first = Math.max(1, before - count);
    const entries = Array.from({ length: before - first }, (_, i) => entryOf(first + i));
    return granted({ entries, nextAfter: null });
  };
  const { group } = recordedGroup(1, { auditTail });
  const page = await asksOf({ group, version: 'test', pseudonymise: () => null })('audit-tail', request);
  if (!page.ok) throw new Error(page.code);
  const { data, next_before, is_cut } = page.value;
  return { seqs: data.map(({ seq }) => seq), next_before, is_cut, asked };
}

test('a page of the audit log names where older entries end, unless it holds the first record', async () => {
  for (const [more, seqs, next_before] of [
    [{}, [3], 3],
    [{ before: 3 }, [2], 2],
    [{ before: 2 }, [1], null],
  ] as const) {
    const page = await tail(3, { count: 1, ...more });
    assert.equal([page.seqs, page.next_before], [seqs, next_before], JSON.stringify(more));
  }
});

test('entries are filtered by actor, action and time, in either case of letters, the newest that fit', async () => {
  const { seqs, next_before, is_cut, asked } = await tail(250, { count: 2, actor: 'aLICE', action: 'STATUS' });
  assert.equal([seqs, next_before, is_cut, asked], [[248, 250], 248, false, [[limits.pageMax, 251]]]);
  // The page that ends the search is older than `since`.
  const since = new Date(249_000).toISOString();
  assert.equal(await tail(250, { count: 5, since }), {
    seqs: [249, 250],
    next_before: null,
    is_cut: false,
    asked: [[limits.pageMax, 251]],
  });
  assert.equal((await tail(250, { count: 200, action: 'allowed' })).seqs.length, 125);
  assert.equal((await tail(0, { count: 5, actor: 'x' })).seqs, []);
});

test('a search that finds too little ends after a bounded number of entries, and says so', async () => {
  const newest = limits.auditReadMax + 500;
  const { seqs, next_before, is_cut, asked } = await tail(newest, { count: 1, actor: 'nobody' });
  assert.equal([seqs, next_before, is_cut, asked.length], [[], 501, true, limits.auditReadMax / limits.pageMax]);
});

test('a page of the log that fails is refused as it is', async () => {
  const { group } = recordedGroup(1, { auditTail: async () => refused('overloaded') });
  const ask = asksOf({ group, version: '1', pseudonymise: () => null });
  assert.equal(await ask('audit-tail', { count: 1 }), refused('overloaded'));
});

test.run();
