/** Rows of operations: the compiler refuses a wrong one, and no two are the same command. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { granted } from '../../src/errors.js';
import { count, operation, peerId, typed } from '../../src/operations/operation.js';
import { operations } from '../../src/operations/table.js';
import { shape } from '../../src/validation/schema.js';

const request = shape({ peer_id: peerId, overlap_ms: count(0, 5) });
const answer = () => granted({ a: 1 });
const ptf = { command: 'x', text: '', examples: [], show: () => [] };
const peer_id = typed('<id>');

test('a row whose command does not give what its schema requires does not compile', () => {
  // @ts-expect-error: a member without an argument
  operation({ request, answer, ptf: { ...ptf, given: { peer_id } } });
  // @ts-expect-error: no arguments at all
  operation({ request, answer, ptf });
  // @ts-expect-error: a text for a number
  operation({ request, answer, ptf: { ...ptf, given: { peer_id, overlap_ms: typed('--overlap <ms>') } } });
  // @ts-expect-error: a member that the schema lacks
  operation({ request, answer, ptf: { ...ptf, given: { peer_id, overlap_ms: { fixed: 1 }, more: { fixed: 1 } } } });
  const row = operation({ request, answer, ptf: { ...ptf, given: { peer_id, overlap_ms: { fixed: 1 } } } });
  assert.is(row.ptf.length, 1);
});

test('a row that reads what its request or its value lacks does not compile', () => {
  // @ts-expect-error
  operation({ request, answer: ({ other }) => granted({ other }) });
  // @ts-expect-error
  operation({ request: shape({}), answer, ptf: { ...ptf, show: ({ b }) => [b] } });
  // @ts-expect-error
  operation({ request: shape({}), answer, ptf: { ...ptf, group: 'nobody' } });
});

test('the dashboard may ask these operations, and signs each change among them', () => {
  const asked = Object.entries(operations).filter(([, row]) => 'dashboard' in row && row.dashboard);
  const signed = asked.filter(([, { request: asks }]) => 'by' in asks.properties);
  const names = (rows: typeof asked) => rows.map(([name]) => name).sort();
  const changes = ['allow-add', 'allow-remove', 'disputes-decide', 'erase', 'erase-refuse', 'peers-rotate-key'];
  const further = ['origins-change', 'peers-add', 'peers-status', 'pretrust-change'];
  const reads = ['allow-list', 'audit-tail', 'cluster-status', 'disputes-list', 'erase-pending', 'origins-list'];
  const ofPeers = ['peers-list', 'peers-show', 'player', 'players-list', 'pretrust-list'];
  const others = ['simulate', 'status', 'verify'];
  assert.equal(names(signed), [...changes, ...further].sort());
  assert.equal(names(asked), [...changes, ...further, ...reads, ...ofPeers, ...others].sort());
});

test('no two rows are the same command of ptf', () => {
  const rows = Object.values(operations).flatMap<{ group?: string; command: string }>(({ ptf: own }) => own);
  const commands = rows.map(({ group, command }) => `${group} ${command}`);
  assert.is(new Set(commands).size, commands.length);
});

test.run();
