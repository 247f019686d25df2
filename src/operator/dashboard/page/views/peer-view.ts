/** Shows one peer: its data, its present and past weight, its discounts, and the actions of the operator. */
import type { ListedPeerValue } from '../../../../operations/peers.js';
import type { WeightHistoryValue } from '../../wire.js';
import { command, errorText, get } from '../api.js';
import { lineChart } from '../chart.js';
import { ask, showKey } from '../dialog.js';
import { button, card, empty, facts, field, fill, h, table } from '../dom.js';
import { count } from '../format.js';
import { notify } from '../notice.js';
import { groupFactsOf, type Remark, remarksOf, statusLookOf, witnessHints } from '../remarks.js';
import { badge, heading, link, mayRedraw, time, type View, type ViewContext } from '../view.js';

const overlaps = [
  { text: 'at once', ms: 0 },
  { text: 'after 1 hour', ms: 3_600_000 },
  { text: 'after 24 hours', ms: 86_400_000 },
];
/** Number of beats between two reads of the plot, because a weight changes slowly. */
const plotBeats = 5;

export function peerView({ live, peers, argument: peerId }: ViewContext): View {
  const content = h('div', {}, heading('Peer'), h('p', { class: 'muted' }, 'Loading…'));
  const chart = lineChart({
    title: 'Weight and gate of the peer over the last day',
    format: (value) => value.toFixed(2),
    // A line at 0 or 1 would be cut in half at the edge of the plot.
    range: [-0.04, 1.04],
    lines: [
      { label: 'weight', color: '--series-a' },
      { label: 'gate', color: '--series-b' },
    ],
  });
  const plotCard = card('Weight over time', chart.element);
  const headArea = h('div', {});
  const body = h('div', { class: 'grid' });
  let current: ListedPeerValue | undefined;
  let beats = 0;

  async function load(): Promise<void> {
    try {
      const all = await peers.list();
      const peer = all.find(({ peer_id }) => peer_id === peerId);
      if (peer === undefined) {
        fill(
          content,
          heading('Peer'),
          empty('No such peer', 'This group has no such peer.'),
          link('peers', 'All peers'),
        );
        return;
      }
      if (peer !== current && mayRedraw(content)) show(peer, all);
      if (beats++ % plotBeats === 0) await plot();
    } catch (error) {
      notify(errorText(error), 'bad');
    }
  }

  async function plot(): Promise<void> {
    const { at, weight, gate } = await get<WeightHistoryValue>(`peers/${encodeURIComponent(peerId)}/history`);
    chart.show([at, weight, gate]);
  }

  function show(peer: ListedPeerValue, all: readonly ListedPeerValue[]): void {
    const isFirst = current === undefined;
    current = peer;
    const hadFocus = content.contains(document.activeElement);
    fill(headArea, heading(peer.peer_name, ...actionsOf(peer)));
    fill(
      body,
      card('Peer', factsOf(peer, all)),
      h('div', { class: 'column' }, plotCard, witnessCard(peer, all), signalsCard(peer, all)),
    );
    if (isFirst) fill(content, h('p', { class: 'crumb' }, link('peers', 'Peers')), headArea, body);
    if (hadFocus) headArea.querySelector('h1')?.focus();
  }

  function actionsOf(peer: ListedPeerValue): HTMLElement[] {
    if (peer.status === 'revoked') return [];
    const status =
      peer.status === 'active'
        ? button('Suspend…', () => change(peer, 'suspended'))
        : button('Reinstate…', () => change(peer, 'active'));
    return [
      status,
      button('Rotate key…', () => rotate(peer)),
      button('Revoke…', () => change(peer, 'revoked'), { class: 'button danger' }),
    ];
  }

  async function change(peer: ListedPeerValue, status: 'active' | 'suspended' | 'revoked'): Promise<void> {
    const words = {
      active: ['Reinstate', 'It may submit events again from now on.', 'is active again'],
      suspended: [
        'Suspend',
        'Its key is refused until it is reinstated. Its earlier events still count.',
        'is suspended',
      ],
      revoked: [
        'Revoke',
        'This is final: its key never works again, and all its evidence loses its weight.',
        'is revoked',
      ],
    } as const;
    const [action, text, done] = words[status];
    const title = `${action} ${peer.peer_name}?`;
    const isDone = await ask({
      title,
      body: [h('p', {}, text)],
      action,
      danger: status === 'revoked',
      run: async () => {
        await command('peers-status', { peer_id: peer.peer_id, status });
      },
    });
    if (isDone) await refresh(`${peer.peer_name} ${done}.`);
  }

  async function rotate(peer: ListedPeerValue): Promise<void> {
    const when = h(
      'select',
      {},
      overlaps.map(({ text, ms }) => h('option', { value: ms }, text)),
    );
    let apiKey = '';
    const isDone = await ask({
      title: `Rotate the key of ${peer.peer_name}?`,
      body: [h('p', {}, 'The peer gets a new key, which is shown once.'), field('The old key ends', when)],
      action: 'Rotate key',
      run: async () => {
        apiKey = (await command('peers-rotate-key', { peer_id: peer.peer_id, overlap_ms: Number(when.value) })).api_key;
      },
    });
    if (!isDone) return;
    await showKey(`New key of ${peer.peer_name}`, apiKey);
    apiKey = '';
    await refresh(`The key of ${peer.peer_name} is rotated.`);
  }

  /** Shows the new state at once after a change, with the focus on the same control if it still exists. */
  async function refresh(text: string): Promise<void> {
    notify(text);
    await peers.reload();
    const all = await peers.list();
    const peer = all.find(({ peer_id }) => peer_id === peerId);
    if (peer === undefined) return;
    show(peer, all);
    headArea.querySelector<HTMLElement>('button, h1')?.focus();
  }

  const leave = live.subscribe(() => void load());
  void load();
  return {
    title: 'Peer',
    element: content,
    destroy() {
      leave();
      chart.destroy();
    },
  };
}

