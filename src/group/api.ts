/**
 * Declares the interface of a group for the layers above it (HTTP, operator command): commands, which are durable once
 * they resolve, and views, which are synchronous reads of memory. No layer above sees state, records, store or pools.
 * Times are in ms since 1970.
 */

import type { DecideDispute, EventSubmission, Registration } from '../core/commands.js';
import type { EventTypeName } from '../core/evidence/event-types.js';
import type { AskedOf, PeerChangeType } from '../core/peers/peer-changes.js';
import type { RefusedErasure } from '../core/registers/erasure-requests.js';
import type { PeerRelation, WitnessReason } from '../core/relations.js';
import type { TrustExplanation } from '../core/scoring/explanation.js';
import type { TrustView } from '../core/scoring/score.js';
import type { Simulation } from '../core/scoring/simulation.js';
import type { VerdictCounts } from '../core/scoring/verdict-counts.js';
import type { SettingName } from '../core/settings.js';
import type { KeyColumns } from '../core/tables/event-columns.js';
import type {
  DisputeStatus,
  Environment,
  IdentityMode,
  PeerStatus,
  PendingReason,
  Verdict,
} from '../core/vocabulary.js';
import type { Outcome } from '../errors.js';
import type { PeerView } from './access/peer-view.js';
import type { ClusterHealth, ClusterOperations } from './cluster-api.js';
import type { Holder } from './holder.js';
import type { VerdictChanges } from './verdict-changes.js';

export type { EventSubmission, PeerView, RefusedErasure, Registration, TrustExplanation, TrustView, VerdictCounts };

export interface GroupIdentity {
  readonly groupId: string;
  readonly identityMode: IdentityMode;
  readonly environment: Environment;
  /** The kinds of player ids that the group accepts in canonical form; absent if ids are opaque. */
  readonly playerIdKinds?: readonly string[];
}

/** The state of the published peer weights. `basedOnSeq` 0 and `computedAt` null mean that none were computed yet. */
export interface WeightsStatus {
  readonly basedOnSeq: number;
  readonly computedAt: number | null;
}

export interface GroupHealth {
  /** False while recovering, draining, or after the log could not be written. */
  readonly ready: boolean;
  /** False also while ready, if the disk is nearly full: reads are then answered and writes refused. */
  readonly writable: boolean;
  /** The reason for not being ready or writable; undefined if the node is both. */
  readonly reason?:
    | 'recovering'
    | 'draining'
    | 'log_failed'
    | 'disk_low'
    | 'clock_ahead'
    | 'stale'
    | 'log_unreachable'
    | 'log_full';
  /** The newest durable record. */
  readonly lastSeq: number;
  readonly weights: WeightsStatus;
}

/** Findings of the newest computation of weights about a peer. */
export interface PeerSignals {
  /** Number of players that the peer reported, and of those that another peer reported, too. */
  readonly players: number;
  readonly sharedPlayers: number;
  /** Peers with which it agrees although the group trusts neither fully: their agreement is discounted. */
  readonly discountedWith: readonly {
    readonly peerId: string;
    readonly sharedPlayers: number;
    /** In (0, 1]. */
    readonly agreement: number;
  }[];
  /** Peers that count as one witness with it, at most `limits.witnessesListedMax`. */
  readonly oneWitnessWith: readonly { readonly peerId: string; readonly reason: WitnessReason }[];
}

export interface GroupCounts {
  readonly peers: number;
  readonly players: number;
  readonly events: number;
}

export interface AcceptedEvent {
  readonly receivedAt: number;
  /** False if the event is stored but is no evidence: it is too old, or has severity 0; absent otherwise. */
  readonly counts?: false;
}

/** A peer together with its key in the clear, which is returned once and stored only as a digest. */
export interface IssuedKey {
  readonly peer: PeerView;
  readonly apiKey: string;
}

