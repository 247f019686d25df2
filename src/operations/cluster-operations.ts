/** The nodes of a group that several nodes serve, the settings that they share, and the members of etcd. */
import { settingNames, settingParsers } from '../core/settings.js';
import { granted, type Outcome, refused } from '../errors.js';
import { type ClusterOperations, type ClusterStatus, unknownStalenessMs } from '../group/cluster-api.js';
import { limits } from '../limits.js';
import { shape } from '../validation/schema.js';
import { type Asked, by, count, isoTime, mapped, operation, typed } from './operation.js';
import { columns, facts, mb } from './text-table.js';

export const clusterOperations = {
  'group-show': operation({
    request: shape({}),
    answer: (_, { group }) => granted(group.settings()),
    ptf: {
      group: 'group',
      command: 'show',
      text: 'show the settings of the group that are in force on this node',
      examples: ['group show', 'group show --json'],
      show: (settings, width) => facts(width, Object.entries(settings)),
    },
  }),

  'group-set': operation({
    request: shape(
      {
        name: { enum: settingNames },
        value: { type: 'string', maxLength: limits.preTrustedMax * (limits.peerIdLength + 1) },
        by,
      },
      ['by'],
    ),
    async answer({ name, value: text }, { group, by: actor }) {
      if (group.clusterOperations === null) {
        return refused('invalid_parameter', {
          text: `this node serves its group alone (CLUSTER=none): set ${name} and start it again`,
        });
      }
      const parsed = settingParsers[name](text);
      if (!parsed.ok) return refused('invalid_parameter', { text: `${name} ${parsed.problem}` });
      return mapped(await group.changeSetting(name, parsed.value, actor), () => ({ name, value: parsed.value }));
    },
    ptf: {
      group: 'group',
      command: 'set',
      text: 'change a setting on all nodes of a cluster; then set the variable of this name on each machine',
      given: { name: { flags: '<name>', text: '', choices: settingNames }, value: typed('<value>') },
      examples: ['group set RETENTION_DAYS 365 --by alice'],
      show: ({ name, value: set }) => [`${name} is ${set} on all nodes; set the variable on each machine, too`],
    },
  }),

  'cluster-status': operation({
    request: shape({}),
    dashboard: true,
    answer: (_, asked) => inCluster(asked, async (cluster) => mapped(await cluster.status(), clusterValue)),
    ptf: {
      group: 'cluster',
      command: 'status',
      text: 'show the leader, the progress of each node, and the members of etcd',
      examples: ['cluster status', 'cluster status --json'],
      show: clusterLines,
    },
  }),

  'cluster-step-down': operation({
    request: shape({}),
    isSlow: true,
    answer: (_, asked) =>
      inCluster(asked, async (cluster) => mapped(await cluster.stepDown(), ({ nodeId }) => ({ node_id: nodeId }))),
    ptf: {
      group: 'cluster',
      command: 'step-down',
      text: 'make the leader hand leadership over to another node, for example before its machine is taken down',
      examples: ['cluster step-down'],
      show: ({ node_id }) => [
        `node ${node_id} no longer leads; another node takes over, or this one again in ${limits.stepDownMs / 1000} s if no other lives`,
      ],
    },
  }),

  /** `ptf cluster scrub` can also search a member's files: see `operator/cli/cluster-command.ts`. */
  'cluster-scrub': operation({
    request: shape({ snapshot_count: count(1, limits.walSnapshotEntriesMax), max_wals: count(1, limits.walFilesMax) }, [
      'snapshot_count',
      'max_wals',
    ]),
    isSlow: true,
    answer({ snapshot_count: snapshotEntries, max_wals: files }, asked) {
      const settings = { ...(snapshotEntries && { snapshotEntries }), ...(files && { files }) };
      return inCluster(asked, (cluster) => cluster.scrub(settings, asked.onProgress));
    },
  }),

  'cluster-forget': operation({
    request: shape({ node_id: { type: 'string', minLength: 1, maxLength: limits.nodeIdLength } }),
    answer: ({ node_id }, asked) =>
      inCluster(asked, async (cluster) => mapped(await cluster.forget(node_id), () => ({ node_id }))),
    ptf: {
      group: 'cluster',
      command: 'forget',
      text: 'confirm that nothing waits for a node that is gone',
      given: { node_id: typed('<node>') },
      examples: ['cluster forget node-3'],
      show: ({ node_id }) => [`nothing is waiting for node ${node_id}`],
    },
  }),
};

