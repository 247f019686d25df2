/**
 * Converts views of the group into the wire values that the operator sees; each function is pure. Times are ISO 8601 in
 * UTC. The type of each value follows from its function, as an interface, so that messages of the compiler name it.
 */
import { verdicts } from '../../core/vocabulary.js';
import type {
  AllowedPlayer,
  AuditEntry,
  DisputeView,
  GroupApi,
  GroupStatus,
  OriginView,
  PeerSignals,
  PeerView,
  PendingErasure,
  PublishedWeights,
  SimulationView,
  VerifyReport,
} from '../../group/api.js';
import type { ClusterStatus } from '../../group/cluster-api.js';
import { limits } from '../../limits.js';

export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** `version` is this release. */
export function statusValue(view: GroupStatus, version: string) {
  const { identity, weights, disk, check, ...status } = view;
  return {
    version,
    group_id: identity.groupId,
    identity_mode: identity.identityMode,
    environment: identity.environment,
    ready: status.ready,
    writable: status.writable,
    reason: status.reason ?? null,
    last_seq: status.lastSeq,
    weights: {
      based_on_seq: weights.basedOnSeq,
      computed_at: weights.computedAt === null ? null : isoTime(weights.computedAt),
    },
    counts: status.counts,
    new_peers: status.newcomers,
    half_life_days: status.halfLifeDays,
    ban_half_life_days: status.banHalfLifeDays,
    sends_reports_only: status.sendsReportsOnly,
    pre_trusted: status.preTrusted,
    witness_groups: status.witnesses,
    mailbox: status.mailbox,
    snapshots: status.snapshots,
    pending_erasures: status.pendingErasures,
    open_disputes: status.openDisputes,
    owner_epoch: status.ownerEpoch,
    disk:
      disk === null
        ? null
        : { free: disk.freeBytes, free_min: disk.minBytes, log: disk.logBytes, snapshots: disk.snapshotsBytes },
    check: {
      running: check.running,
      checked_seq: check.checkedSeq,
      ended_at: check.endedAt === null ? null : isoTime(check.endedAt),
      faults: check.faults,
    },
  };
}
export interface StatusValue extends ReturnType<typeof statusValue> {}

export function peerValue(peer: PeerView) {
  return {
    peer_id: peer.peerId,
    peer_name: peer.peerName,
    game_ids: peer.gameIds,
    status: peer.status,
    registered_at: isoTime(peer.registeredAt),
    public_key: peer.publicKey,
    event_count: peer.eventCount,
    pre_trusted: peer.preTrusted,
    weight: peer.weight,
    tau: peer.tau,
    a: peer.a,
    b: peer.b,
    m: peer.m,
    finds: peer.finds,
  };
}
export interface PeerValue extends ReturnType<typeof peerValue> {}

function signalsValue({ players, sharedPlayers, discountedWith, oneWitnessWith }: PeerSignals) {
  return {
    players,
    shared_players: sharedPlayers,
    discounted_with: discountedWith.map((other) => ({
      peer_id: other.peerId,
      shared_players: other.sharedPlayers,
      agreement: other.agreement,
    })),
    one_witness_with: oneWitnessWith.map(({ peerId, reason }) => ({ peer_id: peerId, reason })),
  };
}

/** `signals` is undefined if the newest computation did not include the peer. */
export function listedPeerValue(
  peer: PeerView,
  signals: PeerSignals | undefined,
  sharedErasures: number,
  tooOld: ReturnType<GroupApi['tooOld']>,
) {
  return {
    ...peerValue(peer),
    shared_erasures: sharedErasures,
    too_old: tooOld === undefined ? null : { events: tooOld.events, newest: isoTime(tooOld.newest) },
    signals: signals === undefined ? null : signalsValue(signals),
  };
}
export interface ListedPeerValue extends ReturnType<typeof listedPeerValue> {}

export function preTrustValue(peers: readonly PeerView[]) {
  return {
    pre_trusted: peers.map(({ peerId, peerName, status }) => ({ peer_id: peerId, peer_name: peerName, status })),
  };
}
export interface PreTrustValue extends ReturnType<typeof preTrustValue> {}

export function allowedPlayerValue({ subject, entryId, until, note }: AllowedPlayer) {
  return { subject_hash: subject, entry_id: entryId, until: isoTime(until), note };
}
export interface AllowedPlayerValue extends ReturnType<typeof allowedPlayerValue> {}

export function pendingErasureValue({ subject, requestedAt }: PendingErasure) {
  // Thirty days after the request: the time by which the operator should decide.
  const due = requestedAt + limits.erasureDueMs;
  return { subject_hash: subject, requested_at: isoTime(requestedAt), due_at: isoTime(due) };
}
export interface PendingErasureValue extends ReturnType<typeof pendingErasureValue> {}

