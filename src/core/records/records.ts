/**
 * The records of the append log: everything that ever changes the state. `record-codec` reads and writes their bytes.
 * Times are in ms since 1970.
 */

import type { IdTag } from '../columns/packed-keys.js';
import type { EventTypeId } from '../evidence/event-types.js';
import type { PeerRelation } from '../relations.js';
import type { DisputeStatus, Environment, IdentityMode, PeerStatus } from '../vocabulary.js';

/** The part of a record that the audit log shows, chained by its hashes. */
export interface AuditPart {
  readonly action: string;
  readonly actor: string;
  readonly target: string;
  /** SHA-256, hex, of the previous entry (64 zeros before the first). */
  readonly prev_hash: string;
  readonly hash: string;
}

/** The first record: what this folder is. */
export interface GroupFormed {
  readonly type: 'group_formed';
  readonly group_id: string;
  readonly identity_mode: IdentityMode;
  readonly environment: Environment;
  /** SHA-256, hex, that tells a salt from another without holding it. */
  readonly salt_digest: string;
  /** 32 bytes, hex: seeds the hash tables. */
  readonly node_secret: string;
  readonly half_life_days: number;
  /** ms since 1970: the moment to which evidence is scaled. */
  readonly epoch: number;
  /** The version of scoring that the group began with; absent: the first. */
  readonly scoring?: number;
  /** The kinds of player ids that the group takes; absent: ids are opaque. */
  readonly player_id_kinds?: readonly string[];
  readonly audit: AuditPart;
}

export interface PeerRegistered {
  readonly type: 'peer_registered';
  readonly peer: number;
  readonly peer_id: string;
  readonly peer_name: string;
  readonly game_ids: readonly string[];
  readonly contact_email: string | null;
  /** SHA-256 of the key, hex. */
  readonly key_digest: string;
  /** The Ed25519 key that the peer signs writes with: 32 bytes, base64url; absent where it signs none. */
  readonly public_key?: string;
  readonly audit: AuditPart;
}

/** A peer's Ed25519 public key from here on; null: the peer does not sign. */
export interface PeerPublicKeySet {
  readonly type: 'peer_public_key_set';
  readonly peer: number;
  /** 32 bytes, base64url. */
  readonly public_key: string | null;
  readonly audit: AuditPart;
}

export interface PeerStatusChanged {
  readonly type: 'peer_status_changed';
  readonly peer: number;
  readonly status: PeerStatus;
  readonly audit: AuditPart;
}

export interface PeerKeyRotated {
  readonly type: 'peer_key_rotated';
  readonly peer: number;
  readonly key_digest: string;
  /** ms since 1970 until which the old key still works; 0: it is dead. */
  readonly old_key_until: number;
  readonly audit: AuditPart;
}

export interface PreTrustSet {
  readonly type: 'pre_trust_set';
  readonly peers: readonly number[];
  /** The configured value that this applied, or null where the operator command set it. */
  readonly configured: string | null;
  readonly audit: AuditPart;
}

/** Carries every sum over at its present worth: all are multiplied by `factor`, and scaled to `epoch` from here on. */
export interface HalfLifeChanged {
  readonly type: 'half_life_changed';
  readonly half_life_days: number;
  readonly epoch: number;
  readonly factor: number;
  readonly audit: AuditPart;
}

/** The same with the half-life unchanged: `factor` is an exact power of two. */
export interface EpochMoved {
  readonly type: 'epoch_moved';
  readonly epoch: number;
  readonly factor: number;
}

/** A trust event as accepted. Its `received_at` is the time of its batch. */
export interface EventAccepted {
  readonly type: 'event_accepted';
  /** Number of the peer, or of the carrier where the event has an origin. */
  readonly peer: number;
  readonly subject: Uint8Array;
  readonly event_id: string;
  /** Under which the id is remembered; null in records of version 1. */
  readonly id_tag: IdTag | null;
  /** Number of the event type in the table of types. */
  readonly event_type: EventTypeId;
  /** Position in the peer's `game_ids`. */
  readonly game: number;
  readonly schema_version: string;
  readonly severity: number;
  readonly timestamp: number;
  /** Evidence as decided: base weight x severity, scaled to the decay epoch; negative where it lowers trust. */
  readonly mass: number;
  /**
   * Present where an earlier event of the same peer, player, type and timestamp counts in its place: the mass is no
   * evidence.
   */
  readonly repeats?: true;
  /** The peer's own note on the event, such as the number of a ticket. */
  readonly reference?: string;
  /** Previous record of the same (subject, peer), 0 for none. */
  readonly prev: number;
}

