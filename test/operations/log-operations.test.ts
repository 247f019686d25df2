/** Pages of the audit log, backwards from its newest entry. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { granted } from '../../src/errors.js';
import { asksOf } from '../../src/operations/table.js';
import { recordedGroup } from '../operator/recorded-group.js';

test('a page of the audit log names where older entries end, unless it holds the first record', async () => {
  const entry = { at: 0, action: 'a', actor: 'b', target: 'c', prevHash: 'd', hash: 'e' };
  const entries = [1, 2, 3].map((seq) => ({ ...entry, seq }));
  const { group } = recordedGroup(1, {
    auditTail: async (count, before = 4) =>
      granted({ entries: entries.slice(0, before - 1).slice(-count), nextAfter: null }),
  });
  const ask = asksOf({ group, version: 'test', pseudonymise: () => null });
  const pages: unknown[] = [];
  for (const more of [{}, { before: 3 }, { before: 2 }]) {
    const page = await ask('audit-tail', { count: 1, ...more });
    assert.ok(page.ok);
    pages.push([page.value.data.map(({ seq }) => seq), page.value.next_before]);
  }
  assert.equal(pages, [
    [[3], 3],
    [[2], 2],
    [[1], null],
  ]);
});

test.run();