export interface Erasure {
  readonly status: 'erased' | 'pending';
  /** The reason why the erasure waits; null if it does not. */
  readonly reason: PendingReason | null;
  /** Number of erased events; 0 while pending. */
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
  /** Absent if the event has no origin. */
  readonly origin?: string;
  readonly reference?: string;
  /** Present while the event is disputed, or an upheld dispute excludes it from the score. */
  readonly disputed?: true;
  readonly receivedAt: number;
}

export interface SummaryRow {
  /** An event type, or `other` if fewer than 3 peers contributed. */
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
  /** Records to continue from, one of each chain of the caller's, or null at the end. */
  readonly next: readonly number[] | null;
  /** Present if the operator refused the caller's request to erase the player. */
  readonly erasureRefused?: Pick<RefusedErasure, 'at' | 'reason'>;
}

/**
 * The caller's own events that were removed by erasures. It reveals neither the player nor the requester: nothing that
 * names the player is left.
 */
export interface OwnErasures {
  readonly total: number;
  /** In the order of their erasure. */
  readonly events: readonly { readonly receivedAt: number; readonly erasedAt: number }[];
  /** Position to continue from, or null at the end. */
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
  /** SHA-256, hex, of all batches as stored; present if the whole log was read. */
  readonly digest?: string;
  /** Defects, each with its location. Empty if ok. */
  readonly faults: readonly string[];
}

/** The disk under the data folder at the last check, in bytes. */
export interface DiskStatus {
  readonly freeBytes: number;
  /** Free space below which writes are refused. */
  readonly minBytes: number;
  readonly logBytes: number;
  readonly snapshotsBytes: number;
}

/** The assumptions of a simulation. */
export interface SimulationQuery {
  /** Peer ids of the assumed set of pre-trusted peers; null for the present set. */
  readonly preTrusted: readonly string[] | null;
  /** Peer ids whose evidence does not count. */
  readonly without: readonly string[];
  /** Assumed half-lives of claims and of bans, as if they had always applied; null for the present ones. */
  readonly halfLifeDays: number | null;
  readonly banHalfLifeDays: number | null;
  /** Largest number of players, and of peers, in the answer. */
  readonly rowsMax: number;
}

export interface SimulationView extends Omit<Simulation, 'weightsBefore' | 'weightsAfter'> {
  /** Peers whose weight changes, the largest change first. */
  readonly peers: readonly {
    readonly peerId: string;
    readonly peerName: string;
    readonly before: number;
    readonly after: number;
  }[];
}

/** Receives the progress of long work. */
export type OnProgress = (done: number, total: number) => void;

/** The background check of log and snapshots. */
export interface CheckStatus {
  readonly running: boolean;
  /** Record up to which the check in progress, or else the last one, has read. */
  readonly checkedSeq: number;
  /** End of the last check, ms since 1970; null before the first. */
  readonly endedAt: number | null;
  /** Defects that the last check found, each with its location. */
  readonly faults: readonly string[];
}

/** A player on the group's allow list. */
export interface AllowedPlayer {
  /** Subject hash, hex. */
  readonly subject: string;
  /** Id of the entry in the audit log. */
  readonly entryId: string;
  /** ms since 1970, at the end of a minute. */
  readonly until: number;
  readonly note: string;
}

/** A player with one of the verdicts that were asked for. */
export interface JudgedPlayer extends Pick<TrustView, 'verdict' | 'score' | 'confidence' | 'eventCount' | 'updatedAt'> {
  /** Subject hash, hex. */
  readonly subject: string;
}

/** An erasure that waits for the operator. */
export interface PendingErasure {
  /** Subject hash, hex. */
  readonly subject: string;
  /** The oldest first. `requestedAt` in ms since 1970; `peerId` is null if the caller had no key. */
  readonly requests: readonly {
    readonly requestedAt: number;
    readonly peerId: string | null;
    readonly reason: PendingReason;
  }[];
}

