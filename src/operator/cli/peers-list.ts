/** Defines `ptf peers list`, with the dashboard's remarks about each peer. */
import type { PtfCommand } from '../../operations/operation.js';
import type { ListedPeerValue } from '../../operations/peer-operations.js';
import type { Requests, Values } from '../../operations/table.js';
import { table } from '../../operations/text-table.js';
import { type GroupFacts, groupFactsOf, remarksOf } from '../dashboard/page/remarks.js';

export const peersList: PtfCommand<Requests['peers-list'], Values['peers-list']> = {
  group: 'peers',
  command: 'list',
  text: 'list all peers, oldest first',
  examples: ['peers list', 'peers list --json'],
  show({ data }, width) {
    if (data.length === 0) return ['no peers'];
    const heads = ['peer', 'status', 'events', 'weight', 'pre-trusted', 'registered', 'name', 'games', 'remark'];
    const group = groupFactsOf(data);
    const rows = data.map((peer) => [
      peer.peer_id,
      peer.status,
      peer.event_count,
      peer.weight.toFixed(3),
      peer.pre_trusted ? 'yes' : 'no',
      peer.registered_at,
      peer.peer_name,
      peer.game_ids.join(','),
      remarkOf(peer, group),
    ]);
    return table(rows, width, heads, ['peer', 'status', 'remark']);
  },
};

/** Describes in a few words what an operator should check about a peer. */
function remarkOf(peer: ListedPeerValue, group: GroupFacts): string {
  return remarksOf(peer, group)
    .map(({ text, hint }) => (hint === null ? text : `${text} (${hint})`))
    .join('; ');
}
