/** Shows all peers in one table, with search and sorting. */
import type { ListedPeerValue } from '../../../../operations/peers.js';
import { errorText } from '../api.js';
import { button, empty, fill, h } from '../dom.js';
import { compact, count, plural } from '../format.js';
import { type GroupFacts, groupFactsOf, remarksOf, statusLookOf } from '../remarks.js';
import { badge, bar, heading, link, mayRedraw, type View, type ViewContext } from '../view.js';

const rowsAtFirst = 100;

interface Sorting {
  readonly title: string;
  readonly number?: boolean;
  readonly key: (peer: ListedPeerValue) => number | string;
}

const columns: readonly Sorting[] = [
  { title: 'Name', key: ({ peer_name }) => peer_name.toLowerCase() },
  { title: 'Status', key: ({ status }) => status },
  { title: 'Weight', number: true, key: ({ weight }) => weight },
  { title: 'Events', number: true, key: ({ event_count }) => event_count },
  { title: 'Players', number: true, key: ({ signals }) => signals?.players ?? 0 },
  { title: 'Shared', number: true, key: ({ signals }) => signals?.shared_players ?? 0 },
];

export function peersView({ live, peers }: ViewContext): View {
  const search = h('input', { type: 'search', placeholder: 'Name, id or game', 'aria-label': 'Find a peer' });
  const status = h(
    'select',
    { 'aria-label': 'Status' },
    h('option', { value: '' }, 'Any status'),
    ['active', 'suspended', 'revoked'].map((word) => h('option', { value: word }, word)),
  );
  // On a narrow screen the table has no head that could be pressed.
  const order = h(
    'select',
    { 'aria-label': 'Sort by', class: 'narrow-only' },
    h('option', { value: '' }, 'In order of registration'),
    columns.map(({ title }, i) => h('option', { value: String(i) }, `By ${title.toLowerCase()}`)),
  );
  const list = h('div', { class: 'card' }, h('p', { class: 'muted' }, 'Loading…'));
  const said = h('p', { class: 'muted small', role: 'status' });
  let all: readonly ListedPeerValue[] = [];
  /** Index of the sort column; null means the order of registration. */
  let sortBy: number | null = null;
  let down = false;
  let rowsVisible = rowsAtFirst;

  function show(): void {
    const text = search.value.trim().toLowerCase();
    const found = all.filter(
      (peer) => (status.value === '' || peer.status === status.value) && (text === '' || matches(peer, text)),
    );
    const key = sortBy === null ? undefined : columns[sortBy]?.key;
    const sorted = key === undefined ? found : found.toSorted((a, b) => compare(key(a), key(b)) * (down ? -1 : 1));
    fill(
      said,
      all.length === 0
        ? null
        : `${plural(found.length, 'peer')}${found.length < all.length ? ` of ${count(all.length)}` : ''}`,
    );
    if (all.length === 0) {
      fill(list, empty('No peers yet', 'Register the first one, and give its key to the game server.'));
    } else if (found.length === 0) {
      fill(list, empty('No peer matches', 'Try another name or status.'));
    } else {
      const more =
        sorted.length > rowsVisible &&
        button(`Show ${count(Math.min(rowsAtFirst, sorted.length - rowsVisible))} more`, () => {
          rowsVisible += rowsAtFirst;
          show();
        });
      fill(list, h('div', { class: 'scroll' }, tableOf(sorted.slice(0, rowsVisible))), more);
    }
  }

  function tableOf(rows: readonly ListedPeerValue[]): HTMLTableElement {
    const group = groupFactsOf(all);
    const heads = columns.map(({ title, number }, i) => {
      const sorted = sortBy === i ? (down ? 'descending' : 'ascending') : undefined;
      const sorter = button(title, () => sort(i), { class: 'button sorter' });
      return h('th', { scope: 'col', class: number ? 'number' : undefined, 'aria-sort': sorted }, sorter);
    });
    return h(
      'table',
      { class: 'table' },
      h('caption', { class: 'hidden' }, 'Peers of the group'),
      h('thead', {}, h('tr', {}, heads, h('th', { scope: 'col' }, 'Remarks'))),
      h(
        'tbody',
        {},
        rows.map((peer) => rowOf(peer, group)),
      ),
    );
  }

  function sort(column: number): void {
    down = sortBy === column ? !down : columns[column]?.number === true;
    sortBy = column;
    order.value = String(column);
    show();
    list.querySelectorAll<HTMLButtonElement>('.sorter')[column]?.focus();
  }

  async function load(): Promise<void> {
    try {
      const listed = await peers.list();
      // A control that the operator is about to press must not move.
      if (listed === all || !mayRedraw(list)) return;
      all = listed;
      show();
    } catch (error) {
      fill(list, h('p', { class: 'notice notice-bad', role: 'alert' }, errorText(error)));
    }
  }

  search.addEventListener('input', show);
  status.addEventListener('change', show);
  order.addEventListener('change', () => {
    sortBy = order.value === '' ? null : Number(order.value);
    down = sortBy !== null && columns[sortBy]?.number === true;
    show();
  });
  const leave = live.subscribe(() => void load());
  void load();

  const element = h(
    'div',
    {},
    heading('Peers', link('register', 'Register a peer', 'button primary')),
    h('div', { class: 'toolbar', role: 'search' }, search, status, order, said),
    list,
  );
  return { title: 'Peers', element, destroy: leave };
}

function matches({ peer_name, peer_id, game_ids }: ListedPeerValue, text: string): boolean {
  return [peer_name, peer_id, ...game_ids].some((word) => word.toLowerCase().includes(text));
}

function compare(a: number | string, b: number | string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function rowOf(peer: ListedPeerValue, group: GroupFacts): HTMLTableRowElement {
  const { peer_id, peer_name, game_ids, status, weight, event_count, signals, pre_trusted } = peer;
  const cell = (
    title: string,
    number: boolean,
    ...content: readonly (Node | string | false | Node[])[]
  ): HTMLTableCellElement => h('td', { 'data-title': title, class: number ? 'number' : undefined }, content);
  const remarks = [
    pre_trusted && h('span', { class: 'badge pre-trusted' }, 'pre-trusted'),
    ...remarksOf(peer, group).map(({ text }) => badge(text, 'warn')),
  ].filter((remark) => remark !== false);
  return h(
    'tr',
    {},
    h(
      'th',
      { scope: 'row', 'data-title': 'Name' },
      link(`peers/${encodeURIComponent(peer_id)}`, peer_name, 'name'),
      h('small', { class: 'muted cut' }, game_ids.join(', ')),
    ),
    cell('Status', false, badge(status, statusLookOf(peer))),
    cell('Weight', true, h('span', { class: 'weighted' }, bar(weight), weight.toFixed(3))),
    cell('Events', true, compact(event_count)),
    cell('Players', true, signals === null ? '–' : compact(signals.players)),
    cell('Shared', true, signals === null ? '–' : compact(signals.shared_players)),
    cell(
      'Remarks',
      false,
      remarks.length === 0 ? h('span', { class: 'muted' }, '–') : h('span', { class: 'badges' }, remarks),
    ),
  );
}