/** An origin as the operator sees it. */
export interface OriginView {
  readonly name: string;
  readonly declaredAt: number;
  /** False once the origin was removed. */
  readonly isDeclared: boolean;
  /** Ids of the peers that carry it. */
  readonly carriers: readonly string[];
  /** Published weight in [0,1] and its components; at most the weight of the best peer that carries it. */
  readonly weight: number;
  readonly tau: number;
  readonly a: number;
  readonly b: number;
}

export interface NamedPeer {
  readonly peerId: string;
  readonly peerName: string;
}

/** A peer with lowering evidence about a player. */
export interface ReporterView extends NamedPeer {
  /** `both`: it holds raising evidence, too. */
  readonly direction: 'lowering' | 'both';
  readonly events: number;
  /** ms since 1970 at which the newest was received. */
  readonly lastAt: number;
  /** Published weight in [0,1]. */
  readonly weight: number;
}

/** A dispute as the operator sees it. */
export interface DisputeView {
  readonly id: string;
  readonly openedAt: number;
  /** The peer that disputes; null if it had no key. */
  readonly by: NamedPeer | null;
  /** Subject hash, hex. */
  readonly subject: string;
  readonly text: string;
  /** The peer whose events are disputed, if the dispute names one. */
  readonly against: NamedPeer | null;
  /** Other peers whose name or id is in the text, so that it may be read as against them. */
  readonly alsoNamed: readonly NamedPeer[];
  readonly status: DisputeStatus;
  readonly decidedAt: number | null;
  /** Peers whose events about the player do not count. */
  readonly voids: readonly string[];
  readonly reporters: readonly ReporterView[];
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
  /** True if an upheld dispute excludes the event from the score. */
  readonly isVoid: boolean;
}

/** Everything that is held of one player. */
export interface SubjectExport {
  /** Subject hash, hex. */
  readonly subject: string;
  readonly exportedAt: number;
  /** The audit log keeps SHA-256(receipt + hash). */
  readonly receipt: string;
  /** Null if no event is held. */
  readonly trust: TrustView | null;
  /** The decayed evidence of each peer, including that of expired events. */
  readonly sums: readonly {
    readonly peerId: string;
    readonly origin: string | null;
    readonly events: number;
    readonly lowering: number;
    readonly raising: number;
    readonly bans: number;
    readonly isVoid: boolean;
  }[];
  /** Newest first. */
  readonly events: readonly ExportedEvent[];
  /** False if there are more events than one export holds. */
  readonly isComplete: boolean;
  readonly disputes: readonly DisputeView[];
  /** Dropped rejected disputes, whose texts are only in the log. */
  readonly pastDisputes: readonly {
    readonly id: string;
    readonly openedAt: number;
    readonly peerId: string | null;
    readonly text: string;
  }[];
  /** Erasures that wait for the operator; the id is null for a peer without a key. */
  readonly erasureRequests: readonly { readonly requestedAt: number; readonly peerId: string | null }[];
  readonly refusedErasures: readonly Pick<RefusedErasure, 'at' | 'reason'>[];
  /** The entry of the allow list, or null; `until` in ms since 1970. */
  readonly allowed: { readonly id: string; readonly until: number; readonly note: string } | null;
  /** Entries that ended or were replaced, the oldest first. */
  readonly pastAllowed: readonly {
    readonly id: string;
    readonly addedAt: number;
    readonly until: number;
    readonly note: string;
  }[];
  /** Entries of the audit log that concern the player without naming the player. */
  readonly audit: readonly AuditEntry[];
}

