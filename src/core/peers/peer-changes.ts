/** Declares the changes that operators make to a peer, a row each; the types of command and record follow from it. */
import { limits } from '../../limits.js';
import type { PeerStatus } from '../vocabulary.js';
import type { Peer, Peers } from './peers.js';

interface PeerChange<RecordType extends string, Asked extends object, Stated extends object> {
  readonly record: RecordType;
  /** Number of the record's type in the log; never reused. */
  readonly id: number;
  /** The format of records that every node must read; absent for format 1. */
  readonly format?: number;
  /** Returns what the record states, and the action that the audit log names; null if nothing changes. */
  decide(peer: Peer, asked: Asked, now: number): { readonly stated: Stated; readonly action: string } | null;
  apply(peer: Peer, stated: Stated, peers: Peers): void;
}

function change<const RecordType extends string, Asked extends object, Stated extends object>(
  row: PeerChange<RecordType, Asked, Stated>,
): PeerChange<RecordType, Asked, Stated> {
  return row;
}

const statusActions = { active: 'peer_reinstated', suspended: 'peer_suspended', revoked: 'peer_revoked' } as const;

export const peerChanges = {
  /** `revoked` is final. */
  peer_status: change({
    record: 'peer_status_changed',
    id: 3,
    decide: (peer, { status }: { readonly status: PeerStatus }) =>
      peer.status === status ? null : { stated: { status }, action: statusActions[status] },
    apply(peer, { status }) {
      peer.status = status;
    },
  }),

  /** `keyDigest`: SHA-256 of the new key, hex. The old one works until `old_key_until` (ms since 1970), or not if 0. */
  rotate_key: change({
    record: 'peer_key_rotated',
    id: 4,
    decide(_, { keyDigest, overlapMs }: { readonly keyDigest: string; readonly overlapMs: number }, now) {
      const overlap = Math.min(overlapMs, limits.keyOverlapMsMax);
      const stated = { key_digest: keyDigest, old_key_until: overlap > 0 ? now + overlap : 0 };
      return { stated, action: 'peer_key_rotated' };
    },
    apply: (peer, { key_digest, old_key_until }, peers) => peers.rotate(peer, key_digest, old_key_until),
  }),

  /** Ed25519, 32 bytes, base64url; null removes the key, and the peer no longer signs. */
  public_key: change({
    record: 'peer_public_key_set',
    id: 30,
    decide(peer, { publicKey }: { readonly publicKey: string | null }) {
      if ((peer.publicKey ?? null) === publicKey) return null;
      const action = publicKey === null ? 'peer_public_key_removed' : 'peer_public_key_set';
      return { stated: { public_key: publicKey }, action };
    },
    apply(peer, { public_key }) {
      peer.publicKey = public_key ?? undefined;
    },
  }),

  /** Words of the operator about the peer; null removes them. */
  note: change({
    record: 'peer_noted',
    id: 38,
    format: 3,
    decide(peer, { note }: { readonly note: string | null }) {
      return (peer.note ?? null) === note ? null : { stated: { note }, action: 'peer_noted' };
    },
    apply(peer, { note }) {
      peer.note = note ?? undefined;
    },
  }),
};

type Rows = typeof peerChanges;
export type PeerChangeType = keyof Rows;
export type AskedOf<T extends PeerChangeType> = Parameters<Rows[T]['decide']>[1];

/** The record of a change, without the peer and the audit part that each has. */
export type PeerChangeStated = {
  [T in PeerChangeType]: { readonly type: Rows[T]['record'] } & Parameters<Rows[T]['apply']>[1];
}[PeerChangeType];

/** A row whose types are those of its change, whichever that is. */
export type AnyPeerChange = PeerChange<PeerChangeStated['type'], object, object>;

const rows: readonly AnyPeerChange[] = Object.values(peerChanges);
const byRecord = new Map(rows.map((row) => [row.record, row]));

export const peerChangeIds = Object.fromEntries(rows.map(({ record, id }) => [record, id])) as Record<
  PeerChangeStated['type'],
  number
>;

export function applyPeerChange(peers: Peers, peer: Peer, stated: PeerChangeStated): void {
  byRecord.get(stated.type)!.apply(peer, stated, peers);
}
