/** Decides registrations, the changes of one peer, pre-trust, and the operator's declarations about two peers. */
import { granted } from '../../errors.js';
import { limits } from '../../limits.js';
import type { ChangePeer, ChangePreTrust, GroupBounds, PurgePeers, RegisterPeer, RelatePeers } from '../commands.js';
import { audited, type Decision, grant, refuse } from '../decision.js';
import { type AnyPeerChange, peerChanges } from '../peers/peer-changes.js';
import { auditPart } from '../records/audit.js';
import type { LogRecord } from '../records/records.js';
import type { GroupState } from '../state.js';
import { hasNoNumber } from './decide-origin.js';

/** Registers a peer; the outcome is its number. Codes: overloaded. */
export function decideRegistration(
  state: GroupState,
  bounds: GroupBounds,
  command: RegisterPeer,
  now: number,
): Decision<number> {
  const places = bounds.peersMax + (command.byOperator ? limits.peersReserve : 0);
  // Numbers are never reused.
  if (state.peers.count >= places || hasNoNumber(state)) {
    return refuse('overloaded', { text: 'the group has reached its maximum number of peers' });
  }
  const index = state.numbers;
  const audit = audited(state, now, { action: 'peer_registered', actor: command.by, target: command.peerId });
  return grant(index, {
    type: 'peer_registered',
    peer: index,
    peer_id: command.peerId,
    peer_name: command.peerName,
    game_ids: command.gameIds,
    contact_email: command.contactEmail ?? null,
    key_digest: command.keyDigest,
    ...(command.publicKey === undefined ? {} : { public_key: command.publicKey }),
    audit,
  });
}

/** The outcome is the peer's number. Codes: unknown_peer, peer_not_active (revoked, which is final but for a note). */
export function decidePeerChange(state: GroupState, command: ChangePeer, now: number): Decision<number> {
  const peer = state.peers.byId(command.peerId);
  if (peer === undefined) return refuse('unknown_peer', { text: 'no peer has this id' });
  const row: AnyPeerChange = peerChanges[command.type];
  const decided = row.decide(peer, command, now);
  if (decided === null) return grant(peer.index);
  if (peer.status === 'revoked' && command.type !== 'note')
    return refuse('peer_not_active', { text: 'the peer is revoked, which is final' });
  const audit = audited(state, now, { action: decided.action, actor: command.by, target: peer.peerId });
  return grant(peer.index, { type: row.record, peer: peer.index, ...decided.stated, audit } as LogRecord);
}

/**
 * Revokes active peers that are not pre-trusted, never sent an event and registered over `idleMs` ago, the oldest
 * first, at most `limits.purgedAtOnce` in one turn. The outcome holds their ids.
 */
export function decidePurge(state: GroupState, { idleMs, by }: PurgePeers, now: number): Decision<readonly string[]> {
  const idle = state.peers.list.filter(({ index, status, eventCount, registeredAt }) => {
    return status === 'active' && eventCount === 0 && now - registeredAt > idleMs && !state.preTrusted.includes(index);
  });
  const purged = idle.slice(0, limits.purgedAtOnce);
  const records: LogRecord[] = [];
  let head = state.auditHead;
  for (const [i, { index, peerId }] of purged.entries()) {
    const fact = { action: 'peer_revoked', actor: by, target: peerId };
    const audit = auditPart(head, state.lastSeq + 1 + i, now, fact);
    head = audit.hash;
    records.push({ type: 'peer_status_changed', peer: index, status: 'revoked', audit });
  }
  return { records, outcome: granted(purged.map(({ peerId }) => peerId)) };
}

/** Codes: unknown_peer, peer_not_active (revoked), overloaded (too many). */
export function decidePreTrust(state: GroupState, command: ChangePreTrust, now: number): Decision<null> {
  const peer = state.peers.byId(command.peerId);
  if (peer === undefined) return refuse('unknown_peer', { text: 'no peer has this id' });
  const listed = state.preTrusted.includes(peer.index);
  if (listed === (command.change === 'add')) return grant(null);
  if (command.change === 'add' && peer.status === 'revoked') {
    return refuse('peer_not_active', { text: 'the peer is revoked, which is final' });
  }
  if (command.change === 'add' && state.preTrusted.length >= limits.preTrustedMax) {
    return refuse('overloaded', { text: 'too many pre-trusted peers' });
  }
  const peers = listed ? state.preTrusted.filter((index) => index !== peer.index) : [...state.preTrusted, peer.index];
  const action = listed ? 'pre_trust_removed' : 'pre_trust_added';
  const audit = audited(state, now, { action, actor: command.by, target: peer.peerId });
  return grant(null, { type: 'pre_trust_set', peers, configured: null, audit });
}

/**
 * Applies the set if its configuration changed. An operator's command also undoes what other commands changed since.
 * Codes, with all ids: unknown_peer, peer_not_active (revoked).
 */
export function decideConfiguredPreTrust(
  state: GroupState,
  configured: string,
  now: number,
  by: string,
): Decision<null> {
  const ids = configured.split(',');
  const named = ids.flatMap((id) => state.peers.byId(id) ?? []);
  const unknown = ids.filter((id) => state.peers.byId(id) === undefined);
  if (unknown.length > 0)
    return refuse('unknown_peer', { text: `no peer of this group has the id ${unknown.join(' or ')}` });
  const revoked = named.filter(({ status }) => status === 'revoked').map(({ peerId }) => peerId);
  if (revoked.length > 0) return refuse('peer_not_active', { text: `revoked, which is final: ${revoked.join(', ')}` });
  const peers = named.map(({ index }) => index);
  const isSameSet = peers.length === state.preTrusted.length && peers.every((peer) => state.preTrusted.includes(peer));
  const isInForce = by === 'configuration' || isSameSet;
  if (configured === state.preTrustConfigured && isInForce) return grant(null);
  const audit = audited(state, now, { action: 'pre_trust_set', actor: by, target: configured });
  return grant(null, { type: 'pre_trust_set', peers, configured, audit });
}

/** Records whether two peers are one witness. Codes: unknown_peer, peer_id_mismatch (a peer and itself). */
export function decideRelation(state: GroupState, command: RelatePeers, now: number): Decision<null> {
  const one = state.peers.byId(command.peerId);
  const other = state.peers.byId(command.otherId);
  if (one === undefined || other === undefined) {
    return refuse('unknown_peer', {
      text: `no peer has the id ${one === undefined ? command.peerId : command.otherId}`,
    });
  }
  if (one === other)
    return refuse('peer_id_mismatch', { text: 'expected the ids of two different peers; got the same id twice' });
  const first = Math.min(one.index, other.index);
  const second = Math.max(one.index, other.index);
  const { relation } = command;
  const known = state.relations.find((one) => one.first === first && one.second === second);
  if (known?.relation === relation) return grant(null);
  const target = `${state.peers.at(first).peerId} ${state.peers.at(second).peerId}`;
  const audit = audited(state, now, { action: `peers_${relation}`, actor: command.by, target });
  return grant(null, { type: 'peers_related', first, second, relation, audit });
}
