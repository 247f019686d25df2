/** Registers the gauges that are read at each scrape. */
import { Gauge, type Registry } from 'prom-client';
import { peerStatuses } from '../../core/vocabulary.js';
import type { GroupStatus, OperatorApi, PeerSignals, PeerView } from '../../group/api.js';
import type { ClusterHealth, ClusterRole } from '../../group/cluster-api.js';
import { limits } from '../../limits.js';

export type WatchedGroup = Pick<OperatorApi, 'status' | 'peers' | 'signals' | 'sharedErasures'>;

type Figure<V extends unknown[]> = readonly [help: string, read: (...values: V) => number];

const statusFigures: Readonly<Record<string, Figure<[GroupStatus]>>> = {
  ptf_ready: [
    'Whether reads and writes are accepted (1) or not (0), as /api/v1/ready reports.',
    ({ ready, writable }) => (ready && writable ? 1 : 0),
  ],
  ptf_players: ['Players with events.', ({ counts }) => counts.players],
  ptf_players_max: ['Maximum number of players of a node.', () => limits.subjectsMax],
  ptf_events: ['Events ever accepted, including withdrawn and erased ones.', ({ counts }) => counts.events],
  ptf_events_max: ['Maximum number of events that a node ever accepts.', () => limits.eventIdsMax],
  ptf_pre_trusted_peers: ['Pre-trusted peers.', ({ preTrusted }) => preTrusted.length],
  ptf_new_peers: ['Peers that registered within a day.', ({ newcomers }) => newcomers.registered],
  ptf_new_peers_reporting: [
    'Peers that registered within a day and have reported.',
    ({ newcomers }) => newcomers.reporting,
  ],
  ptf_witness_groups: ['Groups of two peers or more that count as one witness.', ({ witnesses }) => witnesses.groups],
  ptf_witness_group_peers: [
    'Peers in groups of two peers or more that count as one witness.',
    ({ witnesses }) => witnesses.peers,
  ],
  ptf_half_life_seconds: [
    'Half-life of all evidence but bans; 0 if decay is off.',
    ({ halfLifeDays }) => halfLifeDays * 86_400,
  ],
  ptf_ban_half_life_seconds: [
    'Half-life of bans; 0 if decay is off.',
    ({ banHalfLifeDays }) => banHalfLifeDays * 86_400,
  ],
  ptf_log_last_seq: ['Newest durable record of the log.', ({ lastSeq }) => lastSeq],
  ptf_weights_based_on_seq: [
    'Log record on which the newest peer weights are based.',
    ({ weights }) => weights.basedOnSeq,
  ],
  ptf_weights_computed_timestamp_seconds: [
    'Time of the last computation of peer weights, since 1970; 0 before the first.',
    ({ weights }) => (weights.computedAt ?? 0) / 1000,
  ],
  ptf_mailbox_events: [
    'Events and other commands waiting for a turn; a batch counts its events.',
    ({ mailbox }) => mailbox.events,
  ],
  ptf_mailbox_events_max: [
    'Maximum number of waiting events and other commands; beyond it the answer is 503.',
    () => limits.mailboxEvents,
  ],
  ptf_mailbox_bytes: ['Bytes of the commands waiting for a turn.', ({ mailbox }) => mailbox.bytes],
  ptf_pending_erasures: ['Erasures that wait for the operator.', (status) => status.pendingErasures],
  ptf_snapshots: ['Complete snapshots on disk.', ({ snapshots }) => snapshots.length],
  ptf_snapshot_last_seq: ['Last log record in the newest snapshot.', ({ snapshots }) => Math.max(0, ...snapshots)],
  ptf_owner_epoch: ["This owner's epoch of the data folder.", ({ ownerEpoch }) => ownerEpoch],
  ptf_disk_free_bytes: [
    'Free space on the disk of the data folder, at most a second old.',
    ({ disk }) => disk?.freeBytes ?? Number.NaN,
  ],
  ptf_disk_free_min_bytes: ['Free space below which writes are refused.', ({ disk }) => disk?.minBytes ?? Number.NaN],
  ptf_log_bytes: ['Size of the log on disk.', ({ disk }) => disk?.logBytes ?? Number.NaN],
  ptf_snapshots_bytes: ['Size of all snapshots on disk.', ({ disk }) => disk?.snapshotsBytes ?? Number.NaN],
  ptf_check_faults: [
    'Faults that the last background check found in log and snapshots; 0 is healthy.',
    ({ check }) => check.faults.length,
  ],
  ptf_check_last_seq: [
    'Last record verified by the current check or, if none runs, by the last one.',
    ({ check }) => check.checkedSeq,
  ],
  ptf_check_ended_timestamp_seconds: [
    'End of the last check, since 1970; 0 before the first.',
    ({ check }) => (check.endedAt ?? 0) / 1000,
  ],
};

