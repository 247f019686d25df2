/** Declares the records of the log, of which every change of the state is one. Times are in ms since 1970. */
import type { IdTag } from '../columns/packed-keys.js';
import type { EventTypeId } from '../evidence/event-types.js';
import type { PeerChangeStated } from '../peers/peer-changes.js';
import type { SettingName } from '../settings.js';
import type { MeasureWeights } from '../tables/evidence-view.js';
import type { DisputeStatus, Environment, IdentityMode, PeerRelation, PendingReason } from '../vocabulary.js';

/** An audit fact: event, actor and object. It never contains a player's hash. */
export interface AuditFact {
  readonly action: string;
  readonly actor: string;
  readonly target: string;
}

/** The part of a record that the audit log shows, chained by its hashes. */
export interface AuditPart extends AuditFact {
  /** SHA-256, hex, of the previous entry (64 zeros before the first). */
  readonly prev_hash: string;
  readonly hash: string;
}

interface Typed<Type extends string> {
  readonly type: Type;
}

interface Audited<Type extends string> extends Typed<Type> {
  readonly audit: AuditPart;
}

/** The first record, which identifies the data folder. */
export interface GroupFormed extends Audited<'group_formed'> {
  readonly group_id: string;
  readonly identity_mode: IdentityMode;
  readonly environment: Environment;
  /** SHA-256, hex; it tells salts apart without revealing the salt. */
  readonly salt_digest: string;
  /** Seed of the hash tables: 32 bytes, hex. */
  readonly node_secret: string;
  readonly half_life_days: number;
  /** Half-life of measures; absent in a log that began before the third version of scoring, which means 180. */
  readonly ban_half_life_days?: number;
  /** Time to which evidence is scaled, in ms since 1970. */
  readonly epoch: number;
  /** Version of scoring with which the group began; absent for the first version. */
  readonly scoring?: number;
  /** Kinds of player ids that the group accepts; absent if ids are opaque. */
  readonly player_id_kinds?: readonly string[];
}

export type PeerChanged = PeerChangeStated & { readonly peer: number; readonly audit: AuditPart };

/** Sums are multiplied by `factor` and scaled to `epoch`, so that their value stays. */
export interface Rescaled {
  readonly epoch: number;
  readonly factor: number;
}

/** Moves the epoch while the half-life stays: `factor` is an exact power of two. */
export type EpochMoved = Typed<'epoch_moved'> & Rescaled;

/** Like `EpochMoved`, for the sums of standing measures. */
export type BanEpochMoved = Typed<'ban_epoch_moved'> & Rescaled;

/** An accepted trust event. Its `received_at` is the time of its batch. */
export interface EventAccepted extends Typed<'event_accepted'> {
  /** Number of the peer, or of the carrier if the event has an origin. */
  readonly peer: number;
  readonly subject: Uint8Array;
  readonly event_id: string;
  /** Tag under which the id is remembered. */
  readonly id_tag: IdTag;
  /** Number of the event type in the table of types. */
  readonly event_type: EventTypeId;
  /** Position in the peer's `game_ids`. */
  readonly game: number;
  readonly schema_version: string;
  readonly severity: number;
  readonly timestamp: number;
  /** Evidence as decided: base weight x severity, scaled to the epoch of its kind; negative if it lowers trust. */
  readonly mass: number;
  /** Present if the pair's measure, or its lowering claims, began while another peer's lowering evidence stood. */
  readonly follows?: true;
  /** Present if an earlier event of the same content counts instead: then the mass is no evidence. */
  readonly repeats?: true;
  /** The peer's own note on the event, such as the number of a ticket. */
  readonly reference?: string;
  /** Previous record of the same (subject, peer); 0 if there is none. */
  readonly prev: number;
}

/** An event without the fields by which it is looked up. */
export type DecidedEvent = Omit<EventAccepted, 'subject' | 'id_tag'>;

/** The record that replaces an event after its withdrawal or erasure. */
export type EventTombstone = Typed<'event_gone'> & Pick<EventAccepted, 'peer' | 'id_tag' | 'prev'>;

