/**
 * What a group offers to the floors above it (HTTP, operator command): commands, which are durable once they resolve,
 * and views, which are synchronous reads of memory. Nothing above this floor sees state, records, store or pools.
 * Times are in ms since 1970.
 */
import type { DecideDispute, EventSubmission, Registration } from '../core/commands.js';
import type { EventTypeName } from '../core/evidence/event-types.js';
import type { PeerRelation, WitnessReason } from '../core/relations.js';
import type { TrustExplanation, TrustView } from '../core/scoring/score.js';
import type { Simulation } from '../core/scoring/simulation.js';
import type { VerdictCounts } from '../core/scoring/verdict-counts.js';
import type { KeyColumns } from '../core/tables/event-columns.js';
import type { DisputeStatus, Environment, IdentityMode, PeerStatus, PendingReason } from '../core/vocabulary.js';
import type { Outcome } from '../errors.js';
import type { ClusterHealth, ClusterOperations } from './cluster-api.js';
import type { Holder } from './holder.js';
import type { VerdictChanges } from './verdict-changes.js';

export type { EventSubmission, Registration, TrustExplanation, TrustView, VerdictCounts };

export interface GroupIdentity {
  readonly groupId: string;
  readonly identityMode: IdentityMode;
  readonly environment: Environment;
  /** The kinds of player ids that the group takes in canonical form; absent: ids are opaque. */
  readonly playerIdKinds?: readonly string[];
}

/** Where the published peer weights stand. `basedOnSeq` 0 and `computedAt` null: none were computed yet. */
export interface WeightsStatus {
  readonly basedOnSeq: number;
  readonly computedAt: number | null;
}

export interface GroupHealth {
  /** False while recovering, draining, or after the log could not be written. */
  readonly ready: boolean;
  /** False also while ready, where the disk is nearly full: reads are answered then, and writes refused. */
  readonly writable: boolean;
  /** Why not ready, or not writable; undefined when both. */
  readonly reason?: 'recovering' | 'draining' | 'log_failed' | 'disk_low' | 'clock_ahead' | 'stale' | 'log_unreachable';
  /** The newest durable record. */
  readonly lastSeq: number;
  readonly weights: WeightsStatus;
}

export interface PeerView {
  /**
   * The peer's number in this group, ascending in order of registration; origins and carriers take numbers, too. Shown
   * to nobody but within an opaque cursor.
   */
  readonly index: number;
  readonly peerId: string;
  readonly peerName: string;
  readonly gameIds: readonly string[];
  readonly status: PeerStatus;
  readonly registeredAt: number;
  /** The Ed25519 key that the peer signs its writes with: 32 bytes, base64url; null where it does not sign. */
  readonly publicKey: string | null;
  /** Events ever accepted from this peer. */
  readonly eventCount: number;
  readonly preTrusted: boolean;
  /** Published weight in [0,1] and what it is made of. */
  readonly weight: number;
  readonly tau: number;
  readonly a: number;
  readonly b: number;
}

/** What the newest computation of weights shows about a peer. */
export interface PeerSignals {
  /** Players that it reported, and those of them that another peer reported too. */
  readonly players: number;
  readonly sharedPlayers: number;
  /** Peers with which it agrees while the group trusts neither fully: their joint behaviour is discounted. */
  readonly discountedWith: readonly {
    readonly peerId: string;
    readonly sharedPlayers: number;
    /** In (0, 1]. */
    readonly agreement: number;
  }[];
  /** Peers that count as one witness with it, `limits.witnessesListedMax` at most. */
  readonly oneWitnessWith: readonly { readonly peerId: string; readonly reason: WitnessReason }[];
}

export interface GroupCounts {
  readonly peers: number;
  readonly players: number;
  readonly events: number;
}

export interface AcceptedEvent {
  readonly receivedAt: number;
}

/** A peer together with its key in the clear: handed out once, kept only as a digest. */
export interface IssuedKey {
  readonly peer: PeerView;
  readonly apiKey: string;
}

export interface Erasure {
  readonly status: 'erased' | 'pending';
  /** Why it waits; null where it does not. */
  readonly reason: PendingReason | null;
  /** Events erased; 0 while pending. */
  readonly eventsErased: number;
  readonly erasedAt: number;
  /** Proof for the requester: the audit log keeps SHA-256(receipt + hash). */
  readonly receipt: string;
}