/** All of an event but what it is looked up by. */
export type DecidedEvent = Omit<EventAccepted, 'subject' | 'id_tag'>;

/** What withdrawal and erasure leave of an event. */
export interface EventTombstone {
  readonly type: 'event_gone';
  readonly peer: number;
  readonly id_tag: IdTag;
  readonly prev: number;
}

/** States what a pair's sums are from here on. */
interface StatedSums {
  readonly peer: number;
  /** Hex, or null once the subject was erased. */
  readonly subject: string | null;
  readonly lowering: number;
  readonly raising: number;
  readonly count: number;
  /** The subject's times: of its newest change, and of its newest evidence. */
  readonly updated_at: number;
  readonly evidence_at: number;
  readonly prev: number;
}

/** A peer took back its own event. */
export interface EventWithdrawn extends StatedSums {
  readonly type: 'event_withdrawn';
  readonly event_seq: number;
  /**
   * Where the event was taken back by a later one of its peer: that one's record, and the mass that it no longer hides,
   * below 0 where it hides more. `since`: the record that made a repeated event count, where the event is one.
   */
  readonly hidden?: { readonly under: number; readonly mass: number; readonly since?: number };
  /**
   * The event that repeated the withdrawn one and counts from here on, and what a later event of its peer hides of it.
   */
  readonly counts?: { readonly event_seq: number; readonly hidden?: { readonly under: number; readonly mass: number } };
}

/** A peer took back what it had lowered, by the event of the record before. */
export interface LoweringRevoked extends StatedSums {
  readonly type: 'evidence_taken_back';
}

/** An erasure that waits for the operator. */
export interface ErasureRequested {
  readonly type: 'erasure_requested';
  /** Peer that asked, or `NO_KEY`. */
  readonly peer: number;
  readonly subject: string | null;
  readonly audit: AuditPart;
}

/**
 * A peer asks for the erasure of a subject that others reported, too; the request or the erasure is the next record.
 * Never a subject: the count of a peer tells whether it erases what others say.
 */
export interface SharedErasureAsked {
  readonly type: 'shared_erasure_asked';
  /** Peer that asked, or `NO_KEY`. */
  readonly peer: number;
  readonly audit: AuditPart;
}

/** A subject leaves the state here; its bytes leave the log by `batches_rewritten`. */
export interface SubjectErased {
  readonly type: 'subject_erased';
  /** Peer that asked, `NO_KEY` or `OPERATOR`. */
  readonly peer: number;
  readonly subject: string | null;
  readonly events: number;
  readonly audit: AuditPart;
}

/** Earlier batches were replaced in this record's transaction. */
export interface BatchesRewritten {
  readonly type: 'batches_rewritten';
  /** First sequence number and new content digest (hex) of each. */
  readonly batches: readonly (readonly [firstSeq: number, digest: string])[];
}

/** What was to be taken out of the log is out of it, free space included. */
export interface Redacted {
  readonly type: 'redacted';
  /** The `subject_erased` records that are carried out now. */
  readonly erasures: readonly number[];
  /** Events that were withdrawn. */
  readonly withdrawals: readonly number[];
}

/** Events of one peer whose bytes left the log with an erasure, in this record's transaction. Their ids stay taken. */
export interface EventsErased {
  readonly type: 'events_erased';
  readonly peer: number;
  /** Their records. */
  readonly events: readonly number[];
}

/** What a pair's sums are here, so that records before this one may leave the log. */
export interface CarriedSums {
  readonly type: 'evidence_kept';
  readonly peer: number;
  /** Null once the subject was erased, or a newer record keeps the sums. */
  readonly subject: Uint8Array | null;
  readonly lowering: number;
  readonly raising: number;
  readonly count: number;
  /** The subject's times: of its newest change, and of its newest evidence. */
  readonly updated_at: number;
  readonly evidence_at: number;
  readonly prev: number;
}

