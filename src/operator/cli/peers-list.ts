/** Defines `ptf peers list`, with the dashboard's remarks about each peer. */
import { peerStatuses } from '../../core/vocabulary.js';
import { parseShare } from '../../operations/arguments.js';
import { type PtfCommand, parsed } from '../../operations/operation.js';
import type { ListedPeerValue } from '../../operations/peer-operations.js';
import type { Requests, Values } from '../../operations/table.js';
import { table } from '../../operations/text-table.js';
import { type GroupFacts, groupFactsOf, remarksOf } from '../dashboard/page/remarks.js';

export const peersList: PtfCommand<Requests['peers-list'], Values['peers-list']> = {
  group: 'peers',
  command: 'list',
  isDefault: true,
  text: 'list all peers, oldest first',
  given: {
    status: parsed('--status <status>', 'only peers with one status', { choices: peerStatuses }),
    weight_below: parsed('--weight-below <weight>', 'only peers with a smaller weight, such as 0.1', {
      parse: parseShare,
    }),
  },
  sorts: {
    name: ({ peer_name }) => peer_name,
    weight: ({ weight }) => weight,
    events: ({ event_count }) => event_count,
    last: ({ last_event_at }) => (last_event_at === null ? 0 : Date.parse(last_event_at)),
  },
  examples: ['peers list', 'peers list --status active --weight-below 0.1 --sort events', 'peers list --wide'],
  show({ data }, width) {
    if (data.length === 0) return ['no peers'];
    const isWide = width === Number.POSITIVE_INFINITY;
    const heads = ['peer', 'name', 'status', 'events', 'weight', 'last event'];
    const further = ['pre-trusted', 'registered', 'contact', 'games'];
    const group = groupFactsOf(data);
    const rows = data.map((peer) => [
      peer.peer_id,
      peer.peer_name,
      peer.status,
      peer.event_count,
      peer.weight.toFixed(3),
      peer.last_event_at?.slice(0, 10) ?? '',
      ...(isWide
        ? [peer.pre_trusted ? 'yes' : 'no', peer.registered_at, peer.contact_email ?? '', peer.game_ids.join(',')]
        : []),
      remarkOf(peer, group),
    ]);
    return table(rows, width, [...heads, ...(isWide ? further : []), 'remark'], ['status', 'weight']);
  },
};

function remarkOf(peer: ListedPeerValue, group: GroupFacts): string {
  return remarksOf(peer, group)
    .map(({ text, hint }) => (hint === null ? text : `${text} (${hint})`))
    .join('; ');
}