async function inCluster<T>(
  { group }: Asked,
  ask: (cluster: ClusterOperations) => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  const { clusterOperations: cluster } = group;
  if (cluster !== null) return ask(cluster);
  return refused('invalid_parameter', { text: 'this node serves its group alone (CLUSTER=none)' });
}

function clusterValue(status: ClusterStatus) {
  const { leader, lastTakeover: last, nodes, refused, members, scrubbed } = status;
  const newest = Math.max(status.appliedSeq, ...nodes.map(({ applied }) => applied));
  return {
    cluster_id: status.clusterId,
    node_id: status.nodeId,
    role: status.role,
    applied_seq: status.appliedSeq,
    staleness_ms: status.stalenessMs === unknownStalenessMs ? null : Math.ceil(status.stalenessMs),
    lease_ms: Math.floor(status.leaseMs),
    floor_seq: status.floorSeq,
    leader: leader && { node_id: leader.nodeId, since: isoTime(leader.since), fence: leader.fence },
    takeovers: status.takeovers,
    last_takeover: last && { at: isoTime(last.at), node_id: last.nodeId, cause: last.cause },
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
    refused: refused.map(({ nodeId, url, reason }) => ({ node_id: nodeId, url, reason })),
    members: members.map(({ dbBytes, dbBytesInUse, ...member }) => ({
      ...member,
      db_bytes: dbBytes,
      db_bytes_in_use: dbBytesInUse,
    })),
    scrubbed: scrubbed && { ...scrubbed, at: isoTime(scrubbed.at) },
  };
}
export interface ClusterValue extends ReturnType<typeof clusterValue> {}

function clusterLines(value: ClusterValue, width: number): string[] {
  const { leader, last_takeover: takeover, scrubbed } = value;
  const noScrub = scrubbed === null ? 'none' : 'unknown, since etcd does not answer';
  return [
    ...facts(width, [
      ['cluster', value.cluster_id],
      ['this node', `${value.node_id}, ${value.role}`],
      ['leader', leader === null ? 'none' : `${leader.node_id} since ${leader.since} (fence ${leader.fence})`],
      ['applied seq', value.applied_seq],
      ['staleness', value.staleness_ms === null ? 'unknown' : `${value.staleness_ms} ms`],
      ['lease', `${value.lease_ms} ms left`],
      ['floor seq', value.floor_seq],
      ['takeovers', `${value.takeovers} by this node`],
      ['last takeover', takeover === null ? 'none' : `${takeover.at} by ${takeover.node_id}: ${takeover.cause}`],
      ['last scrub', scrubbed ? `${scrubbed.at}: ${scrubbed.detail}` : noScrub],
      ...value.refused.map(({ node_id, url, reason }) => ['refused', `${node_id} at ${url}: ${reason}`] as const),
    ]),
    value.nodes.length > 0 ? '' : 'nodes unknown, since etcd does not answer:',
    ...columns(width, [], value.nodes, [
      ['node', (node) => node.node_id],
      ['role', ({ role }) => role],
      ['applied', (node) => node.applied_seq],
      ['lag', ({ lag }) => lag],
      ['snapshot', (node) => node.snapshot_seq],
      ['version', ({ version }) => version],
      ['url', ({ url }) => url],
      ['reason', ({ reason }) => reason ?? ''],
    ]),
    '',
    ...columns(width, [], value.members, [
      ['etcd member', ({ endpoint }) => endpoint],
      ['state', memberState],
      ['version', ({ version }) => version],
      ['database in use', (one) => (one.healthy ? `${mb(one.db_bytes_in_use)} of ${mb(one.db_bytes)}` : '')],
    ]),
  ];
}

function memberState({ healthy, leads, alarms }: ClusterValue['members'][number]): string {
  return [healthy ? (leads ? 'leads' : 'follows') : 'DOES NOT ANSWER', ...alarms].join(', ');
}
