/** Converts the state without its tables to one JSON value of snapshots, which the digest covers, and back. */
import { GroupState } from '../state.js';

export type SnapshotMeta = ReturnType<typeof snapshotMetaOf>;

/** Returns the whole block. By `players` a load reserves memory; it compares `measured` and `repeats` with its rows. */
export function snapshotMetaOf(state: GroupState) {
  const { subjects, repeats, hourlyCounts, sentAt, disputes } = state;
  return {
    ...metaOf(state),
    players: subjects.size,
    measured: subjects.entries.measured,
    repeats: { count: repeats.size, sum: repeats.sum },
    hourlyCounts: hourlyCounts.all,
    sentAt,
    rejections: disputes.rejections,
  };
}

/** Returns the part that the digest covers. Features that the group never used are undefined: absent from JSON. */
export function metaOf(state: GroupState) {
  const { settings, weights, origins, disputes, relations, scoring, sharedErasures, allowed, retired } = state;
  const { basedOnSeq, computedAt, pi, tau, a, b, z, witness, measures } = weights;
  const hasOrigins = origins.list.length > 0;
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
    settings: Object.keys(settings).length > 0 ? settings : undefined,
    weights: {
      basedOnSeq,
      computedAt,
      pi,
      tau: [...tau],
      a: [...a],
      b: [...b],
      z: z === null ? undefined : [...z],
      witness: witness === null ? undefined : [...witness],
      measures:
        measures === null
          ? undefined
          : {
              m: [...measures.m],
              finds: [...measures.finds],
              findsClaim: [...measures.findsClaim],
              measured: [...measures.measured],
              judged: [...measures.judged],
            },
    },
    origins: hasOrigins ? origins.list : undefined,
    carriers: hasOrigins ? origins.carriers : undefined,
    disputes: anyOf(disputes.all()),
    droppedDisputes: anyOf(disputes.dropped.toSorted(([p], [q]) => (p < q ? -1 : 1))),
    disputesBy: anyOf(byNumber(state.disputesBy)),
    relations: anyOf(relations),
    // Undefined while the group uses the version of scoring with which it was formed.
    scoring: scoring.seq > 1 ? scoring : undefined,
    auditHead: state.auditHead,
    audited: state.auditSeqs.length,
    erasures: byNumber(state.erasures),
    withdrawals: byNumber(state.withdrawals),
    pendingErasures: state.erasureRequests.all(),
    sharedErasures: anyOf(byNumber(sharedErasures)),
    allowed: anyOf(allowed.all()),
    erasuresBy: byNumber(state.erasuresBy),
    redacted: state.redacted,
    retired: retired.seq > 0 ? retired : undefined,
    eventCount: state.eventCount,
  };
}

function anyOf<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length > 0 ? list : undefined;
}

function byNumber<T>(map: ReadonlyMap<number, T>): [number, T][] {
  return [...map].sort(([p], [q]) => p - q);
}

/** Returns a state with everything but its tables, which the caller fills. `meta` becomes a part of the state. */
export function stateFrom(meta: SnapshotMeta, salt: Uint8Array): GroupState {
  const state = new GroupState(meta.formed, salt);
  for (const peer of meta.peers) state.peers.add(peer);
  for (const origin of meta.origins ?? []) state.origins.add(origin);
  for (const carrier of meta.carriers ?? []) state.origins.carry(carrier);
  for (const dispute of meta.disputes ?? []) state.disputes.add(dispute);
  for (const [subject, seqs] of meta.droppedDisputes ?? []) state.disputes.restoreDropped(subject, seqs);
  const { lastSeq, lastAt, evidenceSeq, halfLifeDays, epoch, rescales, measureScale } = meta;
  Object.assign(state, { lastSeq, lastAt, evidenceSeq, halfLifeDays, epoch, rescales, measureScale });
  const { preTrusted, preTrustConfigured, auditHead, redacted, eventCount } = meta;
  Object.assign(state, { preTrusted, preTrustConfigured, auditHead, redacted, eventCount });
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
  for (const [seq, erasure] of meta.erasures) state.erasures.set(seq, erasure);
  for (const [eventSeq, withdrawal] of meta.withdrawals) state.withdrawals.set(eventSeq, withdrawal);
  for (const [subject, requests] of meta.pendingErasures) state.erasureRequests.set(subject, requests);
  for (const [peer, count] of meta.sharedErasures ?? []) state.sharedErasures.set(peer, count);
  for (const [subject, allowed] of meta.allowed ?? []) state.allowed.restore(subject, allowed);
  state.disputes.rejections = [...meta.rejections];
  state.disputesBy = new Map(meta.disputesBy);
  state.erasuresBy = new Map(meta.erasuresBy);
  state.retired = meta.retired ?? state.retired;
  for (const count of meta.hourlyCounts) state.hourlyCounts.restore(count);
  Object.assign(state.sentAt, meta.sentAt);
  state.peerWeights.refresh(state);
  return state;
}