export interface GroupStatus extends GroupHealth {
  readonly identity: GroupIdentity;
  readonly counts: GroupCounts;
  readonly peersByStatus: Readonly<Record<PeerStatus, number>>;
  /** Number of peers that registered within a day, and of those that have reported. */
  readonly newcomers: { readonly registered: number; readonly reporting: number };
  readonly halfLifeDays: number;
  readonly banHalfLifeDays: number;
  /** True if the peers sent reports, but no ban and nothing that raises trust, for `limits.reportsOnlyMs`. */
  readonly sendsReportsOnly: boolean;
  readonly preTrusted: readonly string[];
  /** Number of groups of two peers or more that count as one witness, and of the peers in them. */
  readonly witnesses: { readonly groups: number; readonly peers: number };
  readonly mailbox: { readonly events: number; readonly bytes: number };
  readonly pendingErasures: number;
  /** Number of disputes that wait for the operator. */
  readonly openDisputes: number;
  readonly snapshots: readonly number[];
  readonly ownerEpoch: number;
  /** Null if the disk could never be read. */
  readonly disk: DiskStatus | null;
  readonly check: CheckStatus;
  readonly cluster: ClusterHealth | null;
}

/** The part of a group that its node answers from the start on, also while the group is being recovered. */
export interface GroupCondition {
  readonly identity: GroupIdentity;
  health(): GroupHealth;
  /** The `ready` field of `health`, which every request reads. */
  readonly isReady: boolean;
}

/** A node and its group, for layers that answer callers before the group is recovered. */
export interface GroupNode extends GroupCondition {
  /**
   * Null if this node serves its group alone. One object for the node's lifetime, whose fields show the present state.
   */
  readonly cluster: ClusterHealth | null;
  /** The recovered group. Throws before that; a node that is ready has one. */
  readonly group: PeersApi;
}

/** Events that have arrived, and that the group was not offered yet. */
export interface NotOffered {
  /** Number of those that will be offered before the events in question. */
  readonly before: number;
  /** Number of those of the same holder. */
  readonly own: number;
}

export const nothingNotOffered: NotOffered = { before: 0, own: 0 };

/** Views: synchronous reads of memory that never wait. */
export interface GroupViews extends GroupCondition {
  /**
   * Resolves with true once everything that was decided before the call is applied here; with false if that is not
   * known in time.
   */
  refresh(): Promise<boolean>;
  /**
   * True if `events` more of a holder would be admitted now; called before a body is parsed, so that a refusal is
   * cheap.
   */
  admits(events: number, holder: Holder, notOffered: NotOffered): boolean;
  /** True if `events` of a holder take precedence over those of others, because it was recently below its share. */
  hasRoom(events: number, holder: Holder): boolean;
  /** True while more events arrive than are admitted, so that some are refused. */
  readonly overloaded: boolean;
  /**
   * Notes that a batch was refused in an overload without a call of `admits`: if many commands wait, that prolongs the
   * overload.
   */
  noteRefusal(): void;
  counts(): GroupCounts;
  /** Returns the peer with a key's SHA-256 (hex), whatever its status; a key whose overlap is over matches no peer. */
  peerByKeyDigest(digestHex: string): PeerView | undefined;
  peerById(peerId: string): PeerView | undefined;
  /** The peer's `eventCount` as other peers may see it, without the events of the last one to two hours. */
  delayedEventCount(peer: PeerView): number;
  /** Returns at most `limit` peers numbered from `from` on, oldest first. */
  peers(from: number, limit: number): PeerView[];
  /** True if a peer requested an erasure at `at` (ms since 1970) or later. */
  hasErasedSince(peer: PeerView, at: number): boolean;
  /** Undefined if no events of this subject are known. */
  trust(subject: Uint8Array): TrustView | undefined;
  /** True if a read of the player visits more than `limits.readEntriesAtOnce` entries. */
  isLongRead(subject: Uint8Array): boolean;
  /**
   * Appends the trust of the next players to `trusts`, in the order of their keys, until all are there or
   * `limits.readEntriesAtOnce` entries were visited. A repeated player is computed once. Fills in the hashes and rows
   * of the columns.
   */
  trusts(players: KeyColumns, trusts: (TrustView | undefined)[]): void;
  /** Numbers of the peers that see their events about a player (hex) as disputed. */
  disputedFor(subject: string): readonly number[];
  /** The operator's refusal to erase a player (hex), for the peers that it names. */
  refusedErasure(subject: string): RefusedErasure | null;
  explain(subject: Uint8Array): TrustExplanation | undefined;
  /** Returns at most `limit` of a peer's events that were removed by erasures, from position `from` on. */
  ownErasures(peer: PeerView, from: number, limit: number): OwnErasures;
  /** Every change of a verdict as it becomes durable. */
  readonly verdicts: VerdictChanges;
}

