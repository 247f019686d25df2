/** Registers the gauges that are read at each scrape. */
import { Gauge, type Registry } from 'prom-client';
import { peerStatuses } from '../../core/vocabulary.js';
import type { GroupStatus, GroupViews, PeerSignals, PeerView } from '../../group/api.js';
import { type ClusterHealth, type ClusterRole, unknownStalenessMs } from '../../group/cluster-api.js';
import { limits } from '../../limits.js';

export type WatchedGroup = Pick<GroupViews, 'status' | 'peers' | 'signals' | 'sharedErasures'>;

interface Figure<V extends unknown[]> {
  readonly help: string;
  readonly read: (...values: V) => number;
}

/** Returns a function that makes figures, which are read from values of these types. */
function figures<V extends unknown[]>() {
  return (read: (...values: V) => number) => ({ means: (help: string): Figure<V> => ({ help, read }) });
}

const ofStatus = figures<[GroupStatus]>();
const ofCluster = figures<[ClusterHealth]>();
const ofPeer = figures<[PeerView, PeerSignals | undefined, number]>();

const statusFigures = {
  ptf_ready: ofStatus(({ ready, writable }) => (ready && writable ? 1 : 0)).means(
    'Whether reads and writes are accepted (1) or not (0), as /api/v1/ready reports.',
  ),
  ptf_players: ofStatus(({ counts }) => counts.players).means('Players with events.'),
  ptf_players_max: ofStatus(() => limits.subjectsMax).means('Maximum number of players of a node.'),
  ptf_events: ofStatus(({ counts }) => counts.events).means(
    'Events ever accepted, including withdrawn and erased ones.',
  ),
  ptf_events_max: ofStatus(() => limits.eventIdsMax).means('Maximum number of events that a node ever accepts.'),
  ptf_pre_trusted_peers: ofStatus(({ preTrusted }) => preTrusted.length).means('Pre-trusted peers.'),
  ptf_new_peers: ofStatus(({ newcomers }) => newcomers.registered).means('Peers that registered within a day.'),
  ptf_new_peers_reporting: ofStatus(({ newcomers }) => newcomers.reporting).means(
    'Peers that registered within a day and have reported.',
  ),
  ptf_witness_groups: ofStatus(({ witnesses }) => witnesses.groups).means(
    'Groups of two peers or more that count as one witness.',
  ),
  ptf_witness_group_peers: ofStatus(({ witnesses }) => witnesses.peers).means(
    'Peers in groups of two peers or more that count as one witness.',
  ),
  ptf_half_life_seconds: ofStatus(({ halfLifeDays }) => halfLifeDays * 86_400).means(
    'Half-life of all evidence but bans; 0 if decay is off.',
  ),
  ptf_ban_half_life_seconds: ofStatus(({ banHalfLifeDays }) => banHalfLifeDays * 86_400).means(
    'Half-life of bans; 0 if decay is off.',
  ),
  ptf_log_last_seq: ofStatus(({ lastSeq }) => lastSeq).means('Newest durable record of the log.'),
  ptf_weights_based_on_seq: ofStatus(({ weights }) => weights.basedOnSeq).means(
    'Log record on which the newest peer weights are based.',
  ),
  ptf_weights_computed_timestamp_seconds: ofStatus(({ weights }) => (weights.computedAt ?? 0) / 1000).means(
    'Time of the last computation of peer weights, since 1970; 0 before the first.',
  ),
  ptf_mailbox_events: ofStatus(({ mailbox }) => mailbox.events).means(
    'Events and other commands waiting for a turn; a batch counts its events.',
  ),
  ptf_mailbox_events_max: ofStatus(() => limits.mailboxEvents).means(
    'Maximum number of waiting events and other commands; beyond it the answer is 503.',
  ),
  ptf_mailbox_bytes: ofStatus(({ mailbox }) => mailbox.bytes).means('Bytes of the commands waiting for a turn.'),
  ptf_pending_erasures: ofStatus((status) => status.pendingErasures).means('Erasures that wait for the operator.'),
  ptf_snapshots: ofStatus(({ snapshots }) => snapshots.length).means('Complete snapshots on disk.'),
  ptf_snapshot_last_seq: ofStatus(({ snapshots }) => Math.max(0, ...snapshots)).means(
    'Last log record in the newest snapshot.',
  ),
  ptf_owner_epoch: ofStatus(({ ownerEpoch }) => ownerEpoch).means("This owner's epoch of the data folder."),
  ptf_disk_free_bytes: ofStatus(({ disk }) => disk?.freeBytes ?? Number.NaN).means(
    'Free space on the disk of the data folder, at most a second old.',
  ),
  ptf_disk_free_min_bytes: ofStatus(({ disk }) => disk?.minBytes ?? Number.NaN).means(
    'Free space below which writes are refused.',
  ),
  ptf_log_bytes: ofStatus(({ disk }) => disk?.logBytes ?? Number.NaN).means('Size of the log on disk.'),
  ptf_snapshots_bytes: ofStatus(({ disk }) => disk?.snapshotsBytes ?? Number.NaN).means(
    'Size of all snapshots on disk.',
  ),
  ptf_check_faults: ofStatus(({ check }) => check.faults.length).means(
    'Faults that the last background check found in log and snapshots; 0 is healthy.',
  ),
  ptf_check_last_seq: ofStatus(({ check }) => check.checkedSeq).means(
    'Last record verified by the current check or, if none runs, by the last one.',
  ),
  ptf_check_ended_timestamp_seconds: ofStatus(({ check }) => (check.endedAt ?? 0) / 1000).means(
    'End of the last check, since 1970; 0 before the first.',
  ),
};

