/** The figures that are read at each scrape. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { GroupStatus } from '../../../src/group/api.js';
import { type ClusterHealth, unknownStalenessMs } from '../../../src/group/cluster-api.js';
import { createMetrics } from '../../../src/http/metrics/metrics.js';
import { limits } from '../../../src/limits.js';
import { groupDouble, peerView } from '../group-double.js';
import { sampleOf } from './sample-of.js';

const version = '9.8.7';

test('each gauge of the group, its cluster and its peers has the value of one figure, in its unit', async () => {
  const group = groupDouble();
  const cluster: ClusterHealth = {
    role: 'follower',
    hasLeader: true,
    appliedSeq: 41,
    stalenessMs: 1_500,
    isStale: false,
    reason: null,
    leaseMs: 2_500,
    floorSeq: 42,
    takeovers: 43,
    forwarded: 44,
    etcdBytes: 45,
    etcdQuotaBytes: 46,
    isScrubIncomplete: true,
    refusedNodes: 47,
  };
  const status: GroupStatus = {
    ...group.status(),
    ready: false,
    weights: { basedOnSeq: 10, computedAt: 6_000 },
    preTrusted: ['a', 'b'],
    newcomers: { registered: 3, reporting: 4 },
    witnesses: { groups: 5, peers: 6 },
    halfLifeDays: 2,
    banHalfLifeDays: 3,
    pendingErasures: 7,
    snapshots: [11, 12, 10],
    ownerEpoch: 8,
    check: { running: false, checkedSeq: 9, endedAt: 5_000, faults: ['one', 'two', 'three'] },
    cluster,
  };
  let current = status;
  const pair = { peerId: 'x', sharedPlayers: 1, agreement: 0.5 };
  const signals = { players: 7, sharedPlayers: 6, discountedWith: [pair, pair], oneWitnessWith: [] };
  const peers = () => [peerView(0, { tau: 0.25 })];
  const watched = { ...group, peers, status: () => current, signals: () => signals, sharedErasures: () => 5 };
  const metrics = createMetrics(version, () => watched);
  const text = await metrics.text();
  const peer = `{peer_id="${group.peers(0, 1)[0]!.peerId}"}`;
  const expected: Readonly<Record<string, number>> = {
    'build_info{version="9.8.7"}': 1,
    'group_info{group_id="local",identity_mode="privacy-first",environment="dev"}': 1,
    'peers{status="active"}': 1,
    'peers{status="suspended"}': 1,
    'peers{status="revoked"}': 0,
    ready: 0,
    players: 1_234,
    players_max: limits.subjectsMax,
    events: 98_765,
    events_max: limits.eventIdsMax,
    pre_trusted_peers: 2,
    new_peers: 3,
    new_peers_reporting: 4,
    witness_groups: 5,
    witness_group_peers: 6,
    half_life_seconds: 172_800,
    ban_half_life_seconds: 259_200,
    log_last_seq: 12,
    weights_based_on_seq: 10,
    weights_computed_timestamp_seconds: 6,
    mailbox_events: 3,
    mailbox_events_max: limits.mailboxEvents,
    mailbox_bytes: 300,
    pending_erasures: 7,
    snapshots: 3,
    snapshot_last_seq: 12,
    owner_epoch: 8,
    disk_free_bytes: 5e9,
    disk_free_min_bytes: 256e6,
    log_bytes: 4e6,
    snapshots_bytes: 2e6,
    check_faults: 3,
    check_last_seq: 9,
    check_ended_timestamp_seconds: 5,
    cluster_has_leader: 1,
    cluster_applied_seq: 41,
    cluster_staleness_seconds: 1.5,
    cluster_lease_seconds: 2.5,
    cluster_floor_seq: 42,
    cluster_takeovers: 43,
    cluster_forwarded: 44,
    cluster_etcd_db_bytes: 45,
    cluster_etcd_quota_bytes: 46,
    cluster_scrub_incomplete: 1,
    cluster_refused_nodes: 47,
    'cluster_role{role="leader"}': 0,
    'cluster_role{role="follower"}': 1,
    'cluster_role{role="joining"}': 0,
    'cluster_role{role="left"}': 0,
    [`peer_gate${peer}`]: 0.25,
    [`peer_weight${peer}`]: 0.5,
    [`peer_players${peer}`]: 7,
    [`peer_events${peer}`]: 7,
    [`peer_shared_players${peer}`]: 6,
    [`peer_discounted_pairs${peer}`]: 2,
    [`peer_shared_erasures${peer}`]: 5,
  };
  const found = Object.fromEntries(Object.keys(expected).map((name) => [name, sampleOf(text, `ptf_${name}`)]));
  assert.equal(found, expected);
  const unknown = { hasLeader: false, isScrubIncomplete: false, stalenessMs: unknownStalenessMs };
  const left: ClusterHealth = { ...cluster, role: 'left', ...unknown };
  current = { ...status, ready: true, writable: false, snapshots: [], disk: null, cluster: left };
  current = { ...current, check: { ...status.check, endedAt: null }, weights: { basedOnSeq: 1, computedAt: null } };
  const later = await metrics.text();
  assert.match(later, /^ptf_cluster_staleness_seconds \+Inf$/m);
  const times = ['check_ended_timestamp_seconds', 'weights_computed_timestamp_seconds'];
  const names = ['ready', 'snapshot_last_seq', 'disk_free_bytes', ...times];
  const ofCluster = ['has_leader', 'scrub_incomplete', 'role{role="follower"}', 'role{role="left"}'];
  assert.equal(
    [...names, ...ofCluster.map((name) => `cluster_${name}`)].map((name) => sampleOf(later, `ptf_${name}`)),
    [0, 0, Number.NaN, 0, 0, 0, 0, 0, 1],
  );
});

test('without signals a peer has figures of 0, without a cluster a ready node no gauge of one; a process has its own', async () => {
  const group = groupDouble();
  const text = await createMetrics(version, () => group).text();
  const peer = group.peers(1, 1)[0]!.peerId;
  const names = ['players', 'shared_players', 'discounted_pairs', 'shared_erasures'];
  const figures = names.map((name) => sampleOf(text, `ptf_peer_${name}{peer_id="${peer}"}`));
  assert.equal(figures, [0, 0, 0, 0]);
  assert.is(sampleOf(text, 'ptf_ready'), 1);
  assert.not.match(text, /ptf_cluster_/);
  assert.not.match(text, /nodejs_active_\w+_total/);
  assert.match(text, /^process_cpu_seconds_total /m);
  assert.match(text, /^nodejs_eventloop_lag_p99_seconds /m);
});

test.run();
