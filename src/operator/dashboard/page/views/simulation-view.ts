/** Shows which verdicts would change without a peer or with another half-life. Changes nothing. */
import type { Values } from '../../../../operations/table.js';
import { Loaded, Task, type View, type ViewContext } from '../draw.js';
import { count, plural } from '../format.js';
import { badge, card, empty, field, form, html, peerChoice, peerLink, playerColumn, table, textOf } from '../html.js';
import { namesOf } from '../listed-peers.js';
import { command } from '../requests.js';

const rows = 50;

export function simulationView({ peers }: ViewContext): View {
  const all = new Loaded(() => peers.list());
  const simulation = new Task(
    empty('Nothing simulated yet', 'A simulation reads, and changes nothing. In a large group it takes a while.'),
  );

  async function simulate(fields: FormData) {
    const [without, days, banDays] = ['without', 'days', 'ban_days'].map((name) => textOf(fields, name));
    const value = await command('simulate', {
      ...(without ? { without: [without] } : {}),
      ...(days ? { half_life_days: Number(days) } : {}),
      ...(banDays ? { ban_half_life_days: Number(banDays) } : {}),
      rows,
    });
    return resultOf(value, namesOf(await peers.list()));
  }

  const onSubmit = (fields: FormData): void => void simulation.run(() => simulate(fields));
  const daysInput = (name: string) => html`<input name=${name} type="number" min="0" max="3650" step="1" />`;
  return {
    title: 'Simulation',
    lead: 'Which verdicts would change? Give at least one assumption; leave the others empty.',
    refresh: () => all.refresh(),
    draw: () => html`<div class="grid">
        ${card(
          'Assume',
          all.draw((listed) => {
            const choice = peerChoice('without', listed, 'No peer is left out');
            return form(
              { action: 'Simulate', busy: simulation.isBusy, onSubmit },
              field('Without the peer', choice, 'As if it were revoked.'),
              field('Half-life in days', daysInput('days'), 'Of all evidence but bans; 0 means no decay.'),
              field('Half-life of bans in days', daysInput('ban_days')),
            );
          }),
        )}
        ${card('Result', html`<div aria-live="polite">${simulation.result}</div>`)}
      </div>`,
  };
}

function resultOf({ players, changed_count, changed, peers }: Values['simulate'], names: ReadonlyMap<string, string>) {
  return [
    html`<p>${`${plural(changed_count, 'verdict')} of ${count(players)} would change.`}</p>`,
    table('Players whose verdict would change', changed, ({ subject_hash }) => subject_hash, [
      playerColumn,
      { title: 'Now', cell: ({ before }) => badge(before.verdict) },
      { title: 'Then', cell: ({ after }) => badge(after.verdict) },
    ]),
    changed_count > changed.length &&
      html`<p class="muted small">${`The first ${count(changed.length)} are listed.`}</p>`,
    table('Peers whose weight would change', peers, ({ peer_id }) => peer_id, [
      { title: 'Peer', cell: ({ peer_id }) => peerLink(peer_id, names) },
      { title: 'Weight now', number: true, cell: ({ weight_before }) => weight_before.toFixed(3) },
      { title: 'Then', number: true, cell: ({ weight_after }) => weight_after.toFixed(3) },
    ]),
  ];
}
