/** Declares the commands that `rules/` decides. Random ids, and what was read from the log, arrive in their fields. */
import type { SubjectKey } from './columns/packed-keys.js';
import type { EventTypeId, EventTypeName } from './evidence/event-types.js';
import type { AskedOf, PeerChangeType } from './peers/peer-changes.js';
import type { PairRecord } from './records/pair-records.js';
import type { EventAccepted } from './records/records.js';
import type { SettingName } from './settings.js';
import type { ErasureMode, PeerRelation } from './vocabulary.js';

interface Asked {
  /** The actor that the audit log names. */
  readonly by: string;
}

/** An event that passed the schema, with the player already replaced by the subject's key. */
export interface EventSubmission {
  readonly schemaVersion: string;
  readonly eventId: string;
  readonly eventType: EventTypeName;
  readonly peerId: string;
  /** Null if the identity mode forbids the form in which the caller sent the player. */
  readonly subject: SubjectKey | null;
  readonly gameId: string;
  readonly severity: number;
  /** ms since 1970. */
  readonly timestamp: number;
  /** Name of the origin whose statement the peer passes on; absent if the statement is the peer's own. */
  readonly origin?: string;
  /** The peer's own opaque note. */
  readonly reference?: string;
}

export interface SubmitEvents {
  /** Number of the peer whose key was sent; null if authentication is off. */
  readonly caller: number | null;
  readonly events: readonly EventSubmission[];
  /** The log's answers about events that may be repeats, the newest first. */
  readonly checked?: readonly RepeatFound[];
}

/** Asks whether event `index` of a command repeats one in the chain of records that begins at `head`. */
export interface RepeatCheck {
  readonly index: number;
  readonly head: number;
  readonly eventType: EventTypeId;
  readonly timestamp: number;
}

/** The log's answer: the newest event that event `index` repeats, or 0 if there is none. */
export interface RepeatFound extends Pick<RepeatCheck, 'index' | 'head'> {
  readonly seq: number;
}

export interface Registration {
  readonly peerName: string;
  readonly gameIds: readonly string[];
  readonly contactEmail?: string;
  /** Ed25519, 32 bytes, base64url. */
  readonly publicKey?: string;
}

/** Bounds of a group from the configuration, besides the limits of the service. */
export interface GroupBounds {
  readonly peersMax: number;
  readonly erasureQuotaPerDay: number;
  readonly erasureMode: ErasureMode;
}

export interface ChangeSetting extends Asked {
  readonly name: SettingName;
  readonly value: number | string;
}

export interface RegisterPeer extends Registration, Asked {
  readonly peerId: string;
  /** SHA-256 of the key, hex. */
  readonly keyDigest: string;
  /** True if the operator asks and may use the places reserved for operators; absent for every other caller. */
  readonly byOperator?: boolean;
}

export interface PurgePeers extends Asked {
  readonly idleMs: number;
}

export type ChangePeer<T extends PeerChangeType = PeerChangeType> = {
  readonly [K in T]: { readonly type: K; readonly peerId: string; readonly by: string } & AskedOf<K>;
}[T];

export interface AllowPlayer extends Asked {
  readonly subject: Uint8Array;
  /** A new id, for the audit log. */
  readonly id: string;
  /** ms since 1970. */
  readonly until: number;
  readonly note: string;
}

export interface RefuseErasure extends Asked {
  readonly subject: Uint8Array;
  /** Shown to the peers that asked for the erasure. */
  readonly reason: string;
}

export type DisallowPlayer = Asked & Pick<AllowPlayer, 'subject'>;

export interface ChangePreTrust extends Asked {
  readonly change: 'add' | 'remove';
  readonly peerId: string;
}

/** The operator's statement that two peers are, or are not, one witness. */
export interface RelatePeers extends Asked {
  readonly peerId: string;
  readonly otherId: string;
  readonly relation: PeerRelation['relation'];
}

export interface ChangeOrigin extends Asked {
  readonly change: 'add' | 'remove';
  readonly name: string;
}

export interface OpenDispute extends Asked {
  readonly disputeId: string;
  /** Number of the asking peer, or `NO_KEY`. */
  readonly caller: number;
  readonly subject: Uint8Array;
  readonly text: string;
  /** Id of the peer whose events are disputed, if the caller names one. */
  readonly against?: string;
}

export interface DecideDispute extends Asked {
  readonly disputeId: string;
  readonly decision: 'uphold' | 'reject' | 'undo';
  /** Peers whose events become void if the dispute is upheld. An empty list means the only peer that is possible. */
  readonly peerIds: readonly string[];
}

export interface ExportSubject extends Asked {
  readonly subject: Uint8Array;
  /** SHA-256(receipt + subject hash), hex; the audit log stores it. */
  readonly commitment: string;
}

export interface WithdrawEvent {
  /** Number of the asking peer; null if authentication is off. */
  readonly caller: number | null;
  readonly eventSeq: number;
  readonly event: EventAccepted;
  /** The state's `redacted` counter when the event was located. */
  readonly asOf: number;
  /** The chain of the event's pair (see `pairRecordsTo`), and the state's newest record at the time of the read. */
  readonly chain: readonly PairRecord[];
  readonly chainAsOf: number;
}

export interface EraseSubject extends ExportSubject {
  /** Number of the asking peer, `NO_KEY` or `OPERATOR`. */
  readonly caller: number;
}
