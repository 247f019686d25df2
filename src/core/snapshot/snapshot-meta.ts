/**
 * Converts the state without its large tables to one JSON value and back. Snapshots store the value, and the digest of
 * the state covers it.
 */

import type { Peer } from '../peers/peers.js';
import type { GroupFormed } from '../records/records.js';
import type { AllowedSubject } from '../registers/allow-list.js';
import type { Dispute } from '../registers/disputes.js';
import type { ErasureRequests } from '../registers/erasure-requests.js';
import type { Carrier, Origin } from '../registers/origins.js';
import type { PeerRelation } from '../relations.js';
import type { GroupSettings } from '../settings.js';
import { GroupState, type OpenErasure, type OpenWithdrawal } from '../state.js';
import type { MeasureWeights } from '../tables/evidence-view.js';
import type { HourlyCount } from '../tables/hourly-counts.js';
import type { Weights } from '../tables/peer-weights.js';

export interface SnapshotMeta {
  readonly formed: GroupFormed;
  readonly lastSeq: number;
  readonly lastAt: number;
  readonly evidenceSeq: number;
  readonly halfLifeDays: number;
  readonly epoch: number;
  readonly rescales: readonly { readonly seq: number; readonly factor: number }[];
  readonly measureScale: GroupState['measureScale'];
  readonly peers: readonly Peer[];
  readonly preTrusted: readonly number[];
  readonly preTrustConfigured: string | null;
  /** Absent if no node of a cluster has put settings into the log. */
  readonly settings?: Partial<GroupSettings>;
  readonly weights: {
    readonly basedOnSeq: number;
    readonly computedAt: number | null;
    readonly pi: number;
    readonly tau: readonly number[];
    readonly a: readonly number[];
    readonly b: readonly number[];
    /** Absent for weights of the first version of scoring. */
    readonly z?: readonly number[];
    readonly witness?: readonly number[];
    /** Absent for weights of the second version of scoring. */
    readonly measures?: { readonly [name in keyof MeasureWeights]: readonly number[] };
  };
  /** Absent if no origin was ever declared. */
  readonly origins?: readonly Origin[];
  readonly carriers?: readonly Carrier[];
  /** Absent if there never was a dispute. `dropped` holds the records with the texts of dropped disputes. */
  readonly disputes?: readonly Dispute[];
  readonly droppedDisputes?: readonly (readonly [subject: string, seqs: readonly number[]])[];
  readonly disputesBy?: readonly (readonly [peer: number, times: readonly number[]])[];
  /** Absent if no relation was declared. */
  readonly relations?: readonly PeerRelation[];
  /** Absent while the group uses the version of scoring with which it was formed. */
  readonly scoring?: { readonly version: number; readonly seq: number };
  readonly auditHead: string;
  readonly audited: number;
  readonly erasures: readonly (readonly [seq: number, erasure: OpenErasure])[];
  readonly withdrawals: readonly (readonly [eventSeq: number, withdrawal: OpenWithdrawal])[];
  /** All requests for erasures and refusals; earlier formats had only the records of pending ones. */
  readonly pendingErasures: readonly (readonly [subject: string, requests: ErasureRequests])[];
  /** Absent if no peer ever asked for such an erasure. */
  readonly sharedErasures?: readonly (readonly [peer: number, count: number])[];
  /** Absent if no player was ever on the allow list. */
  readonly allowed?: readonly (readonly [subject: string, allowed: AllowedSubject])[];
  readonly erasuresBy: readonly (readonly [peer: number, times: readonly number[]])[];
  readonly redacted: number;
  /** Absent if no event ever expired, as in snapshots of releases without retention. */
  readonly retired?: { readonly seq: number; readonly open: boolean };
  readonly eventCount: number;
  /** Number of players, so that a load can reserve memory. Not covered by the digest; absent in older snapshots. */
  readonly players?: number;
  readonly sentAt?: Readonly<GroupState['sentAt']>;
  readonly measured?: number;
  /** Number and sum of the hashes of event contents. Not covered by the digest; absent in older snapshots. */
  readonly repeats?: { readonly count: number; readonly sum: number };
  /** Not covered by the digest; absent in older snapshots, which makes all events count as older than an hour. */
  readonly hourlyCounts?: readonly HourlyCount[];
}

export function metaOf(state: GroupState): SnapshotMeta {
  const { weights } = state;
  return {
    formed: state.formed,
    lastSeq: state.lastSeq,
    lastAt: state.lastAt,
    evidenceSeq: state.evidenceSeq,
    halfLifeDays: state.halfLifeDays,
    epoch: state.epoch,
    rescales: state.rescales,
    measureScale: state.measureScale,
    peers: state.peers.list,
    preTrusted: state.preTrusted,
    preTrustConfigured: state.preTrustConfigured,
    ...(Object.keys(state.settings).length === 0 ? {} : { settings: state.settings }),
    weights: weightsOf(weights),
    ...originsOf(state),
    ...disputesOf(state),
    ...(state.relations.length === 0 ? {} : { relations: state.relations }),
    ...(state.scoring.seq <= 1 ? {} : { scoring: state.scoring }),
    auditHead: state.auditHead,
    audited: state.auditSeqs.length,
    erasures: [...state.erasures].sort(([a], [b]) => a - b),
    withdrawals: [...state.withdrawals].sort(([a], [b]) => a - b),
    pendingErasures: state.erasureRequests.all(),
    ...(state.sharedErasures.size === 0 ? {} : { sharedErasures: [...state.sharedErasures].sort(([a], [b]) => a - b) }),
    ...(state.allowed.size === 0 ? {} : { allowed: state.allowed.all() }),
    erasuresBy: [...state.erasuresBy].sort(([a], [b]) => a - b),
    redacted: state.redacted,
    ...(state.retired.seq === 0 ? {} : { retired: state.retired }),
    eventCount: state.eventCount,
  };
}

