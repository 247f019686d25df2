/** Names and beginnings of ids in requests: one fits, or the request is refused. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { OperatorApi } from '../../src/group/api.js';
import { limits } from '../../src/limits.js';
import { disputeId, peerId } from '../../src/operations/operation.js';
import { checkRequest, withIds } from '../../src/operations/table.js';
import { shape } from '../../src/validation/schema.js';
import { peerView } from '../http/group-double.js';

const peers = [
  { ...peerView(0), peerId: 'aaaa1111-0', peerName: 'Arena' },
  { ...peerView(1), peerId: 'aaaa2222-0', peerName: 'Arena' },
  { ...peerView(2), peerId: 'bbbb3333-0', peerName: 'Citadel' },
  { ...peerView(3), peerId: 'cccc4444-0', peerName: 'Citadel', status: 'revoked' as const },
  { ...peerView(4), peerId: 'dddd5555-0', peerName: 'bbbb3333' },
];
const group = {
  peerById: (id: string) => peers.find((peer) => peer.peerId === id),
  peers: () => peers,
  disputeIds: () => ['eeee1-0', 'eeee2-0'],
} as unknown as OperatorApi;
const request = shape(
  { peer_id: peerId, without: { type: 'array', items: peerId }, dispute_id: disputeId, note: { type: 'string' } },
  ['peer_id', 'without', 'dispute_id', 'note'],
);

function found(body: object): unknown {
  const resolved = withIds(group, request, body);
  return resolved.ok ? resolved.value : resolved.code;
}

test('an id, a name that one peer has, and the beginning of an id name a peer', () => {
  assert.equal(found({ peer_id: 'aaaa1111-0', note: 'Citadel' }), { peer_id: 'aaaa1111-0', note: 'Citadel' });
  assert.equal(found({ peer_id: 'AAAA2' }), { peer_id: 'aaaa2222-0' });
  assert.equal(found({ dispute_id: 'eeee2' }), { dispute_id: 'eeee2-0' });
  assert.equal(found({ without: ['aaaa1', 'aaaa1111', 'dddd5'] }), { without: ['aaaa1111-0', 'dddd5555-0'] });
});

test('a peer is named by the longest name that a peer may have', () => {
  const isTaken = (length: number) => checkRequest('peers-show', { peer_id: 'n'.repeat(length) }).ok;
  assert.ok(isTaken(limits.peerNameLength));
  assert.not.ok(isTaken(limits.peerNameLength + 1));
});

test('a name that a revoked peer had before belongs to the one that has it now', () => {
  assert.equal(found({ peer_id: 'Citadel' }), { peer_id: 'bbbb3333-0' });
  assert.equal(found({ peer_id: 'cccc4444' }), { peer_id: 'cccc4444-0' });
});

test('what fits several peers is refused, also if one took the beginning of the id of another as its name', () => {
  for (const text of ['Arena', 'aaaa', 'bbbb3333']) assert.is(found({ peer_id: text }), 'invalid_parameter', text);
  assert.is(found({ dispute_id: 'eeee' }), 'invalid_parameter');
});

test('what fits none, or is too short, is passed on for the operation to refuse', () => {
  assert.equal(found({ peer_id: 'nobody' }), { peer_id: 'nobody' });
  assert.equal(found({ peer_id: 'bbb' }), { peer_id: 'bbb' });
});

test('a list of what a text fits names five of them at the most', () => {
  const all = Array.from({ length: 6 }, (_, i) => ({ ...peerView(i), peerId: `aaaa${i}`, peerName: 'Arena' }));
  const many = { ...group, peers: () => all } as OperatorApi;
  const resolved = withIds(many, request, { peer_id: 'Arena' });
  const some = all.slice(0, 5).map(({ peerId: id }) => `${id} (Arena)`);
  assert.is(resolved.ok ? '' : resolved.text, `"Arena" fits 6: ${some.join(', ')}; give the whole id`);
});

test('a request is accepted at its bounds and refused beyond them', () => {
  const hash = 'ab'.repeat(32);
  const page = { from: 0, limit: 1 };
  for (const [name, good, ...wrong] of [
    ['peers-list', page, { from: -1 }, { limit: 0 }, { limit: limits.pageMax + 1 }, { weight_below: -1 }],
    ['peers-list', { from: limits.peersMaxCeiling, limit: limits.pageMax, weight_below: 0 }, { from: 1e9 }],
    ['allow-list', { ...page, from: limits.allowedSubjectsMax }, { from: limits.allowedSubjectsMax + 1 }],
    ['erase-pending', { ...page, from: limits.pendingErasuresMax }, { from: limits.pendingErasuresMax + 1 }],
    ['disputes-list', { ...page, status: 'open' }, { status: 'closed' }, { since: 'today' }],
    ['players-list', { ...page, verdicts: ['neutral'] }, { verdicts: [] }, { verdicts: ['bad'] }],
    [
      'peers-rotate-key',
      { peer_id: 'p', overlap_ms: 0 },
      { overlap_ms: -1 },
      { overlap_ms: limits.keyOverlapMsMax + 1 },
    ],
    ['peers-purge', { idle_ms: 0 }, { idle_ms: -1 }, { idle_ms: limits.purgeIdleMsMax + 1 }],
    [
      'peers-note',
      { peer_id: 'p', note: null },
      { note: '' },
      { note: 'x'.repeat(limits.allowNoteLength + 1) },
      { by: '' },
    ],
    [
      'disputes-decide',
      { decision: 'undo', dispute_id: 'd', peer_ids: ['p'] },
      { peer_ids: [] },
      { peer_ids: ['p', 'p'] },
    ],
    ['simulate', { rows: 1, pre_trusted: [] }, { pre_trusted: undefined }, { rows: 0 }, { without: [] }],
    ['simulate', { rows: limits.pageMax, half_life_days: 0 }, { half_life_days: -1 }, { pre_trusted: ['p', 'p'] }],
    ['simulate', { rows: 1, ban_half_life_days: 0 }, { ban_half_life_days: limits.halfLifeDaysMax + 1 }],
    ['audit-tail', { count: 1, before: 1, actor: 'a', action: 'b' }, { count: 0 }, { before: 0 }, { actor: '' }],
    ['audit-tail', { count: 1, actor: 'a'.repeat(100) }, { actor: 'a'.repeat(101) }, { since: 'now' }],
    ['audit-page', { after: 0, limit: 1 }, { after: -1 }, { limit: 0 }],
    ['cluster-scrub', { snapshot_count: 1, max_wals: 1 }, { snapshot_count: 0 }, { max_wals: 0 }],
    ['cluster-forget', { node_id: 'n' }, { node_id: '' }, { node_id: 'n'.repeat(limits.nodeIdLength + 1) }],
    ['erase', { subject_hash: hash }, { subject_hash: `${hash}0` }, { subject_hash: hash.replace('a', 'g') }],
  ] as const) {
    assert.ok(checkRequest(name, good).ok, `${name} ${JSON.stringify(good)}`);
    for (const over of wrong) {
      const checked = checkRequest(name, JSON.parse(JSON.stringify({ ...good, ...over })));
      assert.is(checked.ok ? 'accepted' : checked.code, 'schema_validation_failed', `${name} ${JSON.stringify(over)}`);
    }
  }
});

test.run();
