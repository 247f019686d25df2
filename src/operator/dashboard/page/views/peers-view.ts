/** Shows all peers in one table, with search and sorting. */
import type { ListedPeerValue } from '../../../../operations/peer-operations.js';
import { Loaded, redraw, type View, type ViewContext } from '../draw.js';
import { compact, count, plural } from '../format.js';
import { badge, bar, button, type Child, type Column, empty, heading, html, link, table } from '../html.js';
import { type GroupFacts, groupFactsOf, remarksOf, statusLookOf } from '../remarks.js';

const rowsAtFirst = 100;

interface Sorting extends Partial<Column<ListedPeerValue>> {
  readonly title: string;
  /** Null before the first computation. The cell shows it as a number if there is no other. */
  readonly key: (peer: ListedPeerValue) => number | string | null;
}

const weightCell = ({ weight }: ListedPeerValue): Child =>
  html`<span class="weighted">${bar(weight)}${weight.toFixed(3)}</span>`;

const columns: readonly Sorting[] = [
  { title: 'Name', names: true, key: ({ peer_name }) => peer_name.toLowerCase(), cell: nameOf },
  { title: 'Status', key: ({ status }) => status, cell: (peer) => badge(peer.status, statusLookOf(peer)) },
  { title: 'Weight', number: true, key: ({ weight }) => weight, cell: weightCell },
  { title: 'Events', number: true, key: ({ event_count }) => event_count },
  { title: 'Players', number: true, key: ({ signals }) => signals?.players ?? null },
  { title: 'Shared', number: true, key: ({ signals }) => signals?.shared_players ?? null },
];

type Listed = readonly ListedPeerValue[];

export function peersView({ peers }: ViewContext): View {
  const all = new Loaded(() => peers.list());
  let text = '';
  let status = '';
  /** Index of the sort column; null means the order of registration. */
  let sortBy: number | null = null;
  let down = false;
  let rowsVisible = rowsAtFirst;

  function sort(column: number | null, isDown: boolean): void {
    sortBy = column;
    down = isDown;
    redraw();
  }

  const isNumber = (column: number): boolean => columns[column]?.number === true;

  function found(listed: Listed): Listed {
    const matching = listed.filter(
      (peer) => (status === '' || peer.status === status) && (text === '' || matches(peer, text)),
    );
    const key = sortBy === null ? undefined : columns[sortBy]?.key;
    if (key === undefined) return matching;
    const compare = (a: number | string, b: number | string) => (a < b ? -1 : Number(a > b)) * (down ? -1 : 1);
    return matching.toSorted((a, b) => compare(key(a) ?? 0, key(b) ?? 0));
  }

  function listOf(listed: Listed): Child {
    if (listed.length === 0)
      return empty('No peers yet', 'Register the first one, and give its key to the game server.');
    const rows = found(listed);
    if (rows.length === 0) return empty('No peer matches', 'Try another name or status.');
    const group = groupFactsOf(listed);
    const sortable = columns.map(({ key, ...column }, i) => ({
      cell: (peer: ListedPeerValue) => figure(key(peer)),
      ...column,
      sort: () => sort(i, sortBy === i ? !down : isNumber(i)),
      sorted: sortBy === i ? (down ? ('descending' as const) : ('ascending' as const)) : undefined,
    }));
    const remarks = { title: 'Remarks', cell: (peer: ListedPeerValue) => remarksCell(peer, group) };
    const visible = rows.slice(0, rowsVisible);
    const more = (): void => {
      rowsVisible += rowsAtFirst;
      redraw();
    };
    return [
      html`<div class="scroll">
        ${table('Peers of the group', visible, ({ peer_id }) => peer_id, [...sortable, remarks])}
      </div>`,
      rows.length > rowsVisible && button(`Show ${count(Math.min(rowsAtFirst, rows.length - rowsVisible))} more`, more),
    ];
  }

  function saidOf(listed: Listed): Child {
    const matching = found(listed).length;
    const total = matching < listed.length ? ` of ${count(listed.length)}` : '';
    return listed.length > 0 && `${plural(matching, 'peer')}${total}`;
  }

  const search = (event: InputEvent): void => {
    text = fieldValue(event).trim().toLowerCase();
    redraw();
  };
  const filter = (event: Event): void => {
    status = fieldValue(event);
    redraw();
  };
  const order = (event: Event): void => {
    const column = fieldValue(event) === '' ? null : Number(fieldValue(event));
    sort(column, column !== null && isNumber(column));
  };

  return {
    title: 'Peers',
    refresh: () => all.refresh(),
    heading: () => heading('Peers', link('register', 'Register a peer', { class: 'button primary' })),
    // On a narrow screen the table has no head that could be pressed, so that there is a field to sort by.
    draw: () => html`
      <div class="toolbar" role="search">
        <input type="search" placeholder="Name, id or game" aria-label="Find a peer" onInput=${search} />
        <select aria-label="Status" onChange=${filter}>
          <option value="">Any status</option>
          ${['active', 'suspended', 'revoked'].map((word) => html`<option value=${word}>${word}</option>`)}
        </select>
        <select aria-label="Sort by" class="narrow-only" value=${sortBy ?? ''} onChange=${order}>
          <option value="">In order of registration</option>
          ${columns.map(({ title }, i) => html`<option value=${i}>${`By ${title.toLowerCase()}`}</option>`)}
        </select>
        <p class="muted small" role="status">${all.value !== undefined && saidOf(all.value)}</p>
      </div>
      <div class="card">${all.draw(listOf)}</div>`,
  };
}

function fieldValue({ currentTarget }: Event): string {
  return (currentTarget as HTMLInputElement | HTMLSelectElement).value;
}

function matches({ peer_name, peer_id, game_ids }: ListedPeerValue, text: string): boolean {
  return [peer_name, peer_id, ...game_ids].some((word) => word.toLowerCase().includes(text));
}

function figure(value: number | string | null): Child {
  return typeof value === 'number' ? compact(value) : (value ?? '–');
}

function nameOf({ peer_id, peer_name, game_ids }: ListedPeerValue): Child {
  return [
    link(`peers/${encodeURIComponent(peer_id)}`, peer_name, { class: 'name' }),
    html`<small class="muted cut">${game_ids.join(', ')}</small>`,
  ];
}

function remarksCell(peer: ListedPeerValue, group: GroupFacts): Child {
  const badges = remarksOf(peer, group).map(({ text }) => badge(text, 'warn'));
  if (peer.pre_trusted) badges.unshift(badge('pre-trusted'));
  return badges.length === 0 ? html`<span class="muted">–</span>` : html`<span class="badges">${badges}</span>`;
}
