/** Registers the gauges that are read at each scrape. */
import { Gauge, type Registry } from 'prom-client';
import { peerStatuses } from '../../core/vocabulary.js';
import type { GroupStatus, OperatorApi, PeerSignals, PeerView } from '../../group/api.js';
import type { ClusterHealth, ClusterRole } from '../../group/cluster-api.js';
import { limits } from '../../limits.js';

export type WatchedGroup = Pick<OperatorApi, 'status' | 'peers' | 'signals' | 'sharedErasures'>;

interface Figure<V extends unknown[]> {
  readonly help: string;
  readonly read: (...values: V) => number;
}

const statusFigures: Readonly<Record<string, Figure<[GroupStatus]>>> = {
  ptf_ready: {
    help: 'Whether reads and writes are accepted (1) or not (0), as /api/v1/ready reports.',
    read: ({ ready, writable }) => (ready && writable ? 1 : 0),
  },
  ptf_players: { help: 'Players with events.', read: ({ counts }) => counts.players },
  ptf_players_max: { help: 'Maximum number of players of a node.', read: () => limits.subjectsMax },
  ptf_events: {
    help: 'Events ever accepted, including withdrawn and erased ones.',
    read: ({ counts }) => counts.events,
  },
  ptf_events_max: { help: 'Maximum number of events that a node ever accepts.', read: () => limits.eventIdsMax },
  ptf_pre_trusted_peers: { help: 'Pre-trusted peers.', read: ({ preTrusted }) => preTrusted.length },
  ptf_new_peers: { help: 'Peers that registered within a day.', read: ({ newcomers }) => newcomers.registered },
  ptf_new_peers_reporting: {
    help: 'Peers that registered within a day and have reported.',
    read: ({ newcomers }) => newcomers.reporting,
  },
  ptf_witness_groups: {
    help: 'Groups of two peers or more that count as one witness.',
    read: ({ witnesses }) => witnesses.groups,
  },
  ptf_witness_group_peers: {
    help: 'Peers in groups of two peers or more that count as one witness.',
    read: ({ witnesses }) => witnesses.peers,
  },
  ptf_half_life_seconds: {
    help: 'Half-life of all evidence but bans; 0 if decay is off.',
    read: ({ halfLifeDays }) => halfLifeDays * 86_400,
  },
  ptf_ban_half_life_seconds: {
    help: 'Half-life of bans; 0 if decay is off.',
    read: ({ banHalfLifeDays }) => banHalfLifeDays * 86_400,
  },
  ptf_log_last_seq: { help: 'Newest durable record of the log.', read: ({ lastSeq }) => lastSeq },
  ptf_weights_based_on_seq: {
    help: 'Log record on which the newest peer weights are based.',
    read: ({ weights }) => weights.basedOnSeq,
  },
  ptf_weights_computed_timestamp_seconds: {
    help: 'Time of the last computation of peer weights, since 1970; 0 before the first.',
    read: ({ weights }) => (weights.computedAt ?? 0) / 1000,
  },
  ptf_mailbox_events: {
    help: 'Events and other commands waiting for a turn; a batch counts its events.',
    read: ({ mailbox }) => mailbox.events,
  },
  ptf_mailbox_events_max: {
    help: 'Maximum number of waiting events and other commands; beyond it the answer is 503.',
    read: () => limits.mailboxEvents,
  },
  ptf_mailbox_bytes: { help: 'Bytes of the commands waiting for a turn.', read: ({ mailbox }) => mailbox.bytes },
  ptf_pending_erasures: { help: 'Erasures that wait for the operator.', read: (status) => status.pendingErasures },
  ptf_snapshots: { help: 'Complete snapshots on disk.', read: ({ snapshots }) => snapshots.length },
  ptf_snapshot_last_seq: {
    help: 'Last log record in the newest snapshot.',
    read: ({ snapshots }) => Math.max(0, ...snapshots),
  },
  ptf_owner_epoch: { help: "This owner's epoch of the data folder.", read: ({ ownerEpoch }) => ownerEpoch },
  ptf_disk_free_bytes: {
    help: 'Free space on the disk of the data folder, at most a second old.',
    read: ({ disk }) => disk?.freeBytes ?? Number.NaN,
  },
  ptf_disk_free_min_bytes: {
    help: 'Free space below which writes are refused.',
    read: ({ disk }) => disk?.minBytes ?? Number.NaN,
  },
  ptf_log_bytes: { help: 'Size of the log on disk.', read: ({ disk }) => disk?.logBytes ?? Number.NaN },
  ptf_snapshots_bytes: {
    help: 'Size of all snapshots on disk.',
    read: ({ disk }) => disk?.snapshotsBytes ?? Number.NaN,
  },
  ptf_check_faults: {
    help: 'Faults that the last background check found in log and snapshots; 0 is healthy.',
    read: ({ check }) => check.faults.length,
  },
  ptf_check_last_seq: {
    help: 'Last record verified by the current check or, if none runs, by the last one.',
    read: ({ check }) => check.checkedSeq,
  },
  ptf_check_ended_timestamp_seconds: {
    help: 'End of the last check, since 1970; 0 before the first.',
    read: ({ check }) => (check.endedAt ?? 0) / 1000,
  },
};

