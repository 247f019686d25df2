/**
 * Declares the interface of a group for the layers above it: commands, which are durable once they resolve, and views,
 * synchronous reads of memory. No layer above sees state, records, store or pools. Times: ms since 1970; subjects:
 * hashes in hex.
 */
import type { DecideDispute, EventSubmission, Registration } from '../core/commands.js';
import type { AskedOf, PeerChangeType } from '../core/peers/peer-changes.js';
import type { RefusedErasure } from '../core/registers/erasure-requests.js';
import type { TrustExplanation } from '../core/scoring/explanation.js';
import type { TrustView, VerdictCounts } from '../core/scoring/score.js';
import type { GroupSettings, SettingName } from '../core/settings.js';
import type { KeyColumns } from '../core/tables/event-columns.js';
import type {
  DisputeStatus,
  Environment,
  IdentityMode,
  PeerRelation,
  PeerStatus,
  PendingReason,
  Verdict,
} from '../core/vocabulary.js';
import type { Outcome } from '../errors.js';
import type { SubjectExport } from './access/subject-holdings.js';
import type { AllowedPlayer, AuditEntry, DisputeView, OriginView, PeerSignals, PeerView } from './access/views.js';
import type { ClusterHealth, ClusterOperations } from './cluster-api.js';
import type { OwnEvent } from './listing/listing.js';
import type { Holder, OnProgress, SummaryRow, VerifyReport } from './ports/pool.js';
import type { DiskUse } from './ports/storage.js';
import type { SimulationQuery, SimulationView } from './replica/simulations.js';
import type { VerdictChanges } from './verdict-changes.js';

export type { EventSubmission, Registration } from '../core/commands.js';
export type { RefusedErasure } from '../core/registers/erasure-requests.js';
export type { TrustExplanation } from '../core/scoring/explanation.js';
export type { TrustView, VerdictCounts } from '../core/scoring/score.js';
export type { ExportedEvent, SubjectExport } from './access/subject-holdings.js';
export type { AllowedPlayer, AuditEntry, DisputeView, OriginView, PeerSignals, PeerView } from './access/views.js';
export type { OwnEvent } from './listing/listing.js';
export type { OnProgress, SummaryRow, VerifyReport } from './ports/pool.js';
export type { SimulationQuery, SimulationView } from './replica/simulations.js';

export interface GroupIdentity {
  readonly groupId: string;
  readonly identityMode: IdentityMode;
  readonly environment: Environment;
  /** The kinds of player ids that the group accepts in canonical form; absent if ids are opaque. */
  readonly playerIdKinds?: readonly string[];
}

/** `basedOnSeq` 0 and `computedAt` null: none were computed yet. */
export interface WeightsStatus {
  readonly basedOnSeq: number;
  readonly computedAt: number | null;
}