function factsOf(peer: ListedPeerValue, all: readonly ListedPeerValue[]): HTMLElement {
  const { peer_id, game_ids, status, registered_at, event_count, pre_trusted, weight, tau, a, b, signals } = peer;
  const remarks = remarksOf(peer, groupFactsOf(all));
  return facts([
    ['Status', badge(status, statusLookOf(peer))],
    ['Id', h('code', {}, peer_id)],
    ['Games', game_ids.join(', ')],
    ['Registered', time(registered_at)],
    ['Events', count(event_count)],
    ['Weight', weight.toFixed(3)],
    ['Gate', tau.toFixed(3)],
    ['Log-odds', `${a.toFixed(2)} of a bad vote, ${b.toFixed(2)} of a good one`],
    ['Players reported', signals === null ? 'not computed yet' : count(signals.players)],
    ['Shared with others', signals === null ? 'not computed yet' : count(signals.shared_players)],
    ['Erasures of players that others reported', count(peer.shared_erasures)],
    ['Signs its writes', peer.public_key === null ? 'no' : h('code', {}, peer.public_key)],
    ['Pre-trusted', pre_trusted ? 'yes' : 'no'],
    ...(remarks.length === 0 ? [] : [['Remarks', remarks.map(remarkLine)] as const]),
  ]);
}

function remarkLine({ text, hint }: Remark): HTMLElement {
  return h('div', {}, badge(text, 'warn'), hint !== null && `: ${hint}`);
}

function witnessCard({ signals }: ListedPeerValue, all: readonly ListedPeerValue[]): HTMLElement {
  const title = 'One witness with';
  if (signals === null)
    return card(title, empty('Not computed yet', 'The next computation of weights will show them.'));
  if (signals.one_witness_with.length === 0) {
    return card(title, empty('Nobody', 'This peer is a witness of its own.'));
  }
  const names = new Map(all.map(({ peer_id, peer_name }) => [peer_id, peer_name]));
  const rows = signals.one_witness_with.map(({ peer_id, reason }) => [
    link(`peers/${encodeURIComponent(peer_id)}`, names.get(peer_id) ?? peer_id),
    witnessHints[reason],
  ]);
  return card(
    title,
    h(
      'p',
      { class: 'muted small' },
      'Among peers that are one witness, only the heaviest vote about a player counts. If they are independent, declare it: ptf peers independent.',
    ),
    table('Peers that are one witness with this one', [{ title: 'Other peer' }, { title: 'Why' }], rows),
  );
}

function signalsCard({ signals }: ListedPeerValue, all: readonly ListedPeerValue[]): HTMLElement {
  const title = 'Pairs discounted by the gate';
  if (signals === null)
    return card(title, empty('Not computed yet', 'The next computation of weights will show them.'));
  if (signals.discounted_with.length === 0) {
    return card(title, empty('None', 'This peer agrees with no other peer that the group does not trust.'));
  }
  const names = new Map(all.map(({ peer_id, peer_name }) => [peer_id, peer_name]));
  const rows = signals.discounted_with.map(({ peer_id, shared_players, agreement }) => [
    link(`peers/${encodeURIComponent(peer_id)}`, names.get(peer_id) ?? peer_id),
    count(shared_players),
    agreement.toFixed(2),
  ]);
  const columns = [
    { title: 'Other peer' },
    { title: 'Shared players', number: true },
    { title: 'Agreement', number: true },
  ];
  return card(
    title,
    h(
      'p',
      { class: 'muted small' },
      'They agree with each other although the group fully trusts neither: their common votes count less.',
    ),
    table('Peers whose agreement with this one is discounted', columns, rows),
  );
}
