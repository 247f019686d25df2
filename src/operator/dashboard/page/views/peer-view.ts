/** Shows one peer: its data, its present and past weight, its discounts, and the actions of the operator. */
import type { ListedPeerValue } from '../../../../operations/peer-operations.js';
import type { WeightHistoryValue } from '../../wire.js';
import { Chart } from '../chart.js';
import { ask, showKey } from '../dialog.js';
import { Loaded, refreshesPerPlot, type View, type ViewContext } from '../draw.js';
import { count, plural } from '../format.js';
import {
  badge,
  button,
  type Child,
  type Column,
  card,
  empty,
  facts,
  field,
  focusHeading,
  heading,
  html,
  link,
  loading,
  peerLink,
  table,
  time,
} from '../html.js';
import { namesOf } from '../listed-peers.js';
import { groupFactsOf, remarksOf, statusLookOf, witnessHints } from '../remarks.js';
import { command, get } from '../requests.js';

const overlaps = [
  { text: 'at once', ms: 0 },
  { text: 'after 1 hour', ms: 3_600_000 },
  { text: 'after 24 hours', ms: 86_400_000 },
];
const changes = {
  active: ['Reinstate', 'It may submit events again from now on.', 'is active again'],
  suspended: ['Suspend', 'Its key is refused until it is reinstated. Its earlier events still count.', 'is suspended'],
  revoked: ['Revoke', 'This is final: its key never works again, and all its evidence loses its weight.', 'is revoked'],
} as const;

type Listed = readonly ListedPeerValue[];

export function peerView({ peers, argument: peerId }: ViewContext): View {
  const all = new Loaded(() => peers.list());
  const weights = new Loaded(async () => {
    const { at, weight, gate } = await get<WeightHistoryValue>(`peers/${encodeURIComponent(peerId)}/history`);
    return [at, weight, gate];
  });
  let refreshes = 0;

  async function refresh(): Promise<void> {
    await all.refresh();
    if (all.value?.some(({ peer_id }) => peer_id === peerId) && refreshes++ % refreshesPerPlot === 0)
      await weights.refresh();
  }

  async function change(peer: ListedPeerValue, status: keyof typeof changes): Promise<void> {
    const { peer_id, peer_name, event_count, signals } = peer;
    const [action, text, done] = changes[status];
    const players = signals === null ? '' : ` about ${plural(signals.players, 'player')}`;
    const evidence = `It sent ${plural(event_count, 'event')}${players}.`;
    await ask({
      title: `${action} ${peer_name}?`,
      body: html`<p>${text}</p><p class="muted">${evidence}</p>`,
      action,
      danger: status === 'revoked',
      run: () => command('peers-status', { peer_id, status }),
      notice: `${peer_name} ${done}.`,
      after: showChange,
    });
  }

  async function rotate({ peer_id, peer_name }: ListedPeerValue): Promise<void> {
    const choice = html`<select name="overlap">
      ${overlaps.map(({ text, ms }) => html`<option value=${ms}>${text}</option>`)}
    </select>`;
    await ask({
      title: `Rotate the key of ${peer_name}?`,
      body: [html`<p>The peer gets a new key, which is shown once.</p>`, field('The old key ends', choice)],
      action: 'Rotate key',
      run: (fields) => command('peers-rotate-key', { peer_id, overlap_ms: Number(fields.get('overlap')) }),
      notice: `The key of ${peer_name} is rotated.`,
      async after({ api_key }) {
        await showKey(`New key of ${peer_name}`, api_key);
        await showChange();
      },
    });
  }

  async function showChange(): Promise<void> {
    await peers.reload();
    await all.refresh({ force: true });
    focusHeading();
  }

  function actionsOf(peer: ListedPeerValue): Child[] {
    if (peer.status === 'revoked') return [];
    const other = peer.status === 'active' ? 'suspended' : 'active';
    return [
      button(`${changes[other][0]}…`, () => void change(peer, other)),
      button('Rotate key…', () => void rotate(peer)),
      button('Revoke…', () => void change(peer, 'revoked'), { class: 'button danger' }),
    ];
  }

  function pageOf(listed: Listed): Child {
    const peer = listed.find(({ peer_id }) => peer_id === peerId);
    if (peer === undefined)
      return [null, heading('Peer'), empty('No such peer', 'This group has no such peer.'), link('peers', 'All peers')];
    const chart = weights.draw((data) =>
      preact.h(Chart, {
        title: 'Weight and gate of the peer over the last day',
        format: (value) => value.toFixed(2),
        // A line at 0 or 1 would be cut in half at the edge of the plot.
        range: [-0.04, 1.04],
        labels: ['weight', 'gate'],
        data,
      }),
    );
    return [
      html`<p class="crumb">${link('peers', 'Peers')}</p>`,
      heading(peer.peer_name, ...actionsOf(peer)),
      html`<div class="grid">
        ${card('Peer', factsOf(peer, listed))}
        <div class="column">
          ${card('Weight over time', chart)}
          ${witnessCard(peer, listed)}
          ${signalsCard(peer, listed)}
        </div>
      </div>`,
    ];
  }

  return {
    title: 'Peer',
    heading: () => null,
    refresh,
    draw: () => all.draw(pageOf, [null, heading('Peer'), loading]),
  };
}