/** States the sums of a pair from this record on. */
interface StatedSums {
  readonly peer: number;
  /** Hex, or null once the subject was erased. */
  readonly subject: string | null;
  readonly lowering: number;
  readonly raising: number;
  /** Sum of standing measures; absent if there are none, and before the third version of scoring. */
  readonly measure?: number;
  /** The bits of `VoteSpace.follows`; absent if none is set. */
  readonly follows?: number;
  readonly count: number;
  /** Times of the subject's newest change and of its newest evidence. */
  readonly updated_at: number;
  readonly evidence_at: number;
  readonly prev: number;
}

/** Lowering mass of one event, or of several: of claims and of measures. */
export interface HiddenMass {
  readonly mass: number;
  /** Absent if there is none. */
  readonly measure?: number;
}

export interface EventWithdrawn extends Typed<'event_withdrawn'>, StatedSums {
  readonly event_seq: number;
  /**
   * Present if a later event of the same peer had revoked this one: `under` is the record of that event, and the masses
   * are those that it no longer hides, negative if it hides more. `since` is the record that made a repeated event
   * count, if this event is one.
   */
  readonly hidden?: HiddenMass & { readonly under: number; readonly since?: number };
  /** The repeat that counts from this record on, with the mass that a later event hides of it. */
  readonly counts?: { readonly event_seq: number; readonly hidden?: HiddenMass & { readonly under: number } };
}

/** A peer revoked its own lowering by the event of the record before. */
export type LoweringRevoked = Typed<'evidence_taken_back'> & StatedSums;

/** A peer asks for the erasure of a subject that others reported, too. Counts such requests, and names no subject. */
export interface SharedErasureAsked extends Audited<'shared_erasure_asked'> {
  /** Peer that asked for the erasure, or `NO_KEY`. */
  readonly peer: number;
}

/** Earlier batches were replaced in the transaction of this record. */
export interface BatchesRewritten extends Typed<'batches_rewritten'> {
  /** First sequence number and new content digest (hex) of each batch. */
  readonly batches: readonly (readonly [firstSeq: number, digest: string])[];
}

/** All events that were to be removed are out of the log, including its free space. */
export interface Redacted extends Typed<'redacted'> {
  /** The `subject_erased` records whose removal is complete. */
  readonly erasures: readonly number[];
  readonly withdrawals: readonly number[];
}

/** Events of one peer whose bytes left the log with an erasure, in the same transaction. Their ids stay taken. */
export interface EventsErased extends Typed<'events_erased'> {
  readonly peer: number;
  /** Records at which the events were accepted. */
  readonly events: readonly number[];
}

/** States the sums of a pair, and the times of its newest change and evidence, so that earlier records may leave. */
export interface CarriedSums extends Typed<'evidence_kept'>, Omit<StatedSums, 'subject'> {
  /** Null if the subject was erased or a newer record states the sums. */
  readonly subject: Uint8Array | null;
}

/** Events up to a record have left the log because of their age; with `done`, they have left its free space as well. */
export interface EventsExpired extends Typed<'events_retired'> {
  readonly up_to: number;
  readonly done: boolean;
}

export interface WeightsPublished extends Typed<'weights_published'> {
  readonly based_on_seq: number;
  readonly computed_at: number;
  readonly pi: number;
  /** Indexed by the number of the peer. */
  readonly tau: Float64Array;
  readonly a: Float64Array;
  readonly b: Float64Array;
  /** Two-sidedness, and the lowest peer of each peer's witness group. */
  readonly z: Float64Array;
  readonly witness: Uint16Array;
  readonly measures: MeasureWeights | null;
}

/** A peer sends its first event of an origin; that evidence has the number `carrier` from this record on. */
export interface OriginCarried extends Typed<'origin_carried'> {
  readonly carrier: number;
  readonly peer: number;
  readonly origin: number;
}

