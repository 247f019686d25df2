/** `ptf cluster`: the nodes of a group that several nodes serve. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { ClusterValue } from '../../protocol/value-types.js';
import type { Rendered } from '../renderers.js';
import { examples, type Session } from '../session.js';
import { facts, table } from '../table.js';

export function addCluster(program: Command, session: Session): void {
  const { ask, done, dir, moveData } = session;
  const cluster = program
    .command('cluster')
    .description('show and control the nodes of a group that several nodes serve');
  cluster.addHelpText('after', examples('cluster status', 'cluster step-down'));
  cluster
    .command('status')
    .description('show the leader, the progress of each node, and the members of etcd')
    .addHelpText('after', examples('cluster status', 'cluster status --json'))
    .action(async () => done(showCluster(await ask('cluster-status', {}))));
  cluster
    .command('step-down')
    .description('make the leader hand leadership over to another node, for example before its machine is taken down')
    .addHelpText('after', examples('cluster step-down'))
    .action(async () => {
      const value = await ask('cluster-step-down', {});
      done({ value, lines: () => [`node ${value.node_id} no longer leads; another node takes over`] });
    });
  cluster
    .command('scrub')
    .description("remove erased data from etcd's write-ahead logs; happens nightly by itself")
    .option('--now', 'at once, which is also the default')
    .addHelpText('after', examples('cluster scrub --now'))
    .action(async () => {
      const value = await ask('cluster-scrub', {});
      const fault = { code: 'scrub_incomplete', error: value.detail };
      done({ value, lines: () => [value.detail], ...(value.complete ? {} : { fault }) });
    });
  cluster
    .command('forget <node>')
    .description('let the shared log continue without a node that is gone for good')
    .addHelpText('after', examples('cluster forget node-3'))
    .action(async (node: string) => {
      const value = await ask('cluster-forget', { node_id: node });
      done({ value, lines: () => [`nothing is waiting for node ${value.node_id}`] });
    });

  program
    .command('import-data')
    .description('create a cluster from the data folder of a node that served alone; the node must be stopped')
    .addHelpText('after', examples('import-data --data-dir /var/lib/ptf'))
    .action(async () => {
      const value = await moveData('import', resolve(dir()));
      const said = `the cluster ${value.cluster_id} begins after record ${value.last_seq}; start the node on this folder first`;
      done({ value, lines: () => [said] });
    });
  program
    .command('export-data')
    .description("turn the data folder of a cluster's node into one that a node serves alone; the node must be stopped")
    .addHelpText('after', examples('export-data --data-dir /var/lib/ptf'))
    .action(async () => {
      const value = await moveData('export', resolve(dir()));
      const said = `the folder ends with record ${value.last_seq} and belongs to no cluster; start its node with CLUSTER=none`;
      done({ value, lines: () => [said] });
    });
}

function showCluster(value: ClusterValue): Rendered {
  const { leader, last_takeover: takeover } = value;
  const rows: [string, string][] = [
    ['cluster', value.cluster_id],
    ['this node', `${value.node_id}, ${value.role}`],
    ['leader', leader === null ? 'none' : `${leader.node_id} since ${leader.since} (fence ${leader.fence})`],
    ['applied seq', String(value.applied_seq)],
    ['staleness', `${value.staleness_ms} ms`],
    ['lease', `${value.lease_ms} ms left`],
    ['floor seq', String(value.floor_seq)],
    ['takeovers', `${value.takeovers} by this node`],
    ['last takeover', takeover === null ? 'none by this node' : `${takeover.at}: ${takeover.cause}`],
  ];
  const nodes = value.nodes.map((node) => [
    node.node_id,
    node.role,
    node.applied_seq,
    node.lag,
    node.snapshot_seq,
    node.version,
    node.url,
    node.reason ?? '',
  ]);
  const members = value.members.map((member) => [
    member.endpoint,
    member.healthy ? (member.leads ? 'leads' : 'follows') : 'DOES NOT ANSWER',
    member.version,
    `${(member.db_bytes_in_use / 1e6).toFixed(1)} of ${(member.db_bytes / 1e6).toFixed(1)} MB`,
  ]);
  return {
    value,
    lines: (width) => [
      ...facts(rows, width),
      '',
      ...table(nodes, width, ['node', 'role', 'applied', 'lag', 'snapshot', 'version', 'url', 'reason']),
      '',
      ...table(members, width, ['etcd member', 'state', 'version', 'database in use']),
    ],
  };
}
