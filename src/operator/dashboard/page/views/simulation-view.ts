/** Shows which verdicts would change without a peer or with another half-life. Changes nothing. */
import type { Values } from '../../../../operations/table.js';
import { Loaded, redraw, type View, type ViewContext } from '../draw.js';
import { count, plural } from '../format.js';
import {
  alert,
  badge,
  type Child,
  card,
  empty,
  field,
  form,
  heading,
  html,
  peerChoice,
  peerLink,
  playerLink,
  table,
  textOf,
} from '../html.js';
import { namesOf } from '../listed-peers.js';
import { command, errorText } from '../requests.js';

const rows = 50;

export function simulationView({ peers }: ViewContext): View {
  const all = new Loaded(() => peers.list());
  let result: Child = empty(
    'Nothing simulated yet',
    'A simulation reads, and changes nothing. In a large group it takes a while.',
  );
  let isBusy = false;

  async function simulate(fields: FormData): Promise<void> {
    const [without, days, banDays] = ['without', 'days', 'ban_days'].map((name) => textOf(fields, name));
    isBusy = true;
    redraw();
    try {
      const value = await command('simulate', {
        ...(without ? { without: [without] } : {}),
        ...(days ? { half_life_days: Number(days) } : {}),
        ...(banDays ? { ban_half_life_days: Number(banDays) } : {}),
        rows,
      });
      result = resultOf(value, namesOf(await peers.list()));
    } catch (error) {
      result = alert(errorText(error));
    }
    isBusy = false;
    redraw();
  }

  const daysInput = (name: string): Child => html`<input name=${name} type="number" min="0" max="3650" step="1" />`;
  return {
    title: 'Simulation',
    refresh: () => all.refresh(),
    draw: () => html`<div>
      ${heading('Simulation')}
      <p class="muted lead">Which verdicts would change? Give at least one assumption; leave the others empty.</p>
      <div class="grid">
        ${card(
          'Assume',
          all.draw((listed) => {
            const choice = peerChoice('without', listed, 'No peer is left out');
            return form(
              { action: 'Simulate', busy: isBusy, onSubmit: (fields) => void simulate(fields) },
              field('Without the peer', choice, 'As if it were revoked.'),
              field('Half-life in days', daysInput('days'), 'Of all evidence but bans; 0 means no decay.'),
              field('Half-life of bans in days', daysInput('ban_days')),
            );
          }),
        )}
        ${card('Result', html`<div aria-live="polite">${result}</div>`)}
      </div>
    </div>`,
  };
}

function resultOf(
  { players, changed_count, changed, peers }: Values['simulate'],
  names: ReadonlyMap<string, string>,
): Child {
  return [
    html`<p>${`${plural(changed_count, 'verdict')} of ${count(players)} would change.`}</p>`,
    changed.length > 0 &&
      table('Players whose verdict would change', changed, ({ subject_hash }) => subject_hash, [
        {
          title: 'Player',
          cell: ({ subject_hash }) => playerLink(subject_hash),
        },
        { title: 'Now', cell: ({ before }) => badge(before.verdict) },
        { title: 'Then', cell: ({ after }) => badge(after.verdict) },
      ]),
    changed_count > changed.length &&
      html`<p class="muted small">${`The first ${count(changed.length)} are listed.`}</p>`,
    peers.length > 0 &&
      table('Peers whose weight would change', peers, ({ peer_id }) => peer_id, [
        { title: 'Peer', cell: ({ peer_id }) => peerLink(peer_id, names) },
        { title: 'Weight now', number: true, cell: ({ weight_before }) => weight_before.toFixed(3) },
        { title: 'Then', number: true, cell: ({ weight_after }) => weight_after.toFixed(3) },
      ]),
  ];
}