/** One of the caller's own events, as stored. */
export interface OwnEvent {
  readonly seq: number;
  readonly schemaVersion: string;
  readonly eventId: string;
  readonly eventType: EventTypeName;
  readonly gameId: string;
  readonly severity: number;
  readonly timestamp: number;
  /** Absent where the event has none. */
  readonly origin?: string;
  readonly reference?: string;
  /** Present while somebody disputes it, or an upheld dispute takes it out of the score. */
  readonly disputed?: true;
  readonly receivedAt: number;
}

export interface SummaryRow {
  /** An event type, or `other` where fewer than 3 peers contributed. */
  readonly eventType: EventTypeName | 'other';
  /** ISO 8601 week of the event's timestamp (`2026-W47`); absent on an `other` row. */
  readonly week?: string;
  readonly count: number;
}

export interface PlayerEvents {
  readonly total: number;
  readonly summarised: number;
  readonly summary: readonly SummaryRow[];
  /** Newest first. */
  readonly own: readonly OwnEvent[];
  /** Records to continue with, one of each chain of the caller's, or null at the end. */
  readonly next: readonly number[] | null;
}

/**
 * The caller's own events that went with erasures. It never says of whom, nor who asked: all that names the player is
 * gone.
 */
export interface OwnErasures {
  readonly total: number;
  /** In the order of their erasure. */
  readonly events: readonly { readonly receivedAt: number; readonly erasedAt: number }[];
  /** Position to go on from, or null at the end. */
  readonly next: number | null;
}

export interface AuditEntry {
  readonly seq: number;
  readonly at: number;
  readonly action: string;
  readonly actor: string;
  readonly target: string;
  readonly prevHash: string;
  readonly hash: string;
}

export interface AuditPage {
  /** Oldest first. */
  readonly entries: readonly AuditEntry[];
  /** Sequence number to continue after, or null at the end. */
  readonly nextAfter: number | null;
}

export interface VerifyReport {
  readonly ok: boolean;
  readonly lastSeq: number;
  readonly batches: number;
  readonly records: number;
  readonly auditEntries: number;
  readonly snapshots: readonly { readonly seq: number; readonly ok: boolean; readonly fault?: string }[];
  /** SHA-256, hex, of all batches as they are stored; of a whole log that was read to its end. */
  readonly digest?: string;
  /** What is wrong, each naming the place. Empty when ok. */
  readonly faults: readonly string[];
}

/** The disk under the data folder at the last look, in bytes. */
export interface DiskStatus {
  readonly freeBytes: number;
  /** The watermark. */
  readonly minBytes: number;
  readonly logBytes: number;
  readonly snapshotsBytes: number;
}

/** Peer weights as one record put them into force. */
export interface PublishedWeights {
  readonly seq: number;
  readonly at: number;
  readonly basedOnSeq: number;
  readonly computedAt: number;
  /** The group's share of bad players. */
  readonly pi: number;
  readonly peers: readonly {
    readonly peerId: string;
    readonly weight: number;
    readonly tau: number;
    readonly a: number;
    readonly b: number;
  }[];
}

export interface WeightsPage {
  /** Oldest first; a page may be empty and not the last. */
  readonly entries: readonly PublishedWeights[];
  /** Record to continue after, or null at the end. */
  readonly nextAfter: number | null;
  readonly lastSeq: number;
}

/** What a simulation assumes otherwise than it is. */
export interface SimulationQuery {
  /** Peer ids of another set of pre-trusted peers; null: the set as it is. */
  readonly preTrusted: readonly string[] | null;
  /** Peer ids whose evidence counts for nothing. */
  readonly without: readonly string[];
  /** Another half-life, as if it had always been so; null: as it is. */
  readonly halfLifeDays: number | null;
  /** Players, and peers, that the answer names at most. */
  readonly rowsMax: number;
}

export interface SimulationView extends Omit<Simulation, 'weightsBefore' | 'weightsAfter'> {
  /** Peers whose weight moves, the one that moves most first. */
  readonly peers: readonly {
    readonly peerId: string;
    readonly peerName: string;
    readonly before: number;
    readonly after: number;
  }[];
}

/** Is told how far long work has come. */
export type OnProgress = (done: number, total: number) => void;

/** The check of log and snapshots in the background. */
export interface CheckStatus {
  readonly running: boolean;
  /** Up to which record the check under way, or else the last one, has come. */
  readonly checkedSeq: number;
  /** When the last one ended, ms since 1970; null before the first. */
  readonly endedAt: number | null;
  /** What the last one found, each naming the place. */
  readonly faults: readonly string[];
}