export function originValue({ name, declaredAt, isDeclared, carriers, weight, tau, a, b }: OriginView) {
  const status: 'declared' | 'removed' = isDeclared ? 'declared' : 'removed';
  return { name, status, declared_at: isoTime(declaredAt), carriers, weight, tau, a, b };
}
export interface OriginValue extends ReturnType<typeof originValue> {}

export function disputeValue(view: DisputeView) {
  const { id, openedAt, peerId, subject, text, against, status, decidedAt, voids, reporters } = view;
  return {
    dispute_id: id,
    opened_at: isoTime(openedAt),
    peer_id: peerId,
    subject_hash: subject,
    text,
    against,
    status,
    decided_at: decidedAt === null ? null : isoTime(decidedAt),
    voids,
    reporters,
  };
}
export interface DisputeValue extends ReturnType<typeof disputeValue> {}

export function auditEntryValue(entry: AuditEntry) {
  const { seq, at, action, actor, target, prevHash, hash } = entry;
  return { seq, at: isoTime(at), action, actor, target, prev_hash: prevHash, hash };
}
export interface AuditEntryValue extends ReturnType<typeof auditEntryValue> {}

export function publishedWeightsValue({ seq, at, basedOnSeq, computedAt, pi, peers }: PublishedWeights) {
  const named = peers.map(({ peerId, ...figures }) => ({ peer_id: peerId, ...figures }));
  const times = { at: isoTime(at), based_on_seq: basedOnSeq, computed_at: isoTime(computedAt) };
  return { seq, ...times, bad_share: pi, peers: named };
}
export interface PublishedWeightsValue extends ReturnType<typeof publishedWeightsValue> {}

export function simulationValue(simulation: SimulationView) {
  const { seq, at, players, verdicts: table, changed, peers } = simulation;
  const counts = verdicts.flatMap((was) => verdicts.filter((is) => is !== was).map((is) => table[was][is]));
  return {
    seq,
    at: isoTime(at),
    players,
    /** Number of players whose verdict changes; `changed` lists some of them. */
    changed_count: counts.reduce((sum, count) => sum + count, 0),
    changed: changed.map(({ subject, events, before, after }) => ({
      subject_hash: subject,
      event_count: events,
      before,
      after,
    })),
    verdicts: table,
    peers: peers.map(({ peerId, peerName, before, after }) => ({
      peer_id: peerId,
      peer_name: peerName,
      weight_before: before,
      weight_after: after,
    })),
  };
}
export interface SimulationValue extends ReturnType<typeof simulationValue> {}

/** Converts a report to wire names, also one that was made without a node. */
export function verifyValue(report: VerifyReport) {
  const { ok, lastSeq, batches, records, auditEntries, snapshots, faults } = report;
  return { ok, last_seq: lastSeq, batches, records, audit_entries: auditEntries, snapshots, faults };
}
export interface VerifyValue extends ReturnType<typeof verifyValue> {}

/** Describes the nodes of a group and the members of etcd, as one node sees them. */
export function clusterValue(status: ClusterStatus) {
  const { leader, lastTakeover, nodes, members, scrubbed } = status;
  const newest = Math.max(status.appliedSeq, ...nodes.map(({ applied }) => applied));
  return {
    cluster_id: status.clusterId,
    node_id: status.nodeId,
    role: status.role,
    applied_seq: status.appliedSeq,
    staleness_ms: Math.ceil(status.stalenessMs),
    lease_ms: Math.floor(status.leaseMs),
    floor_seq: status.floorSeq,
    leader: leader && { node_id: leader.nodeId, since: isoTime(leader.since), fence: leader.fence },
    takeovers: status.takeovers,
    last_takeover: lastTakeover && {
      at: isoTime(lastTakeover.at),
      node_id: lastTakeover.nodeId,
      cause: lastTakeover.cause,
    },
    nodes: nodes.map((node) => ({
      node_id: node.nodeId,
      url: node.url,
      role: node.role,
      applied_seq: node.applied,
      durable_seq: node.durable,
      snapshot_seq: node.snapshot,
      lag: newest - node.applied,
      version: node.version,
      started_at: isoTime(node.started),
      reason: node.reason,
    })),
    members: members.map(({ dbBytes, dbBytesInUse, ...member }) => ({
      ...member,
      db_bytes: dbBytes,
      db_bytes_in_use: dbBytesInUse,
    })),
    scrubbed: scrubbed && { ...scrubbed, at: isoTime(scrubbed.at) },
  };
}
export interface ClusterValue extends ReturnType<typeof clusterValue> {}
