/** Shows the nodes of a group that several nodes serve, and the members of etcd. */
import type { ClusterValue } from '../../../../operations/cluster-operations.js';
import { Loaded, type View } from '../draw.js';
import { bytes, count, plural } from '../format.js';
import { badge, type Child, card, empty, facts, html, table, time, timeAgo } from '../html.js';
import { command } from '../requests.js';

const looks: Readonly<Record<string, string>> = { leader: 'trusted', follower: 'active', joining: 'neutral' };
export function clusterView(): View {
  const status = new Loaded(() => command('cluster-status', {}));
  return {
    title: 'Cluster',
    refresh: () => status.refresh(),
    draw: () =>
      status.draw((value) => [
        card('This node', ownOf(value)),
        card('Nodes', nodesOf(value)),
        card('etcd', membersOf(value)),
      ]),
  };
}

function roleBadge(role: string): Child {
  return badge(role, looks[role] ?? 'untrusted');
}

function ownOf(value: ClusterValue): Child {
  const { leader, last_takeover: takeover, scrubbed, refused } = value;
  const noScrub = scrubbed === null ? 'none' : 'unknown, since etcd does not answer';
  return facts([
    ['Node', html`<span>${value.node_id} ${roleBadge(value.role)}</span>`],
    ['Leader', leader === null ? 'none' : html`<span>${leader.node_id} since ${time(leader.since)}</span>`],
    ['Applied record', count(value.applied_seq)],
    ['Last known up to date', value.staleness_ms === null ? 'unknown' : `${count(value.staleness_ms)} ms ago`],
    ['Lease', `${count(value.lease_ms)} ms left`],
    ['Floor', `record ${count(value.floor_seq)}: a node that is behind it must rejoin`],
    [
      'Last takeover',
      takeover === null ? 'none' : [takeover.node_id, ', ', timeAgo(takeover.at), `: ${takeover.cause}`],
    ],
    ['Takeovers by this node', count(value.takeovers)],
    ['Last scrub of etcd', scrubbed ? [timeAgo(scrubbed.at), `: ${scrubbed.detail}`] : noScrub],
    ...refused.map(({ node_id, url, reason }): [string, Child] => ['Refused', `${node_id} at ${url}: ${reason}`]),
  ]);
}

function nodesOf({ nodes }: ClusterValue): Child {
  const nodesTable = table('Nodes of the group', nodes, ({ node_id }) => node_id, [
    { title: 'Node', cell: ({ node_id }) => node_id },
    { title: 'Role', cell: ({ role }) => roleBadge(role) },
    { title: 'Lag', number: true, cell: ({ lag }) => plural(lag, 'record') },
    { title: 'Applied', number: true, cell: ({ applied_seq }) => count(applied_seq) },
    { title: 'Snapshot', number: true, cell: ({ snapshot_seq }) => count(snapshot_seq) },
    { title: 'Release', cell: ({ version }) => version },
    { title: 'Started', cell: ({ started_at }) => timeAgo(started_at) },
    { title: 'Reason', cell: ({ reason }) => reason },
  ]);
  return nodesTable ?? empty('No node is known', 'etcd does not answer.');
}

function membersOf({ members }: ClusterValue): Child {
  const size = ({ healthy, db_bytes_in_use, db_bytes }: ClusterValue['members'][number]): string =>
    healthy ? `${bytes(db_bytes_in_use)} of ${bytes(db_bytes)}` : '';
  return table('Members of etcd', members, ({ endpoint }) => endpoint, [
    { title: 'Member', cell: ({ endpoint }) => endpoint },
    {
      title: 'State',
      cell: ({ healthy, leads, alarms }) => {
        if (alarms.length > 0) return badge(`alarm ${alarms.join(', ')}`, 'untrusted');
        return healthy ? badge(leads ? 'leads' : 'follows', 'active') : badge('does not answer', 'untrusted');
      },
    },
    { title: 'Release', cell: ({ version }) => version },
    { title: 'Database', number: true, cell: size },
  ]);
}