/** Events up to a record are out of the log by their age; with `done`, out of its free space as well. */
export interface EventsExpired {
  readonly type: 'events_retired';
  readonly up_to: number;
  readonly done: boolean;
}

/** A player reads as neutral until a moment, whatever was reported. */
export interface PlayerAllowed {
  readonly type: 'player_allowed';
  /** Hex; null once the subject was erased. */
  readonly subject: string | null;
  /** Names the entry in the audit log. */
  readonly id: string;
  readonly until: number;
  /** Null once the subject was erased. */
  readonly note: string | null;
  readonly audit: AuditPart;
}

/** The entry of the allow list is over before its time. */
export interface PlayerAllowanceEnded {
  readonly type: 'player_allowance_ended';
  readonly subject: string | null;
  readonly audit: AuditPart;
}

export interface WeightsPublished {
  readonly type: 'weights_published';
  readonly based_on_seq: number;
  readonly computed_at: number;
  readonly pi: number;
  /** By number of the peer. */
  readonly tau: Float64Array;
  readonly a: Float64Array;
  readonly b: Float64Array;
  /**
   * Two-sidedness, and the lowest peer of each one's witness group; both null in records of the first version of
   * scoring.
   */
  readonly z: Float64Array | null;
  readonly witness: Uint16Array | null;
}

/** What the operator declared about two peers, `first < second`: whether they are one witness. */
export interface PeersRelated extends PeerRelation {
  readonly type: 'peers_related';
  readonly audit: AuditPart;
}

/** The operator declared an origin, or declares one again that was removed. */
export interface OriginDeclared {
  readonly type: 'origin_declared';
  /** Its number: the next one where it is new. */
  readonly origin: number;
  readonly name: string;
  readonly audit: AuditPart;
}

/** No further events of an origin are taken; those that are held stay. */
export interface OriginRemoved {
  readonly type: 'origin_removed';
  readonly origin: number;
  readonly audit: AuditPart;
}

/** A peer sends its first event of an origin: from here on that evidence has the number `carrier`. */
export interface OriginCarried {
  readonly type: 'origin_carried';
  readonly carrier: number;
  readonly peer: number;
  readonly origin: number;
}

/** A peer disputes what is held of a player. */
export interface DisputeOpened {
  readonly type: 'dispute_opened';
  readonly dispute_id: string;
  /** Peer that disputes, or `NO_KEY`. */
  readonly peer: number;
  /** Hex; null once the subject was erased, and the text is empty then. */
  readonly subject: string | null;
  /** For the operator alone. */
  readonly text: string;
  /** The peer whose events are disputed, where the dispute names one. */
  readonly against: number | null;
  readonly audit: AuditPart;
}

/**
 * What the operator decided about a dispute; `open` undoes a decision. `voids`: the peers whose events about the player
 * count for nothing while the dispute is upheld.
 */
export interface DisputeDecided {
  readonly type: 'dispute_decided';
  readonly dispute_id: string;
  readonly status: DisputeStatus;
  readonly voids: readonly number[];
  readonly audit: AuditPart;
}

/** All that is held of a player was handed to the operator. */
export interface SubjectExported {
  readonly type: 'subject_exported';
  readonly audit: AuditPart;
}

/** From here on scores follow another version of scoring. */
export interface ScoringChanged {
  readonly type: 'scoring_changed';
  readonly scoring: number;
  readonly audit: AuditPart;
}

export type LogRecord =
  | GroupFormed
  | PeerRegistered
  | PeerStatusChanged
  | PeerKeyRotated
  | PeerPublicKeySet
  | PlayerAllowed
  | PlayerAllowanceEnded
  | PreTrustSet
  | HalfLifeChanged
  | EpochMoved
  | EventAccepted
  | EventTombstone
  | EventWithdrawn
  | LoweringRevoked
  | ErasureRequested
  | SharedErasureAsked
  | SubjectErased
  | BatchesRewritten
  | EventsErased
  | Redacted
  | CarriedSums
  | EventsExpired
  | WeightsPublished
  | ScoringChanged
  | PeersRelated
  | OriginDeclared
  | OriginRemoved
  | OriginCarried
  | DisputeOpened
  | DisputeDecided
  | SubjectExported;

export type RecordType = LogRecord['type'];
