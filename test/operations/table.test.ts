/** Names and beginnings of ids in requests: one fits, or the request is refused. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { OperatorApi } from '../../src/group/api.js';
import { disputeId, peerId } from '../../src/operations/operation.js';
import { withIds } from '../../src/operations/table.js';
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

test.run();
