/**
 * Shows the nodes of a group that several nodes serve: the leader, the progress of each node, and the members of etcd.
 */
import type { ClusterValue } from '../../../../operations/cluster.js';
import { command, errorText } from '../api.js';
import { card, empty, facts, fill, h, table } from '../dom.js';
import { bytes, count, plural } from '../format.js';
import { badge, heading, mayRedraw, time, timeAgo, type View } from '../view.js';

const everyMs = 2_000;
/** How the page shows each role. */
const looks: Readonly<Record<string, string>> = { leader: 'trusted', follower: 'active', joining: 'neutral' };

export function clusterView(): View {
  const own = h('div', {}, h('p', { class: 'muted' }, 'Loading…'));
  const nodes = h('div', {});
  const members = h('div', {});

  async function load(): Promise<void> {
    try {
      const value = await command('cluster-status', {});
      if (!mayRedraw(nodes)) return;
      fill(own, ownOf(value));
      fill(nodes, nodesOf(value));
      fill(members, membersOf(value));
    } catch (error) {
      fill(own, h('p', { class: 'notice notice-bad', role: 'alert' }, errorText(error)));
    }
  }

  void load();
  const timer = setInterval(() => void load(), everyMs);
  return {
    title: 'Cluster',
    element: h('div', {}, heading('Cluster'), card('This node', own), card('Nodes', nodes), card('etcd', members)),
    destroy: () => clearInterval(timer),
  };
}

function ownOf(value: ClusterValue): HTMLElement {
  const { leader, last_takeover: takeover, scrubbed } = value;
  return facts([
    ['Node', h('span', {}, value.node_id, ' ', badge(value.role, looks[value.role] ?? 'untrusted'))],
    ['Leader', leader === null ? 'none' : h('span', {}, `${leader.node_id} since `, time(leader.since))],
    ['Applied record', count(value.applied_seq)],
    ['Last known up to date', `${count(value.staleness_ms)} ms ago`],
    ['Lease', `${count(value.lease_ms)} ms left`],
    ['Floor', `record ${count(value.floor_seq)}: a node that is behind it must rejoin`],
    [
      'Last takeover',
      takeover === null ? 'none' : [takeover.node_id, ', ', timeAgo(takeover.at), `: ${takeover.cause}`],
    ],
    ['Takeovers by this node', count(value.takeovers)],
    ['Last scrub of etcd', scrubbed === null ? 'none' : [timeAgo(scrubbed.at), `: ${scrubbed.detail}`]],
  ]);
}

function nodesOf({ nodes }: ClusterValue): HTMLElement {
  if (nodes.length === 0) return empty('No node is known', 'etcd does not answer.');
  return table(
    'Nodes of the group',
    [
      { title: 'Node' },
      { title: 'Role' },
      { title: 'Lag', number: true },
      { title: 'Applied', number: true },
      { title: 'Snapshot', number: true },
      { title: 'Release' },
      { title: 'Started' },
      { title: 'Reason' },
    ],
    nodes.map((node) => [
      node.node_id,
      badge(node.role, looks[node.role] ?? 'untrusted'),
      plural(node.lag, 'record'),
      count(node.applied_seq),
      count(node.snapshot_seq),
      node.version,
      timeAgo(node.started_at),
      node.reason ?? '',
    ]),
  );
}

function membersOf({ members }: ClusterValue): HTMLElement {
  return table(
    'Members of etcd',
    [{ title: 'Member' }, { title: 'State' }, { title: 'Release' }, { title: 'Database', number: true }],
    members.map((member) => [
      member.endpoint,
      member.healthy ? badge(member.leads ? 'leads' : 'follows', 'active') : badge('does not answer', 'untrusted'),
      member.version,
      `${bytes(member.db_bytes_in_use)} of ${bytes(member.db_bytes)}`,
    ]),
  );
}
