/** What is asked of a group, as values: time, chance and everything read from elsewhere arrive as fields. */

import type { SubjectKey } from './columns/packed-keys.js';
import type { EventTypeId, EventTypeName } from './evidence/event-types.js';
import type { ChainLink } from './records/event-chain.js';
import type { EventAccepted } from './records/records.js';
import type { PeerRelation } from './relations.js';
import type { ErasureMode, PeerStatus } from './vocabulary.js';

/** An event as the schema admitted it, its player already replaced by the subject's key. */
export interface EventSubmission {
  readonly schemaVersion: string;
  readonly eventId: string;
  readonly eventType: EventTypeName;
  readonly peerId: string;
  /** Null where the identity mode forbids what the caller sent. */
  readonly subject: SubjectKey | null;
  readonly gameId: string;
  readonly severity: number;
  /** ms since 1970. */
  readonly timestamp: number;
  /** Name of the origin whose statement the peer passes on; absent: its own. */
  readonly origin?: string;
  /** The peer's own note, opaque. */
  readonly reference?: string;
}

/** Events to accept, with what was read about those that may repeat earlier ones. */
export interface SubmitEvents {
  /** Number of the peer whose key was sent; null with authentication off. */
  readonly caller: number | null;
  readonly events: readonly EventSubmission[];
  /** What the log says of events that may be repeats. */
  readonly checked?: readonly RepeatFound[];
}

/** Event `index` of a command may repeat one in the chain of records that begins at `head`. */
export interface RepeatCheck {
  readonly index: number;
  readonly head: number;
  readonly eventType: EventTypeId;
  readonly timestamp: number;
}

/** What the log holds: the newest event that event `index` repeats, 0 for none. */
export interface RepeatFound {
  readonly index: number;
  readonly head: number;
  readonly seq: number;
}

export interface Registration {
  readonly peerName: string;
  readonly gameIds: readonly string[];
  readonly contactEmail?: string;
  /** Ed25519, 32 bytes, base64url. */
  readonly publicKey?: string;
}

/** What bounds a group beyond the limits of the service; from the configuration. */
export interface GroupBounds {
  readonly peersMax: number;
  readonly erasureQuotaPerDay: number;
  readonly erasureMode: ErasureMode;
}

export interface RegisterPeer extends Registration {
  readonly peerId: string;
  /** SHA-256 of the key, hex. */
  readonly keyDigest: string;
  /** The operator may use the places that are kept for that; absent: somebody else asks. */
  readonly byOperator?: boolean;
  readonly by: string;
}

export interface PurgePeers {
  readonly idleMs: number;
  readonly by: string;
}

export interface ChangePeerStatus {
  readonly peerId: string;
  readonly status: PeerStatus;
  readonly by: string;
}

export interface RotateKey {
  readonly peerId: string;
  readonly keyDigest: string;
  readonly overlapMs: number;
  readonly by: string;
}

export interface SetPublicKey {
  readonly peerId: string;
  /** Ed25519, 32 bytes, base64url; null removes the key. */
  readonly publicKey: string | null;
  readonly by: string;
}

/** An entry of the group's allow list. */
export interface AllowPlayer {
  readonly subject: Uint8Array;
  /** A new id, for the audit log. */
  readonly id: string;
  /** ms since 1970. */
  readonly until: number;
  readonly note: string;
  readonly by: string;
}

export interface DisallowPlayer {
  readonly subject: Uint8Array;
  readonly by: string;
}

export interface ChangePreTrust {
  readonly change: 'add' | 'remove';
  readonly peerId: string;
  readonly by: string;
}

/** Whether two peers are one witness, as the operator knows it. */
export interface RelatePeers {
  readonly peerId: string;
  readonly otherId: string;
  readonly relation: PeerRelation['relation'];
  readonly by: string;
}

/** An origin to declare or to remove. */
export interface ChangeOrigin {
  readonly change: 'add' | 'remove';
  readonly name: string;
  readonly by: string;
}

export interface OpenDispute {
  readonly disputeId: string;
  /** Number of the asking peer, or `NO_KEY`. */
  readonly caller: number;
  readonly subject: Uint8Array;
  readonly text: string;
  /** Id of the peer whose events are disputed, where the caller names one. */
  readonly against?: string;
  readonly by: string;
}

export interface DecideDispute {
  readonly disputeId: string;
  readonly decision: 'uphold' | 'reject' | 'undo';
  /** To uphold: the peers whose events become void; none: the one that it can only be. */
  readonly peerIds: readonly string[];
  readonly by: string;
}

/** An operator asks for all that is held of a player. */
export interface ExportSubject {
  readonly subject: Uint8Array;
  /** SHA-256(receipt + subject hash), hex: what the audit log keeps. */
  readonly commitment: string;
  readonly by: string;
}

/** A withdrawal, with the event as the log holds it. */
export interface WithdrawEvent {
  /** Number of the asking peer; null with authentication off. */
  readonly caller: number | null;
  readonly eventSeq: number;
  readonly event: EventAccepted;
  /** `redacted` of the state when the event was located. */
  readonly asOf: number;
  /** The chain of the event's pair, see `chainTo`, and the newest record of the state when it was read. */
  readonly chain: readonly ChainLink[];
  readonly chainAsOf: number;
}

export interface EraseSubject {
  /** Number of the asking peer, `NO_KEY` or `OPERATOR`. */
  readonly caller: number;
  readonly subject: Uint8Array;
  /** SHA-256(receipt + subject hash), hex: what the audit log keeps. */
  readonly commitment: string;
  readonly by: string;
}