const clusterFigures = {
  ptf_cluster_has_leader: ofCluster(({ hasLeader }) => (hasLeader ? 1 : 0)).means(
    'Whether the group has a leader (1) or not (0), as known to this node.',
  ),
  ptf_cluster_applied_seq: ofCluster(({ appliedSeq }) => appliedSeq).means('Newest record that this node has applied.'),
  ptf_cluster_staleness_seconds: ofCluster(({ stalenessMs: ms }) =>
    ms === unknownStalenessMs ? Number.POSITIVE_INFINITY : ms / 1000,
  ).means('Time since this node last knew that it was up to date; infinite if that is unknown.'),
  ptf_cluster_lease_seconds: ofCluster(({ leaseMs }) => leaseMs / 1000).means(
    "Remaining time of this node's lease by its own clock.",
  ),
  ptf_cluster_floor_seq: ofCluster(({ floorSeq }) => floorSeq).means(
    'Record up to which the shared log was trimmed; a node with an older state must rejoin.',
  ),
  ptf_cluster_takeovers: ofCluster(({ takeovers }) => takeovers).means(
    'Number of times that this node became the leader since its start.',
  ),
  ptf_cluster_forwarded: ofCluster(({ forwarded }) => forwarded).means(
    'Commands that this node forwarded to the leader since its start.',
  ),
  ptf_cluster_etcd_db_bytes: ofCluster(({ etcdBytes }) => etcdBytes).means(
    'Size of the largest database of an etcd member, as seen by the leader; 0 elsewhere.',
  ),
  ptf_cluster_etcd_quota_bytes: ofCluster(({ etcdQuotaBytes }) => etcdQuotaBytes).means(
    'Size at which the members of etcd refuse to write, as this node is configured.',
  ),
  ptf_cluster_scrub_incomplete: ofCluster(({ isScrubIncomplete }) => (isScrubIncomplete ? 1 : 0)).means(
    "Whether the last scrub of etcd's files failed or was incomplete (1), as known to the leader; 0 elsewhere.",
  ),
  ptf_cluster_refused_nodes: ofCluster(({ refusedNodes }) => refusedNodes).means(
    'Nodes that have another CLUSTER_SECRET, or the NODE_ID of a living node, as known to the leader; 0 elsewhere.',
  ),
};
const clusterRoles: readonly ClusterRole[] = ['leader', 'follower', 'joining', 'left'];

/** Peers are few and known. Their ids are public. */
const peerFigures = {
  ptf_peer_weight: ofPeer(({ weight }) => weight).means('Published weight of a peer, 0 to 1.'),
  ptf_peer_gate: ofPeer(({ tau }) => tau).means('The gate tau of a peer, 0 to 1.'),
  ptf_peer_events: ofPeer(({ eventCount }) => eventCount).means('Events ever accepted from a peer.'),
  ptf_peer_players: ofPeer((_, signals) => signals?.players ?? 0).means(
    'Players that a peer reported, at the newest computation of weights.',
  ),
  ptf_peer_shared_players: ofPeer((_, signals) => signals?.sharedPlayers ?? 0).means(
    'Players that a peer shares with at least one other; 0 with many players suggests a different salt.',
  ),
  ptf_peer_discounted_pairs: ofPeer((_, signals) => signals?.discountedWith.length ?? 0).means(
    'Peers whose agreement with a peer is discounted, since the group fully trusts neither of the two.',
  ),
  ptf_peer_shared_erasures: ofPeer((_, __, sharedErasures) => sharedErasures).means(
    'Erasures that a peer requested of players whom other peers had reported.',
  ),
};

export function registerGauges(registry: Registry, version: string, watched: () => WatchedGroup): () => void {
  const gauge = <L extends string = never>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Gauge<L>({ name, help, labelNames, registers: [registry] });
  const of = <V extends unknown[], L extends string = never>(
    table: Readonly<Record<string, Figure<V>>>,
    labelNames: readonly L[] = [],
  ) => Object.entries(table).map(([name, { help, read }]) => ({ gauge: gauge(name, help, labelNames), read }));

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