/** Commands: each resolves once its change is durable, or with a refusal. Rejects only on a broken invariant. */
export interface GroupCommands {
  /**
   * `caller` is null if peer authentication is off; `peerId` of each event then names the acting peer. `holder`: the
   * holder whose share the events use; the caller if absent. Resolves with one outcome per event, in order.
   */
  submit(
    caller: PeerView | null,
    events: readonly EventSubmission[],
    holder?: Holder,
  ): Promise<Outcome<AcceptedEvent>[]>;
  /** `byOperator`: the places reserved for the operator may be used. */
  register(registration: Registration, by: string, byOperator?: boolean): Promise<Outcome<IssuedKey>>;
  withdraw(caller: PeerView | null, eventId: string): Promise<Outcome<{ readonly withdrawnAt: number }>>;
  /** `caller` is null if authentication is off; the audit then names `anonymous`. */
  erase(caller: PeerView | null, subject: Uint8Array): Promise<Outcome<Erasure>>;
  /**
   * `caller` null: returns only the summary, and no own events. `holder`: the holder to which the walk is charged; the
   * caller if absent.
   */
  playerEvents(
    subject: Uint8Array,
    caller: PeerView | null,
    limit: number,
    from: readonly number[] | null,
    holder?: Holder | null,
  ): Promise<Outcome<PlayerEvents>>;
  /**
   * Disputes what is held of a player; `against`: id of the peer whose events are disputed. `caller` is null if
   * authentication is off; the audit then names `anonymous`.
   */
  dispute(
    caller: PeerView | null,
    subject: Uint8Array,
    text: string,
    against?: string,
  ): Promise<Outcome<{ readonly id: string; readonly openedAt: number }>>;
  /** `holder`: the holder to which the read is charged; the node itself if absent. */
  audit(after: number, limit: number, holder?: Holder | null): Promise<Outcome<AuditPage>>;
}