/** A player on the group's allow list. */
export interface AllowedPlayer {
  /** Subject hash, hex. */
  readonly subject: string;
  /** Names the entry in the audit log. */
  readonly entryId: string;
  /** ms since 1970, at the end of a minute. */
  readonly until: number;
  readonly note: string;
}

/** An erasure that waits for the operator. */
export interface PendingErasure {
  /** Subject hash, hex. */
  readonly subject: string;
  /** ms since 1970 of its first request. */
  readonly requestedAt: number;
}

/** An origin as the operator sees it. */
export interface OriginView {
  readonly name: string;
  readonly declaredAt: number;
  /** False once it was removed. */
  readonly isDeclared: boolean;
  /** Peers that carry it, by their ids. */
  readonly carriers: readonly string[];
  /** Published weight in [0,1] and what it is made of; that of the best peer that carries it at most. */
  readonly weight: number;
  readonly tau: number;
  readonly a: number;
  readonly b: number;
}

/** A dispute as the operator sees it. */
export interface DisputeView {
  readonly id: string;
  readonly openedAt: number;
  /** The peer that disputes; null where it had no key. */
  readonly peerId: string | null;
  /** Subject hash, hex. */
  readonly subject: string;
  readonly text: string;
  /** The peer whose events are disputed, where the dispute names one. */
  readonly against: string | null;
  readonly status: DisputeStatus;
  readonly decidedAt: number | null;
  /** Peers whose events about the player count for nothing. */
  readonly voids: readonly string[];
  /** Peers that hold events about the player. */
  readonly reporters: readonly string[];
}

export interface ExportedEvent {
  readonly seq: number;
  readonly receivedAt: number;
  readonly peerId: string;
  readonly origin: string | null;
  readonly reference: string | null;
  readonly schemaVersion: string;
  readonly eventId: string;
  readonly eventType: EventTypeName;
  readonly gameId: string;
  readonly severity: number;
  readonly timestamp: number;
  /** Whether an upheld dispute takes it out of the score. */
  readonly isVoid: boolean;
}

/** All that is held of one player. */
export interface SubjectExport {
  /** Subject hash, hex. */
  readonly subject: string;
  readonly exportedAt: number;
  /** The audit log keeps SHA-256(receipt + hash). */
  readonly receipt: string;
  /** Null where no event is held. */
  readonly trust: TrustView | null;
  /** The evidence of each peer, decayed, also of events that left the log by their age. */
  readonly sums: readonly {
    readonly peerId: string;
    readonly origin: string | null;
    readonly events: number;
    readonly lowering: number;
    readonly raising: number;
    readonly isVoid: boolean;
  }[];
  /** Newest first. */
  readonly events: readonly ExportedEvent[];
  /** False where there are more events than one export holds. */
  readonly isComplete: boolean;
  readonly disputes: readonly DisputeView[];
  /** Rejected disputes of which only the log holds the text. */
  readonly pastDisputes: readonly {
    readonly id: string;
    readonly openedAt: number;
    readonly peerId: string | null;
    readonly text: string;
  }[];
  /** Erasures that wait for the operator; of a peer without a key the id is null. */
  readonly erasureRequests: readonly { readonly requestedAt: number; readonly peerId: string | null }[];
  /** The entry of the allow list, null for none; `until` in ms since 1970. */
  readonly allowed: { readonly id: string; readonly until: number; readonly note: string } | null;
  /** Entries that ended or were replaced, the oldest first. */
  readonly pastAllowed: readonly {
    readonly id: string;
    readonly addedAt: number;
    readonly until: number;
    readonly note: string;
  }[];
  /** Entries of the audit log that concern the player, though they do not name it. */
  readonly audit: readonly AuditEntry[];
}

export interface GroupStatus extends GroupHealth {
  readonly identity: GroupIdentity;
  readonly counts: GroupCounts;
  readonly peersByStatus: Readonly<Record<PeerStatus, number>>;
  /** Peers that registered within a day, and those of them that have reported. */
  readonly newcomers: { readonly registered: number; readonly reporting: number };
  readonly halfLifeDays: number;
  readonly preTrusted: readonly string[];
  /** Groups of two peers or more that count as one witness, and the peers in them. */
  readonly witnesses: { readonly groups: number; readonly peers: number };
  readonly mailbox: { readonly events: number; readonly bytes: number };
  readonly pendingErasures: number;
  /** Disputes that wait for the operator. */
  readonly openDisputes: number;
  readonly snapshots: readonly number[];
  readonly ownerEpoch: number;
  /** Null where it could never be looked at. */
  readonly disk: DiskStatus | null;
  readonly check: CheckStatus;
  readonly cluster: ClusterHealth | null;
}