/** Gauges of a clustered node; a single node does not have them. */
const clusterFigures: Readonly<Record<string, Figure<[ClusterHealth]>>> = {
  ptf_cluster_has_leader: [
    'Whether the group has a leader (1) or not (0), as known to this node.',
    ({ hasLeader }) => (hasLeader ? 1 : 0),
  ],
  ptf_cluster_applied_seq: ['Newest record that this node has applied.', ({ appliedSeq }) => appliedSeq],
  ptf_cluster_staleness_seconds: [
    'Time since this node last knew that it was up to date.',
    ({ stalenessMs }) => stalenessMs / 1000,
  ],
  ptf_cluster_lease_seconds: ["Remaining time of this node's lease by its own clock.", ({ leaseMs }) => leaseMs / 1000],
  ptf_cluster_floor_seq: [
    'Record up to which the shared log was trimmed; a node with an older state must rejoin.',
    ({ floorSeq }) => floorSeq,
  ],
  ptf_cluster_takeovers: [
    'Number of times that this node became the leader since its start.',
    ({ takeovers }) => takeovers,
  ],
  ptf_cluster_forwarded: [
    'Commands that this node forwarded to the leader since its start.',
    ({ forwarded }) => forwarded,
  ],
  ptf_cluster_etcd_db_bytes: [
    'Size of the largest database of an etcd member, as seen by the leader; 0 elsewhere.',
    ({ etcdBytes }) => etcdBytes,
  ],
  ptf_cluster_etcd_quota_bytes: [
    'Size at which the members of etcd refuse to write, as this node is configured.',
    ({ etcdQuotaBytes }) => etcdQuotaBytes,
  ],
  ptf_cluster_scrub_incomplete: [
    "Whether the last scrub of etcd's files failed or was incomplete (1), as known to the leader; 0 elsewhere.",
    ({ isScrubIncomplete }) => (isScrubIncomplete ? 1 : 0),
  ],
  ptf_cluster_refused_nodes: [
    'Nodes that have another CLUSTER_SECRET, or the NODE_ID of a living node, as known to the leader; 0 elsewhere.',
    ({ refusedNodes }) => refusedNodes,
  ],
};
const clusterRoles: readonly ClusterRole[] = ['leader', 'follower', 'joining', 'left'];

/** Peers are few and known. Their ids are public. */
const peerFigures: Readonly<Record<string, Figure<[PeerView, PeerSignals | undefined, number]>>> = {
  ptf_peer_weight: ['Published weight of a peer, 0 to 1.', ({ weight }) => weight],
  ptf_peer_gate: ['The gate tau of a peer, 0 to 1.', ({ tau }) => tau],
  ptf_peer_events: ['Events ever accepted from a peer.', ({ eventCount }) => eventCount],
  ptf_peer_players: [
    'Players that a peer reported, at the newest computation of weights.',
    (_, signals) => signals?.players ?? 0,
  ],
  ptf_peer_shared_players: [
    'Players that a peer shares with at least one other; 0 with many players suggests a different salt.',
    (_, signals) => signals?.sharedPlayers ?? 0,
  ],
  ptf_peer_discounted_pairs: [
    'Peers whose agreement with a peer is discounted, since the group fully trusts neither of the two.',
    (_, signals) => signals?.discountedWith.length ?? 0,
  ],
  ptf_peer_shared_erasures: [
    'Erasures that a peer requested of players whom other peers had reported.',
    (_, __, sharedErasures) => sharedErasures,
  ],
};

/** Registers every gauge; the returned function reads all of them again. `version` is this release. */
export function registerGauges(registry: Registry, version: string, watched: () => WatchedGroup): () => void {
  const gauge = <L extends string = never>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Gauge<L>({ name, help, labelNames, registers: [registry] });
  const of = <V extends unknown[], L extends string = never>(
    figures: Readonly<Record<string, Figure<V>>>,
    labelNames: readonly L[] = [],
  ) =>
    Object.entries(figures).map(([name, [help, read]]) => ({
      gauge: gauge(name, help, labelNames),
      read,
    }));

  gauge('ptf_build_info', 'Always 1; the label names this release.', ['version']).labels({ version }).set(1);
  const groupInfo = gauge('ptf_group_info', 'Always 1; the labels name the group of this node.', [
    'group_id',
    'identity_mode',
    'environment',
  ]);
  const peers = gauge('ptf_peers', 'Registered peers by status.', ['status']);
  const statusGauges = of(statusFigures);
  const peerGauges = of(peerFigures, ['peer_id']);
  let refreshCluster: ((cluster: ClusterHealth) => void) | undefined;

  function clusterGauges(): (cluster: ClusterHealth) => void {
    const gauges = of(clusterFigures);
    const role = gauge('ptf_cluster_role', 'Role of this node: 1 for the current role, 0 for the others.', ['role']);
    return (cluster) => {
      for (const { gauge, read } of gauges) gauge.set(read(cluster));
      for (const name of clusterRoles) role.set({ role: name }, cluster.role === name ? 1 : 0);
    };
  }

  return () => {
    const group = watched();
    const status = group.status();
    const { groupId, identityMode, environment } = status.identity;
    groupInfo.set({ group_id: groupId, identity_mode: identityMode, environment }, 1);
    for (const { gauge, read } of statusGauges) gauge.set(read(status));
    if (status.cluster !== null) {
      refreshCluster ??= clusterGauges();
      refreshCluster(status.cluster);
    }
    for (const name of peerStatuses) peers.set({ status: name }, status.peersByStatus[name]);
    for (const peer of group.peers(0, limits.metricsPeersMax)) {
      const signals = group.signals(peer);
      const sharedErasures = group.sharedErasures(peer);
      for (const { gauge, read } of peerGauges)
        gauge.set({ peer_id: peer.peerId }, read(peer, signals, sharedErasures));
    }
  };
}
