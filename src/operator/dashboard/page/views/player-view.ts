/** Looks up one player: the score, its explanation, and the summary of reports. Shows no peer's events. */
import type { PlayerValue } from '../../../../operations/player-lookup.js';
import { Copied } from '../dialog.js';
import { redraw, type View, type ViewContext } from '../draw.js';
import { count, halfLife, plural, words } from '../format.js';
import {
  alert,
  badge,
  button,
  type Child,
  card,
  empty,
  facts,
  field,
  form,
  heading,
  html,
  table,
  textOf,
  time,
} from '../html.js';
import { command, errorText, Refused } from '../requests.js';
import { allowWithQuestion, disallowWithQuestion } from './allow.js';
import { eraseWithQuestion, receiptCard } from './erase-dialog.js';

const input = html`<input name="player" type="text" required maxlength="128" autocomplete="off" spellcheck=${false} />`;

export function playerView({ live }: ViewContext): View {
  let result = empty('No player looked up yet', 'The id appears neither in addresses nor in logs.');
  let isBusy = false;

  async function lookUp(playerId: string): Promise<void> {
    isBusy = true;
    redraw();
    try {
      const player = await command('player', { player_id: playerId });
      result = html`<div class="grid">
        ${scoreCard(player, { erase: () => void erase(player), allow: () => void allow(player, playerId) })}
        <div class="column">${reasonsCard(player)}${summaryCard(player)}</div>
      </div>`;
    } catch (error) {
      const isUnknown = error instanceof Refused && error.code === 'player_not_found';
      result = isUnknown
        ? empty('This player is unknown', 'No peer has sent an event about this id, or the player was erased.')
        : alert(errorText(error));
    }
    isBusy = false;
    redraw();
  }

  async function allow({ subject_hash, allowed }: PlayerValue, playerId: string): Promise<void> {
    const isDone = await (allowed === null ? allowWithQuestion(subject_hash) : disallowWithQuestion(subject_hash));
    if (isDone) await lookUp(playerId);
  }

  async function erase({ subject_hash }: PlayerValue): Promise<void> {
    const erased = await eraseWithQuestion(subject_hash);
    if (erased === undefined) return;
    result = receiptCard(erased);
    redraw();
  }

  return {
    title: 'Players',
    draw() {
      const hint =
        live.overview?.status.identity_mode === 'high-security'
          ? 'The subject hash: this group accepts no other id.'
          : 'The account id, or the subject hash of 64 characters.';
      const onSubmit = (fields: FormData): void => void lookUp(textOf(fields, 'player'));
      const search = form(
        { class: 'card form', role: 'search', action: 'Look up', busy: isBusy, onSubmit },
        field('Player', input, hint),
      );
      return html`<div>
        ${heading('Players')}<div class="narrow">${search}</div><div aria-live="polite">${result}</div>
      </div>`;
    },
  };
}

interface Actions {
  erase(): void;
  /** Adds the player to the allow list, or removes it. */
  allow(): void;
}

function scoreCard({ allowed, ...player }: PlayerValue, actions: Actions): Child {
  return card(
    'Score',
    html`<p class="score">
      <strong>${player.score.toFixed(1)}</strong><span class="muted"> of 100 </span>
      ${badge(player.verdict)}${allowed !== null && badge('allowed')}
    </p>`,
    // The bands of the verdicts, with a mark at the score.
    html`<div class="scale" aria-hidden="true">
      <span class="scale-mark" style=${{ '--share': `${player.score}%` }}></span>
    </div>`,
    facts([
      ['Confidence', player.confidence.toFixed(2)],
      ['Events', count(player.event_count)],
      ['Changed', time(player.updated_at)],
      ['Subject hash', preact.h(Copied, { key: player.subject_hash, text: player.subject_hash })],
      ['Allowed until', allowed === null ? undefined : time(allowed.until)],
      ['Note', allowed?.note],
    ]),
    html`<div class="actions">
      ${button(allowed === null ? 'Allow…' : 'Take off the allow list…', actions.allow)}
      ${button('Erase this player…', actions.erase, { class: 'button danger' })}
    </div>`,
  );
}

function reasonsCard({ explain }: PlayerValue): Child {
  const evidence = (value: number | null): string =>
    value === null ? 'not shown with fewer than 3 peers' : value.toFixed(2);
  return card(
    'Why it has this verdict',
    explain.reasons.map((reason) => html`<p>${reason}</p>`),
    facts([
      ['Lowering evidence', evidence(explain.lowering)],
      ['Raising evidence', evidence(explain.raising)],
      ['Peers', `${plural(explain.peers, 'peer')}${explain.pre_trusted ? ', including pre-trusted ones' : ''}`],
      ['Independent witnesses', `${count(explain.witnesses)}${explain.two_sided ? ', mostly two-sided' : ''}`],
      ['Half-life', halfLife(explain.half_life_days)],
      ['Half-life of bans', halfLife(explain.ban_half_life_days)],
      ['Weights', `based on record ${count(explain.weights_based_on_seq)}`],
    ]),
    html`<p class="muted small">
      Evidence is as reported and decayed. The score weighs each part by the weight of its peer: much evidence of little
      weight changes it little.
    </p>`,
  );
}

function summaryCard({ summary, summarised, event_count }: PlayerValue): Child {
  const title = 'Reports';
  if (summary.length === 0) return card(title, empty('No events', 'All of them were withdrawn.'));
  return card(
    title,
    table('Events by type and week', summary, ({ event_type, week }) => `${event_type} ${week}`, [
      { title: 'Type', cell: ({ event_type }) => words(event_type) },
      { title: 'Week', cell: ({ week }) => week ?? 'not shown' },
      { title: 'Events', number: true, cell: (row) => count(row.count) },
    ]),
    html`<p class="muted small">${
      summarised < event_count
        ? `The newest ${count(summarised)} of ${count(event_count)} events.`
        : 'All events in total: the summary does not show who sent which.'
    }</p>`,
  );
}