/** Views: synchronous, from memory, never waiting. */
export interface GroupViews {
  readonly identity: GroupIdentity;
  health(): GroupHealth;
  /** Null where this node serves its group alone. One object for life, whose fields tell how it is now. */
  readonly cluster: ClusterHealth | null;
  /**
   * Resolves to true once all is applied here that was decided before the call; to false where that is not known in
   * time.
   */
  refresh(): Promise<boolean>;
  /** The `ready` of `health`, which every request asks for. */
  readonly isReady: boolean;
  /**
   * Whether so many further events of a holder would be let in now: asked before a body is parsed, so that a refusal
   * costs little.
   */
  admits(events: number, holder: Holder): boolean;
  /** Whether so many events of a holder come before those of others, since it had less than its share recently. */
  hasRoom(events: number, holder: Holder): boolean;
  /** Whether more events came than are taken, so that some were refused, and that is not over. */
  readonly overloaded: boolean;
  /** A batch was refused in an overload without being asked for: where many wait, that keeps it up. */
  noteRefusal(): void;
  counts(): GroupCounts;
  /** The peer that a key's SHA-256 (hex) belongs to, whatever its status; a key past its overlap matches nobody. */
  peerByKeyDigest(digestHex: string): PeerView | undefined;
  peerById(peerId: string): PeerView | undefined;
  /** The peer's `eventCount` as other peers may know it, without the events of the last one to two hours. */
  delayedEventCount(peer: PeerView): number;
  /** Peers numbered from `from` on, oldest first, at most `limit`. */
  peers(from: number, limit: number): PeerView[];
  /** Whether a peer asked for an erasure at `at` (ms since 1970) or later. */
  hasErasedSince(peer: PeerView, at: number): boolean;
  /** Undefined: no events of this subject are known. */
  trust(subject: Uint8Array): TrustView | undefined;
  /**
   * The same of many, all at one moment, in the order of their keys. Of the columns the hashes and rows are filled in.
   */
  trusts(players: KeyColumns): (TrustView | undefined)[];
  /** Numbers of the peers that are to see their events about a player (hex) as disputed. */
  disputedFor(subject: string): readonly number[];
  explain(subject: Uint8Array): TrustExplanation | undefined;
  /** At most `limit` of a peer's events that went with erasures, from position `from` on. */
  ownErasures(peer: PeerView, from: number, limit: number): OwnErasures;
  /** Every change of a verdict as it becomes durable. */
  readonly verdicts: VerdictChanges;
}

/** Commands: each resolves once what it changed is durable, or with a refusal. Rejects only on a broken invariant. */
export interface GroupCommands {
  /**
   * `caller` null: peer authentication is off and `peerId` of each event names the acting peer. `holder`: whose room
   * the events take, the caller's where absent. One outcome per event, in order.
   */
  submit(
    caller: PeerView | null,
    events: readonly EventSubmission[],
    holder?: Holder,
  ): Promise<Outcome<AcceptedEvent>[]>;
  /** `byOperator`: places that are kept for the operator may be used. */
  register(registration: Registration, by: string, byOperator?: boolean): Promise<Outcome<IssuedKey>>;
  withdraw(caller: PeerView | null, eventId: string): Promise<Outcome<{ readonly withdrawnAt: number }>>;
  /** `caller` null: authentication is off; the audit names `anonymous`. */
  erase(caller: PeerView | null, subject: Uint8Array): Promise<Outcome<Erasure>>;
  /** `caller` null: the summary alone, and no events of one's own. */
  playerEvents(
    subject: Uint8Array,
    caller: PeerView | null,
    limit: number,
    from: readonly number[] | null,
  ): Promise<Outcome<PlayerEvents>>;
  /**
   * Disputes what is held of a player; `against`: id of the peer whose events are disputed. `caller` null:
   * authentication is off; the audit names `anonymous`.
   */
  dispute(
    caller: PeerView | null,
    subject: Uint8Array,
    text: string,
    against?: string,
  ): Promise<Outcome<{ readonly id: string; readonly openedAt: number }>>;
  audit(after: number, limit: number): Promise<Outcome<AuditPage>>;
}