/** The records that only the state and their rule know, each with an audit part. */
interface AuditedRecords {
  readonly peer_registered: {
    readonly peer: number;
    readonly peer_id: string;
    readonly peer_name: string;
    readonly game_ids: readonly string[];
    readonly contact_email: string | null;
    /** SHA-256 of the key, hex. */
    readonly key_digest: string;
    /** Ed25519 key with which the peer signs writes: 32 bytes, base64url; absent if the peer does not sign. */
    readonly public_key?: string;
  };
  readonly pre_trust_set: {
    readonly peers: readonly number[];
    /** The configured value that was applied; null if an operator command set it. */
    readonly configured: string | null;
  };
  readonly half_life_changed: Rescaled & { readonly half_life_days: number };
  /** Like `half_life_changed`, for the sums of standing measures. */
  readonly ban_half_life_changed: Rescaled & { readonly ban_half_life_days: number };
  /** An erasure that waits for the operator's decision. */
  readonly erasure_requested: {
    /** Peer that asked for the erasure, or `NO_KEY`. */
    readonly peer: number;
    readonly subject: string | null;
    /** The reason why it waits; absent in records of earlier releases. */
    readonly reason?: PendingReason;
  };
  /** A subject leaves the state with this record; `batches_rewritten` removes its bytes from the log. */
  readonly subject_erased: {
    /** Peer that asked for the erasure, `NO_KEY` or `OPERATOR`. */
    readonly peer: number;
    readonly subject: string | null;
    readonly events: number;
  };
  /** The operator refuses the pending requests for the erasure of a subject. */
  readonly erasure_refused: {
    readonly subject: string | null;
    readonly reason: string;
  };
  /** An entry of the allow list: the player reads as neutral until a time, whatever was reported. */
  readonly player_allowed: {
    /** Hex; null once the subject was erased. */
    readonly subject: string | null;
    /** Id of the entry in the audit log. */
    readonly id: string;
    readonly until: number;
    /** Null once the subject was erased. */
    readonly note: string | null;
  };
  /** An entry of the allow list was removed before its end. */
  readonly player_allowance_ended: { readonly subject: string | null };
  /** The operator's declaration that two peers, `first < second`, are or are not one witness. */
  readonly peers_related: PeerRelation;
  /** The operator declared an origin, or declared a removed one again. */
  readonly origin_declared: {
    /** Number of the origin: the next number if the origin is new. */
    readonly origin: number;
    readonly name: string;
  };
  /** An origin accepts no further events; its stored events stay. */
  readonly origin_removed: { readonly origin: number };
  /** A peer disputes the events that are held about a player. */
  readonly dispute_opened: {
    readonly dispute_id: string;
    /** Peer that disputes, or `NO_KEY`. */
    readonly peer: number;
    /** Hex; null once the subject was erased, which also empties the text. */
    readonly subject: string | null;
    /** Shown to the operator only. */
    readonly text: string;
    /** The peer whose events are disputed, if the dispute names one. */
    readonly against: number | null;
  };
  /** The decision about a dispute; `open` undoes one. `voids`: peers whose events do not count while it is upheld. */
  readonly dispute_decided: {
    readonly dispute_id: string;
    readonly status: DisputeStatus;
    readonly voids: readonly number[];
  };
  /** The operator exported everything that is held about a player. */
  readonly subject_exported: object;
  /** Changes a setting that the nodes of a cluster share; changes of half-lives have records of their own. */
  readonly group_setting_changed: {
    readonly name: SettingName;
    readonly value: number | string;
  };
  /** Scores follow another version of scoring from this record on. */
  readonly scoring_changed: { readonly scoring: number };
}

type AuditedRecord = { [T in keyof AuditedRecords]: Audited<T> & AuditedRecords[T] }[keyof AuditedRecords];

export type LogRecord =
  | AuditedRecord
  | GroupFormed
  | PeerChanged
  | EpochMoved
  | BanEpochMoved
  | EventAccepted
  | EventTombstone
  | EventWithdrawn
  | LoweringRevoked
  | SharedErasureAsked
  | BatchesRewritten
  | EventsErased
  | Redacted
  | CarriedSums
  | EventsExpired
  | WeightsPublished
  | OriginCarried;

export type RecordType = LogRecord['type'];