function originsOf({ origins: { list: origins, carriers } }: GroupState): Partial<SnapshotMeta> {
  return origins.length === 0 ? {} : { origins, carriers };
}

function disputesOf({ disputes, disputesBy }: GroupState): Partial<SnapshotMeta> {
  const dropped = disputes.dropped;
  return {
    ...(disputes.size === 0 ? {} : { disputes: disputes.all() }),
    ...(dropped.length === 0 ? {} : { droppedDisputes: [...dropped].sort(([a], [b]) => (a < b ? -1 : 1)) }),
    ...(disputesBy.size === 0 ? {} : { disputesBy: [...disputesBy].sort(([a], [b]) => a - b) }),
  };
}

function weightsOf(weights: Weights): SnapshotMeta['weights'] {
  const { basedOnSeq, computedAt, pi, tau, a, b, z, witness, measures } = weights;
  const columns = { tau: [...tau], a: [...a], b: [...b] };
  const witnesses = z === null || witness === null ? {} : { z: [...z], witness: [...witness] };
  if (measures === null) return { basedOnSeq, computedAt, pi, ...columns, ...witnesses };
  const { m, finds, findsClaim, measured, judged } = measures;
  const flags = { measured: [...measured], judged: [...judged] };
  const ofMeasures = { m: [...m], finds: [...finds], findsClaim: [...findsClaim], ...flags };
  return { basedOnSeq, computedAt, pi, ...columns, ...witnesses, measures: ofMeasures };
}

/** Returns a state with everything but its tables, which the caller fills. */
export function stateFrom(meta: SnapshotMeta, salt: Uint8Array): GroupState {
  const state = new GroupState(meta.formed, salt);
  for (const peer of meta.peers) state.peers.add({ ...peer });
  for (const origin of meta.origins ?? []) state.origins.add({ ...origin });
  for (const carrier of meta.carriers ?? []) state.origins.carry(carrier);
  for (const dispute of meta.disputes ?? []) state.disputes.add(dispute);
  for (const [subject, seqs] of meta.droppedDisputes ?? []) state.disputes.restoreDropped(subject, seqs);
  state.disputesBy = new Map((meta.disputesBy ?? []).map(([peer, times]) => [peer, [...times]]));
  state.lastSeq = meta.lastSeq;
  state.lastAt = meta.lastAt;
  state.evidenceSeq = meta.evidenceSeq;
  state.halfLifeDays = meta.halfLifeDays;
  state.epoch = meta.epoch;
  state.rescales = [...meta.rescales];
  state.measureScale = { ...meta.measureScale, rescales: [...meta.measureScale.rescales] };
  state.preTrusted = [...meta.preTrusted];
  state.preTrustConfigured = meta.preTrustConfigured;
  state.settings = meta.settings ?? {};
  const { tau, a, b, z, witness, measures } = meta.weights;
  state.weights = {
    ...meta.weights,
    tau: Float64Array.from(tau),
    a: Float64Array.from(a),
    b: Float64Array.from(b),
    z: z === undefined ? null : Float64Array.from(z),
    witness: witness === undefined ? null : Uint16Array.from(witness),
    measures:
      measures === undefined
        ? null
        : {
            m: Float64Array.from(measures.m),
            finds: Float64Array.from(measures.finds),
            findsClaim: Float64Array.from(measures.findsClaim),
            measured: Uint8Array.from(measures.measured),
            judged: Uint8Array.from(measures.judged),
          },
  };
  state.relations = meta.relations ?? [];
  if (meta.scoring !== undefined) state.restoreScoring(meta.scoring);
  state.auditHead = meta.auditHead;
  for (const [seq, erasure] of meta.erasures) state.erasures.set(seq, erasure);
  for (const [eventSeq, withdrawal] of meta.withdrawals) state.withdrawals.set(eventSeq, withdrawal);
  for (const [subject, requests] of meta.pendingErasures) {
    if (Array.isArray(requests)) throw new Error('snapshot: a pending erasure without the peer that asked for it');
    state.erasureRequests.set(subject, requests);
  }
  for (const [peer, count] of meta.sharedErasures ?? []) state.sharedErasures.set(peer, count);
  for (const [subject, allowed] of meta.allowed ?? []) state.allowed.restore(subject, allowed);
  state.erasuresBy = new Map(meta.erasuresBy.map(([peer, times]) => [peer, [...times]]));
  state.redacted = meta.redacted;
  state.retired = meta.retired ?? { seq: 0, open: false };
  state.eventCount = meta.eventCount;
  for (const count of meta.hourlyCounts ?? []) state.hourlyCounts.restore(count);
  Object.assign(state.sentAt, meta.sentAt);
  state.peerWeights.refresh(state);
  return state;
}
