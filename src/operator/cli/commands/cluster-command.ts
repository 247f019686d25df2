/** Defines `ptf cluster`, `ptf import-data` and `ptf export-data`, for groups that several nodes serve. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { limits } from '../../../limits.js';
import type { ClusterValue } from '../../protocol/values.js';
import { countUpTo } from '../arguments.js';
import { awaitPurged } from '../byte-search.js';
import { type CommandContext, examples, showing } from '../command-context.js';
import { OperatorError } from '../node-client.js';
import type { Rendered } from '../renderers.js';
import { facts, table } from '../table.js';

interface ScrubOptions {
  readonly search?: string;
  readonly snapshotCount?: number;
  readonly maxWals?: number;
}

export function addCluster(program: Command, session: CommandContext): void {
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
    .description("remove erased data from etcd's write-ahead logs; nodes also do this every night")
    .option('--now', 'scrub now, which is also the default')
    .option(
      '--snapshot-count <number>',
      "the members' setting of this name, if it is not ETCD_SNAPSHOT_COUNT",
      countUpTo(limits.walSnapshotEntriesMax),
    )
    .option(
      '--max-wals <number>',
      "the members' setting of this name, if it is not ETCD_MAX_WALS",
      countUpTo(limits.walFilesMax),
    )
    .option('--search <dir>', "then prove it by a byte search of a member's data folder on this machine")
    .addHelpText('after', examples('cluster scrub --now', 'cluster scrub --now --search /var/lib/etcd'))
    .action(async ({ search, snapshotCount, maxWals }: ScrubOptions) => {
      const settings = {
        ...(snapshotCount === undefined ? {} : { snapshot_count: snapshotCount }),
        ...(maxWals === undefined ? {} : { max_wals: maxWals }),
      };
      const value = await showing(session, 'overwriting the logs of etcd', (progress) =>
        ask('cluster-scrub', settings, progress),
      );
      const lines = [value.detail];
      if (search !== undefined && value.marker !== null) lines.push(await searched(session, search, value.marker));
      const fault = { code: 'scrub_incomplete', error: value.detail };
      done({ value, lines: () => lines, ...(value.complete ? {} : { fault }) });
    });
  cluster
    .command('search <dir>')
    .description("prove that a member's data folder on this machine contains no bytes from before the last scrub")
    .addHelpText('after', examples('cluster search /var/lib/etcd'))
    .action(async (folder: string) => {
      const { scrubbed } = await ask('cluster-status', {});
      const marker = scrubbed?.marker ?? null;
      if (marker === null) throw new OperatorError('no_scrub', 'there was no scrub yet; run ptf cluster scrub --now');
      const text = await searched(session, folder, marker);
      done({ value: { folder: resolve(folder), scrubbed_at: scrubbed!.at }, lines: () => [text] });
    });
  cluster
    .command('forget <node>')
    .description('confirm that nothing waits for a node that is gone')
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

/** Searches a member's folder. Returns the line which states that nothing was found. */
async function searched(session: CommandContext, folder: string, marker: string): Promise<string> {
  const path = resolve(folder);
  await showing(session, `searching ${path}`, () => awaitPurged(path, marker));
  return `no file in ${path} holds bytes from before the last scrub`;
}

function showCluster(value: ClusterValue): Rendered {
  const { leader, last_takeover: takeover, scrubbed } = value;
  const rows: [string, string][] = [
    ['cluster', value.cluster_id],
    ['this node', `${value.node_id}, ${value.role}`],
    ['leader', leader === null ? 'none' : `${leader.node_id} since ${leader.since} (fence ${leader.fence})`],
    ['applied seq', String(value.applied_seq)],
    ['staleness', `${value.staleness_ms} ms`],
    ['lease', `${value.lease_ms} ms left`],
    ['floor seq', String(value.floor_seq)],
    ['takeovers', `${value.takeovers} by this node`],
    ['last takeover', takeover === null ? 'none' : `${takeover.at} by ${takeover.node_id}: ${takeover.cause}`],
    ['last scrub', scrubbed === null ? 'none' : `${scrubbed.at}: ${scrubbed.detail}`],
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