/** What only the operator may ask. */
export interface GroupOperations {
  status(): GroupStatus;
  /** Undefined where the peer was not there at the newest computation. */
  signals(peer: PeerView): PeerSignals | undefined;
  /** How often a peer asked for the erasure of a player whom others had reported, too. */
  sharedErasures(peer: PeerView): number;
  setPeerStatus(peerId: string, status: PeerStatus, by: string): Promise<Outcome<PeerView>>;
  /** `overlapMs` 0 kills the old key at once; at most `limits.keyOverlapMsMax`. */
  rotateKey(peerId: string, overlapMs: number, by: string): Promise<Outcome<IssuedKey>>;
  /** The key that a peer signs its writes with (32 bytes, base64url), or null for none. */
  setPublicKey(peerId: string, publicKey: string | null, by: string): Promise<Outcome<PeerView>>;
  preTrust(
    change: 'add' | 'remove',
    peerId: string,
    by: string,
  ): Promise<Outcome<{ readonly preTrusted: readonly string[] }>>;
  /** Revokes the peers that never sent an event and registered longer ago than `idleMs`; answers their ids. */
  purgePeers(idleMs: number, by: string): Promise<Outcome<readonly string[]>>;
  /** Declares that two peers are one witness, or that they are independent. */
  relatePeers(relation: PeerRelation['relation'], peerId: string, otherId: string, by: string): Promise<Outcome<null>>;
  /** The entries of the allow list that are not over, in the order of their subjects. */
  allowedPlayers(): readonly AllowedPlayer[];
  /** The entry of one player; undefined where it has none, or where it is over. */
  allowedPlayer(subject: Uint8Array): AllowedPlayer | undefined;
  /** Puts a player on the allow list until a moment (ms since 1970). Codes: invalid_parameter, overloaded. */
  allowPlayer(subject: Uint8Array, until: number, note: string, by: string): Promise<Outcome<AllowedPlayer>>;
  /** Takes a player off the list. Codes: subject_not_found. */
  disallowPlayer(subject: Uint8Array, by: string): Promise<Outcome<null>>;
  /** Subject hashes (hex) whose erasure waits for the operator. */
  pendingErasures(): readonly PendingErasure[];
  /** All origins that were ever declared, the oldest first. */
  origins(): readonly OriginView[];
  changeOrigin(change: 'add' | 'remove', name: string, by: string): Promise<Outcome<OriginView>>;
  /** The oldest first; of one status alone where that is given. */
  disputes(status?: DisputeStatus): readonly DisputeView[];
  /** `peerIds`: to uphold, the peers whose events become void; none: the one that it can only be. */
  decideDispute(
    decision: DecideDispute['decision'],
    disputeId: string,
    peerIds: readonly string[],
    by: string,
  ): Promise<Outcome<DisputeView>>;
  /** All that is held of a player; audited. Codes: subject_not_found, overloaded. */
  exportSubject(subject: Uint8Array, by: string): Promise<Outcome<SubjectExport>>;
  /** Erases at once, whatever the mode, and so confirms what is pending for the subject. */
  confirmErasure(subject: Uint8Array, by: string): Promise<Outcome<Erasure>>;
  /** The newest `count` entries; with `before`, of those below that sequence number. */
  auditTail(count: number, before?: number): Promise<Outcome<AuditPage>>;
  /** Peer weights published after record `after`, as far as one piece of the log reaches. Codes: overloaded. */
  publishedWeights(after: number): Promise<Outcome<WeightsPage>>;
  /** How players spread over the verdicts, counted in the pool. Codes: overloaded. */
  verdictCounts(): Promise<Outcome<VerdictCounts>>;
  /** Computed in the pool, one at a time; changes nothing. Codes: unknown_peer, overloaded. */
  simulate(query: SimulationQuery, onProgress?: OnProgress): Promise<Outcome<SimulationView>>;
  /** Of the whole store, one at a time. Codes: overloaded. */
  verify(onProgress?: OnProgress): Promise<Outcome<VerifyReport>>;
}

export interface GroupApi extends GroupViews, GroupCommands, GroupOperations {
  /** Null where this node serves its group alone. */
  readonly clusterOperations: ClusterOperations | null;
}