function factsOf(peer: ListedPeerValue, listed: Listed): Child {
  const { status, weight, tau, a, b, signals } = peer;
  const remarks = remarksOf(peer, groupFactsOf(listed)).map(
    ({ text, hint }) => html`<div>${badge(text, 'warn')}${hint !== null && `: ${hint}`}</div>`,
  );
  return facts([
    ['Status', badge(status, statusLookOf(peer))],
    ['Id', html`<code>${peer.peer_id}</code>`],
    ['Games', peer.game_ids.join(', ')],
    ['Contact', peer.contact_email ?? 'none given'],
    ['Registered', time(peer.registered_at)],
    ['Events', count(peer.event_count)],
    ['Last event', peer.last_event_at === null ? 'none' : html`in the hour from ${time(peer.last_event_at)}`],
    ['Weight', weight.toFixed(3)],
    ['Gate', tau.toFixed(3)],
    ['Log-odds', `${a.toFixed(2)} of a bad vote, ${b.toFixed(2)} of a good one`],
    ['Players reported', signals === null ? 'not computed yet' : count(signals.players)],
    ['Shared with others', signals === null ? 'not computed yet' : count(signals.shared_players)],
    ['Erasures of players that others reported', count(peer.shared_erasures)],
    ['Signs its writes', peer.public_key === null ? 'no' : html`<code>${peer.public_key}</code>`],
    ['Pre-trusted', peer.pre_trusted ? 'yes' : 'no'],
    ['Remarks', remarks.length === 0 ? undefined : remarks],
  ]);
}

const notComputed = empty('Not computed yet', 'The next computation of weights will show them.');

/** A card about other peers; `none` stands in place of an empty list. */
function othersCard<R extends { readonly peer_id: string }>(
  title: string,
  rows: readonly R[] | undefined,
  listed: Listed,
  { none, note, caption, columns }: { none: Child; note: string; caption: string; columns: readonly Column<R>[] },
): Child {
  if (rows === undefined || rows.length === 0) return card(title, rows === undefined ? notComputed : none);
  const names = namesOf(listed);
  const other: Column<R> = { title: 'Other peer', cell: ({ peer_id }) => peerLink(peer_id, names) };
  return card(
    title,
    html`<p class="muted small">${note}</p>`,
    table(caption, rows, ({ peer_id }) => peer_id, [other, ...columns]),
  );
}

function witnessCard({ signals }: ListedPeerValue, listed: Listed): Child {
  return othersCard('One witness with', signals?.one_witness_with, listed, {
    none: empty('Nobody', 'This peer is a witness of its own.'),
    note: 'Among peers that are one witness, only the heaviest vote about a player counts. If they are independent, declare it: ptf peers independent.',
    caption: 'Peers that are one witness with this one',
    columns: [{ title: 'Why', cell: ({ reason }) => witnessHints[reason] }],
  });
}

function signalsCard({ signals }: ListedPeerValue, listed: Listed): Child {
  return othersCard('Pairs discounted by the gate', signals?.discounted_with, listed, {
    none: empty('None', 'This peer agrees with no other peer that the group does not trust.'),
    note: 'They agree with each other although the group fully trusts neither: their common votes count less.',
    caption: 'Peers whose agreement with this one is discounted',
    columns: [
      { title: 'Shared players', number: true, cell: ({ shared_players }) => count(shared_players) },
      { title: 'Agreement', number: true, cell: ({ agreement }) => agreement.toFixed(2) },
    ],
  });
}