/** Gauges of a clustered node; a single node does not have them. */
const clusterFigures: Readonly<Record<string, Figure<[ClusterHealth]>>> = {
  ptf_cluster_has_leader: {
    help: 'Whether the group has a leader (1) or not (0), as known to this node.',
    read: ({ hasLeader }) => (hasLeader ? 1 : 0),
  },
  ptf_cluster_applied_seq: { help: 'Newest record that this node has applied.', read: ({ appliedSeq }) => appliedSeq },
  ptf_cluster_staleness_seconds: {
    help: 'Time since this node last knew that it was up to date.',
    read: ({ stalenessMs }) => stalenessMs / 1000,
  },
  ptf_cluster_lease_seconds: {
    help: "Remaining time of this node's lease by its own clock.",
    read: ({ leaseMs }) => leaseMs / 1000,
  },
  ptf_cluster_floor_seq: {
    help: 'Record up to which the shared log was trimmed; a node with an older state must rejoin.',
    read: ({ floorSeq }) => floorSeq,
  },
  ptf_cluster_takeovers: {
    help: 'Number of times that this node became the leader since its start.',
    read: ({ takeovers }) => takeovers,
  },
  ptf_cluster_forwarded: {
    help: 'Commands that this node forwarded to the leader since its start.',
    read: ({ forwarded }) => forwarded,
  },
  ptf_cluster_etcd_db_bytes: {
    help: 'Size of the largest database of an etcd member, as seen by the leader; 0 elsewhere.',
    read: ({ etcdBytes }) => etcdBytes,
  },
  ptf_cluster_etcd_quota_bytes: {
    help: 'Size at which the members of etcd refuse to write, as this node is configured.',
    read: ({ etcdQuotaBytes }) => etcdQuotaBytes,
  },
  ptf_cluster_scrub_incomplete: {
    help: "Whether the last scrub of etcd's files failed or was incomplete (1), as known to the leader; 0 elsewhere.",
    read: ({ isScrubIncomplete }) => (isScrubIncomplete ? 1 : 0),
  },
  ptf_cluster_refused_nodes: {
    help: 'Nodes that have another CLUSTER_SECRET, or the NODE_ID of a living node, as known to the leader; 0 elsewhere.',
    read: ({ refusedNodes }) => refusedNodes,
  },
};
const clusterRoles: readonly ClusterRole[] = ['leader', 'follower', 'joining', 'left'];

/** Peers are few and known. Their ids are public. */
const peerFigures: Readonly<Record<string, Figure<[PeerView, PeerSignals | undefined, number]>>> = {
  ptf_peer_weight: { help: 'Published weight of a peer, 0 to 1.', read: ({ weight }) => weight },
  ptf_peer_gate: { help: 'The gate tau of a peer, 0 to 1.', read: ({ tau }) => tau },
  ptf_peer_events: { help: 'Events ever accepted from a peer.', read: ({ eventCount }) => eventCount },
  ptf_peer_players: {
    help: 'Players that a peer reported, at the newest computation of weights.',
    read: (_, signals) => signals?.players ?? 0,
  },
  ptf_peer_shared_players: {
    help: 'Players that a peer shares with at least one other; 0 with many players suggests a different salt.',
    read: (_, signals) => signals?.sharedPlayers ?? 0,
  },
  ptf_peer_discounted_pairs: {
    help: 'Peers whose agreement with a peer is discounted, since the group fully trusts neither of the two.',
    read: (_, signals) => signals?.discountedWith.length ?? 0,
  },
  ptf_peer_shared_erasures: {
    help: 'Erasures that a peer requested of players whom other peers had reported.',
    read: (_, __, sharedErasures) => sharedErasures,
  },
};

/** Registers every gauge; the returned function reads all of them again. `version` is this release. */
export function registerGauges(registry: Registry, version: string, watched: () => WatchedGroup): () => void {
  const registers = [registry];
  const of = <V extends unknown[], L extends string = never>(
    figures: Readonly<Record<string, Figure<V>>>,
    labelNames: readonly L[] = [],
  ) =>
    Object.entries(figures).map(([name, { help, read }]) => ({
      gauge: new Gauge<L>({ name, help, labelNames, registers }),
      read,
    }));

  new Gauge({
    name: 'ptf_build_info',
    help: 'Always 1; the label names this release.',
    labelNames: ['version'],
    registers,
  })
    .labels({ version })
    .set(1);
  const groupInfo = new Gauge({
    name: 'ptf_group_info',
    help: 'Always 1; the labels name the group of this node.',
    labelNames: ['group_id', 'identity_mode', 'environment'],
    registers,
  });
  const peers = new Gauge({
    name: 'ptf_peers',
    help: 'Registered peers by status.',
    labelNames: ['status'],
    registers,
  });
  const statusGauges = of(statusFigures);
  const peerGauges = of(peerFigures, ['peer_id']);
  let refreshCluster: ((cluster: ClusterHealth) => void) | undefined;

  function clusterGauges(): (cluster: ClusterHealth) => void {
    const gauges = of(clusterFigures);
    const role = new Gauge({
      name: 'ptf_cluster_role',
      help: 'Role of this node: 1 for the current role, 0 for the others.',
      labelNames: ['role'],
      registers,
    });
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