/** Commands and views for the operator only. */
export interface GroupOperations {
  status(): GroupStatus;
  /** Undefined if the newest computation did not include the peer. */
  signals(peer: PeerView): PeerSignals | undefined;
  /** Number of times that a peer requested the erasure of a player that others had reported, too. */
  sharedErasures(peer: PeerView): number;
  /** How many of the peer's newest events in a row are too old to count, and the date of the newest; else undefined. */
  tooOld(peer: PeerView): { readonly events: number; readonly newest: number } | undefined;
  /** Makes a change of `core/peers/peer-changes.ts`, but `rotate_key`. Codes: unknown_peer, peer_not_active. */
  changePeer<T extends PeerChangeType>(
    type: T,
    peerId: string,
    asked: AskedOf<T>,
    by: string,
  ): Promise<Outcome<PeerView>>;
  /** `overlapMs` 0 disables the old key at once; at most `limits.keyOverlapMsMax`. */
  rotateKey(peerId: string, overlapMs: number, by: string): Promise<Outcome<IssuedKey>>;
  preTrust(
    change: 'add' | 'remove',
    peerId: string,
    by: string,
  ): Promise<Outcome<{ readonly preTrusted: readonly string[] }>>;
  /** Revokes the peers that never sent an event and registered longer ago than `idleMs`; resolves with their ids. */
  purgePeers(idleMs: number, by: string): Promise<Outcome<readonly string[]>>;
  /** Declares that two peers are one witness, or that they are independent. */
  relatePeers(relation: PeerRelation['relation'], peerId: string, otherId: string, by: string): Promise<Outcome<null>>;
  /**
   * The players with one of these verdicts, from position `from` on, at most `limit`. `next` is the position to
   * continue from, null at the end: one call reads at most `limits.playersReadMax` players, and may find none.
   */
  playersBy(
    verdicts: readonly Verdict[],
    from: number,
    limit: number,
  ): { readonly players: readonly JudgedPlayer[]; readonly next: number | null };
  /** The entries of the allow list that have not ended, sorted by subject. */
  allowedPlayers(): readonly AllowedPlayer[];
  /** The entry of one player; undefined if there is none or it has ended. */
  allowedPlayer(subject: Uint8Array): AllowedPlayer | undefined;
  /** Adds a player to the allow list until a time (ms since 1970). Codes: invalid_parameter, overloaded. */
  allowPlayer(subject: Uint8Array, until: number, note: string, by: string): Promise<Outcome<AllowedPlayer>>;
  /** Removes a player from the list. Codes: subject_not_found. */
  disallowPlayer(subject: Uint8Array, by: string): Promise<Outcome<null>>;
  pendingErasures(): readonly PendingErasure[];
  /** All origins that were ever declared, the oldest first. */
  origins(): readonly OriginView[];
  /** Changes a setting that all nodes of a cluster share. Codes: dependency_unavailable. */
  changeSetting(name: SettingName, value: number | string, by: string): Promise<Outcome<null>>;
  changeOrigin(change: 'add' | 'remove', name: string, by: string): Promise<Outcome<OriginView>>;
  /** Disputes from one position to another, the oldest first; only those with one status if it is given. */
  disputes(status?: DisputeStatus, from?: number, to?: number): readonly DisputeView[];
  /** The ids of all disputes, the oldest first. */
  disputeIds(): readonly string[];
  /** `peerIds`: to uphold, the peers whose events become void; an empty list stands for the only possible peer. */
  decideDispute(
    decision: DecideDispute['decision'],
    disputeId: string,
    peerIds: readonly string[],
    by: string,
  ): Promise<Outcome<DisputeView>>;
  /** Returns everything that is held of a player; the audit log records it. Codes: subject_not_found, overloaded. */
  exportSubject(subject: Uint8Array, by: string): Promise<Outcome<SubjectExport>>;
  /** Erases at once, whatever the mode, and thereby confirms pending requests for the subject. */
  confirmErasure(subject: Uint8Array, by: string): Promise<Outcome<Erasure>>;
  /** Refuses the pending requests to erase a player; the asking peers read the reason. Codes: subject_not_found. */
  refuseErasure(subject: Uint8Array, reason: string, by: string): Promise<Outcome<null>>;
  /** The newest `count` entries; with `before`, the newest ones below that sequence number. */
  auditTail(count: number, before?: number): Promise<Outcome<AuditPage>>;
  /** Number of players by verdict, counted in the pool. Codes: overloaded. */
  verdictCounts(): Promise<Outcome<VerdictCounts>>;
  /** Computed in the pool, one at a time; changes nothing. Codes: unknown_peer, overloaded. */
  simulate(query: SimulationQuery, onProgress?: OnProgress): Promise<Outcome<SimulationView>>;
  /** Verifies the whole store, one verification at a time. Codes: overloaded. */
  verify(onProgress?: OnProgress): Promise<Outcome<VerifyReport>>;
}

/** The part of a group that serves peers. */
export interface PeersApi extends GroupViews, GroupCommands {}

/** The part of a group that serves its operator. */
export interface OperatorApi
  extends GroupOperations,
    Pick<GroupViews, 'identity' | 'health' | 'counts' | 'peers' | 'peerById' | 'trust' | 'explain' | 'verdicts'>,
    Pick<GroupCommands, 'register' | 'playerEvents' | 'audit'> {
  /** Null if this node serves its group alone. */
  readonly clusterOperations: ClusterOperations | null;
}

/** All of a group, for the node that passes its parts on. */
export interface GroupApi extends PeersApi, OperatorApi {}