export interface GroupHealth {
  /** False while recovering, draining, or after the log could not be written. */
  readonly ready: boolean;
  /** False also while ready, if the disk is nearly full: reads are then answered and writes refused. */
  readonly writable: boolean;
  readonly reason?:
    | 'recovering'
    | 'draining'
    | 'log_failed'
    | 'disk_low'
    | 'clock_ahead'
    | 'stale'
    | 'log_unreachable'
    | 'log_full';
  readonly lastSeq: number;
  readonly weights: WeightsStatus;
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
  readonly reason: PendingReason | null;
  readonly eventsErased: number;
  readonly erasedAt: number;
  /** Proof for the requester: the audit log keeps SHA-256(receipt + hash). */
  readonly receipt: string;
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

/** The caller's events that erasures removed. It reveals neither the player nor the requester. */
export interface OwnErasures {
  readonly total: number;
  readonly events: readonly { readonly receivedAt: number; readonly erasedAt: number }[];
  /** Position to continue from, or null at the end. */
  readonly next: number | null;
}

export interface AuditPage {
  /** Oldest first. */
  readonly entries: readonly AuditEntry[];
  /** Sequence number to continue after, or null at the end. */
  readonly nextAfter: number | null;
}

/** At the last check, in bytes. */
export interface DiskStatus extends Pick<DiskUse, 'freeBytes' | 'logBytes' | 'snapshotsBytes'> {
  readonly minBytes: number;
}

export interface CheckStatus {
  readonly running: boolean;
  /** Record up to which the check in progress, or else the last one, has read. */
  readonly checkedSeq: number;
  readonly endedAt: number | null;
  readonly faults: readonly string[];
}

export interface JudgedPlayer extends Pick<TrustView, 'verdict' | 'score' | 'confidence' | 'eventCount' | 'updatedAt'> {
  readonly subject: string;
}

export interface PendingErasure {
  readonly subject: string;
  /** The oldest first; `peerId` is null if the caller had no key. */
  readonly requests: readonly {
    readonly requestedAt: number;
    readonly peerId: string | null;
    readonly reason: PendingReason;
  }[];
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
  readonly isReady: boolean;
}

/** A node and its group, for layers that answer callers before the group is recovered. */
export interface GroupNode extends GroupCondition {
  /** Null if this node serves its group alone. One object, whose fields show the present state. */
  readonly cluster: ClusterHealth | null;
  /** The recovered group. Throws before that; a node that is ready has one. */
  readonly group: PeersApi;
}

/** Events that have arrived, and that the group was not offered yet. */
export interface NotOffered {
  /** Those that will be offered before the events in question. */
  readonly before: number;
  /** Those of the same holder. */
  readonly own: number;
}

export const nothingNotOffered: NotOffered = { before: 0, own: 0 };

/** Views: synchronous reads of memory that never wait. */
export interface GroupViews extends GroupCondition {
  /** Resolves with false if it is not known in time that everything decided before the call is applied here. */
  refresh(): Promise<boolean>;
  /** Called before a body is parsed, so that a refusal is cheap. */
  admits(events: number, holder: Holder, notOffered: NotOffered): boolean;
  /** True if the holder was recently below its share: its events take precedence. */
  hasRoom(events: number, holder: Holder): boolean;
  readonly overloaded: boolean;
  /** Notes a refusal without a call of `admits`: if many commands wait, that prolongs the overload. */
  noteRefusal(): void;
  status(): GroupStatus;
  counts(): GroupCounts;
  /** Returns the peer with a key's SHA-256 (hex), whatever its status; a key whose overlap is over matches no peer. */
  peerByKeyDigest(digestHex: string): PeerView | undefined;
  peerById(peerId: string): PeerView | undefined;
  /** The peer's `eventCount` as other peers may see it, without the events of the last one to two hours. */
  delayedEventCount(peer: PeerView): number;
  peers(from: number, limit: number): PeerView[];
  /** Undefined if the newest computation did not include the peer. */
  signals(peer: PeerView): PeerSignals | undefined;
  sharedErasures(peer: PeerView): number;
  /** True if a peer requested an erasure at `at` (ms since 1970) or later. */
  hasErasedSince(peer: PeerView, at: number): boolean;
  /** Undefined if no events of this subject are known. */
  trust(subject: Uint8Array): TrustView | undefined;
  /** True if a read of the player visits more than `limits.readEntriesAtOnce` entries. */
  isLongRead(subject: Uint8Array): boolean;
  /**
   * Appends the trust of the next players to `trusts`, until all are there or `limits.readEntriesAtOnce` entries were
   * visited. Fills in the hashes and rows of the columns.
   */
  trusts(players: KeyColumns, trusts: (TrustView | undefined)[]): void;
  /** Numbers of the peers that see their events about a player (hex) as disputed. */
  disputedFor(subject: string): readonly number[];
  /** Refused requests to erase a player (hex), the newest first. */
  refusedErasures(subject: string): readonly RefusedErasure[];
  explain(subject: Uint8Array): TrustExplanation | undefined;
  /** From position `from` on. */
  ownErasures(peer: PeerView, from: number, limit: number): OwnErasures;
  readonly verdicts: VerdictChanges;
}

/** Commands: each resolves once its change is durable, or with a refusal. Rejects only on a broken invariant. */
export interface GroupCommands {
  /**
   * `caller` is null if authentication is off; `peerId` of each event then names the acting peer. `holder`: whose share
   * the events use; default: the caller. Resolves with one outcome per event, in order.
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
  /** `caller` null: only the summary. `holder`: to which the walk is charged; default: the caller. */
  playerEvents(
    subject: Uint8Array,
    caller: PeerView | null,
    limit: number,
    from: readonly number[] | null,
    holder?: Holder | null,
  ): Promise<Outcome<PlayerEvents>>;
  /** `against`: id of the peer whose events are disputed. `caller` null: the audit names `anonymous`. */
  dispute(
    caller: PeerView | null,
    subject: Uint8Array,
    text: string,
    against?: string,
  ): Promise<Outcome<{ readonly id: string; readonly openedAt: number }>>;
  /** `holder`: to which the read is charged; default: the node itself. */
  audit(after: number, limit: number, holder?: Holder | null): Promise<Outcome<AuditPage>>;
}

export interface GroupOperations {
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
  /** From position `from` on. `next` is null at the end: one call reads at most `limits.playersReadMax` players. */
  playersBy(
    verdicts: readonly Verdict[],
    from: number,
    limit: number,
  ): { readonly players: readonly JudgedPlayer[]; readonly next: number | null };
  /** Entries that have not ended, sorted by subject. */
  allowedPlayers(): readonly AllowedPlayer[];
  allowedPlayer(subject: Uint8Array): AllowedPlayer | undefined;
  /** Adds a player to the allow list until a time (ms since 1970). Codes: invalid_parameter, overloaded. */
  allowPlayer(subject: Uint8Array, until: number, note: string, by: string): Promise<Outcome<AllowedPlayer>>;
  /** Removes a player from the list. Codes: subject_not_found. */
  disallowPlayer(subject: Uint8Array, by: string): Promise<Outcome<null>>;
  pendingErasures(): readonly PendingErasure[];
  /** All origins that were ever declared, the oldest first. */
  origins(): readonly OriginView[];
  /** Returns those in force on this node. */
  settings(): GroupSettings;
  /** Codes: dependency_unavailable. */
  changeSetting(name: SettingName, value: number | string, by: string): Promise<Outcome<null>>;
  changeOrigin(change: 'add' | 'remove', name: string, by: string): Promise<Outcome<OriginView>>;
  /** Disputes from one position to another, with one status if it is given: the oldest, or the last decided, first. */
  disputes(status?: DisputeStatus | 'decided', from?: number, to?: number): readonly DisputeView[];
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

export interface PeersApi extends GroupViews, GroupCommands {}

export interface OperatorApi
  extends GroupOperations,
    Pick<GroupViews, 'identity' | 'health' | 'status' | 'counts' | 'peers' | 'peerById' | 'signals' | 'sharedErasures'>,
    Pick<GroupViews, 'trust' | 'explain' | 'verdicts'>,
    Pick<GroupCommands, 'register' | 'playerEvents' | 'audit'> {
  readonly clusterOperations: ClusterOperations | null;
}

/** All of a group, for the node that passes its parts on. */
export interface GroupApi extends PeersApi, OperatorApi {}
