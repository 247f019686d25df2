/** Looks up one player: the score, its explanation, and the summary of reports. Shows no peer's events. */
import type { PlayerValue } from '../../wire.js';
import { errorText, post, Refused } from '../api.js';
import { copyFrom } from '../dialog.js';
import { button, card, empty, facts, field, fill, h, table } from '../dom.js';
import { count, plural, words } from '../format.js';
import { badge, heading, time, type View, type ViewContext } from '../view.js';
import { allowWithQuestion, disallowWithQuestion } from './allow.js';
import { eraseWithQuestion } from './erase.js';

export function playerView({ live }: ViewContext): View {
  const isHashed = live.overview?.status.identity_mode === 'high-security';
  const input = h('input', { type: 'text', required: true, maxlength: 128, autocomplete: 'off', spellcheck: 'false' });
  const hint = isHashed
    ? 'The subject hash: this group accepts no other id.'
    : 'The account id, or the subject hash of 64 characters.';
  const submit = h('button', { type: 'submit', class: 'button primary' }, 'Look up');
  const form = h(
    'form',
    { class: 'card form', role: 'search' },
    field('Player', input, hint),
    h('div', { class: 'actions' }, submit),
  );
  const result = h(
    'div',
    { 'aria-live': 'polite' },
    empty('No player looked up yet', 'The id appears neither in addresses nor in logs.'),
  );

  async function lookUp(): Promise<void> {
    submit.disabled = true;
    try {
      const player = await post<PlayerValue>('player', { player_id: input.value.trim() });
      fill(result, playerCards(player, { erase: () => void erase(player), allow: () => void allow(player) }));
    } catch (error) {
      const isUnknown = error instanceof Refused && error.code === 'player_not_found';
      fill(
        result,
        isUnknown
          ? empty('This player is unknown', 'No peer has sent an event about this id, or the player was erased.')
          : h('p', { class: 'notice notice-bad', role: 'alert' }, errorText(error)),
      );
    } finally {
      submit.disabled = false;
    }
  }

  async function allow({ subject_hash, allowed }: PlayerValue): Promise<void> {
    const isDone = await (allowed === null ? allowWithQuestion(subject_hash) : disallowWithQuestion(subject_hash));
    if (isDone) await lookUp();
  }

  async function erase({ subject_hash }: PlayerValue): Promise<void> {
    const erased = await eraseWithQuestion(subject_hash);
    if (erased !== null) fill(result, erased);
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void lookUp();
  });
  return { title: 'Players', element: h('div', {}, heading('Players'), h('div', { class: 'narrow' }, form), result) };
}

interface Actions {
  erase(): void;
  /** Adds the player to the allow list, or removes it. */
  allow(): void;
}

function playerCards(player: PlayerValue, actions: Actions): HTMLElement {
  const { explain, allowed } = player;
  const said = h('span', { role: 'status', class: 'muted small' });
  const hash = h('code', { class: 'hash' }, player.subject_hash);
  const copy = button('Copy', () => void copyFrom(hash).then((text) => fill(said, text)), { class: 'button small' });
  const evidence = (value: number | null): string =>
    value === null ? 'not shown with fewer than 3 peers' : value.toFixed(2);
  return h(
    'div',
    { class: 'grid' },
    h(
      'section',
      { class: 'card' },
      h('h2', {}, 'Score'),
      h(
        'p',
        { class: 'score' },
        h('strong', {}, player.score.toFixed(1)),
        h('span', { class: 'muted' }, ' of 100 '),
        badge(player.verdict),
        allowed !== null && badge('allowed'),
      ),
      scale(player.score),
      facts([
        ['Confidence', player.confidence.toFixed(2)],
        ['Events', count(player.event_count)],
        ['Changed', time(player.updated_at)],
        ['Subject hash', h('span', { class: 'copied' }, hash, copy, said)],
        ...(allowed === null
          ? []
          : ([
              ['Allowed until', time(allowed.until)],
              ['Note', allowed.note],
            ] as const)),
      ]),
      h(
        'div',
        { class: 'actions' },
        button(allowed === null ? 'Allow…' : 'Take off the allow list…', actions.allow),
        button('Erase this player…', actions.erase, { class: 'button danger' }),
      ),
    ),
    h(
      'div',
      { class: 'column' },
      card(
        'Why it has this verdict',
        ...explain.reasons.map((reason) => h('p', {}, reason)),
        facts([
          ['Lowering evidence', evidence(explain.lowering)],
          ['Raising evidence', evidence(explain.raising)],
          ['Peers', `${plural(explain.peers, 'peer')}${explain.pre_trusted ? ', including pre-trusted ones' : ''}`],
          ['Independent witnesses', `${count(explain.witnesses)}${explain.two_sided ? ', mostly two-sided' : ''}`],
          ['Half-life', explain.half_life_days === 0 ? 'off' : plural(explain.half_life_days, 'day')],
          ['Half-life of bans', explain.ban_half_life_days === 0 ? 'off' : plural(explain.ban_half_life_days, 'day')],
          ['Weights', `based on record ${count(explain.weights_based_on_seq)}`],
        ]),
        h(
          'p',
          { class: 'muted small' },
          'Evidence is as reported and decayed. The score weighs each part by the weight of its peer: much evidence of little weight changes it little.',
        ),
      ),
      summaryCard(player),
    ),
  );
}

/** The bands of the verdicts, with a mark at the score. */
function scale(score: number): HTMLElement {
  const mark = h('span', { class: 'scale-mark' });
  mark.style.setProperty('--share', `${score}%`);
  return h('div', { class: 'scale', 'aria-hidden': 'true' }, mark);
}

function summaryCard({ summary, summarised, event_count }: PlayerValue): HTMLElement {
  const title = 'Reports';
  if (summary.length === 0) return card(title, empty('No events', 'All of them were withdrawn.'));
  const rows = summary.map(({ event_type, week, count: number }) => [
    words(event_type),
    week ?? 'not shown',
    count(number),
  ]);
  return card(
    title,
    table('Events by type and week', [{ title: 'Type' }, { title: 'Week' }, { title: 'Events', number: true }], rows),
    h(
      'p',
      { class: 'muted small' },
      summarised < event_count
        ? `The newest ${count(summarised)} of ${count(event_count)} events.`
        : 'All events in total: the summary does not show who sent which.',
    ),
  );
}
