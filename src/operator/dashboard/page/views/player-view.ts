/** Looks up one player: the score, its explanation, and the summary of reports. Shows no peer's events. */
import type { PlayerValue } from '../../../../operations/player-operations.js';
import type { Values } from '../../../../operations/table.js';
import type { VerdictChangeValue } from '../../wire.js';
import { Copied } from '../dialog.js';
import { Loaded, Task, type View, type ViewContext } from '../draw.js';
import { count, halfLife, plural, words } from '../format.js';
import { badge, button, card, empty, facts, field, form, html, playerColumn, table, textOf, time } from '../html.js';
import { command, get, Refused } from '../requests.js';
import { allowWithQuestion, disallowWithQuestion, eraseWithQuestion, receiptCard } from './player-dialogs.js';

const input = html`<input name="player" type="text" required maxlength="128" autocomplete="off" spellcheck=${false} />`;

const verdictChoices = {
  'untrusted,suspicious': 'Suspicious or untrusted',
  untrusted: 'Untrusted',
  suspicious: 'Suspicious',
  neutral: 'Neutral',
  trusted: 'Trusted',
} as const;
const rowsAtFirst = 50;
/** Each request covers a part of the players, and may find none: one read makes at most one for so many rows. */
const rowsPerRequest = 5;

type Judged = Values['players-list']['data'][number];

const keyOf = ({ subject_hash }: { readonly subject_hash: string }): string => subject_hash;

export function playerView({ live, argument }: ViewContext): View {
  const search = new Task(empty('No player looked up yet', 'The id appears neither in addresses nor in logs.'));

  async function found(playerId: string) {
    const player = await command('player', { player_id: playerId });
    return html`<div class="grid">
      ${scoreCard(player, { erase: () => void erase(player), allow: () => void allow(player, playerId) })}
      <div class="column">${reasonsCard(player)}${summaryCard(player)}</div>
    </div>`;
  }

  function lookUp(playerId: string): Promise<void> {
    return search.run(() =>
      found(playerId).catch((error: unknown) => {
        if (!(error instanceof Refused && error.code === 'player_not_found')) throw error;
        return empty('This player is unknown', 'No peer has sent an event about this id, or the player was erased.');
      }),
    );
  }

  let wanted: string = 'untrusted,suspicious';
  let rowsWanted = rowsAtFirst;
  const changes = new Loaded(async () => (await get<{ data: readonly VerdictChangeValue[] }>('changes')).data);
  const judged = new Loaded(async () => {
    const verdicts = wanted.split(',') as Judged['verdict'][];
    const found: Judged[] = [];
    let from: number | null = 0;
    for (let i = 0; i < rowsWanted / rowsPerRequest && from !== null && found.length < rowsWanted; i++) {
      const limit = Math.min(200, rowsWanted - found.length);
      const page: Values['players-list'] = await command('players-list', { verdicts, from, limit });
      found.push(...page.data);
      from = page.next_from;
    }
    return { found, hasMore: from !== null };
  });

  function changesOf(listed: readonly VerdictChangeValue[]) {
    const none = empty('No change yet', 'Changes of verdicts since the start of this node appear here.');
    return (
      table('Players whose verdict changed', listed.slice(0, rowsAtFirst), keyOf, [
        playerColumn,
        { title: 'Was', cell: ({ was }) => badge(was) },
        { title: 'Is', cell: ({ verdict }) => badge(verdict) },
        { title: 'At', cell: ({ at }) => time(at) },
      ]) ?? none
    );
  }

  function judgedOf({ found, hasMore }: { readonly found: readonly Judged[]; readonly hasMore: boolean }) {
    const more = (): void => {
      rowsWanted += rowsAtFirst;
      void judged.refresh({ force: true });
    };
    const reason = hasMore ? 'None among the players read so far.' : 'No player has this verdict now.';
    return [
      table('Players with this verdict', found, keyOf, [
        playerColumn,
        { title: 'Verdict', cell: ({ verdict }) => badge(verdict) },
        { title: 'Score', number: true, cell: ({ score }) => score.toFixed(1) },
        { title: 'Events', number: true, cell: (row) => count(row.event_count) },
        { title: 'Newest event', cell: ({ updated_at }) => time(updated_at) },
      ]) ?? empty('No such player', reason),
      hasMore && button('Show more', more),
    ];
  }

  const choose = ({ currentTarget }: Event): void => {
    wanted = (currentTarget as HTMLSelectElement).value;
    rowsWanted = rowsAtFirst;
    void judged.refresh({ force: true });
  };

  async function allow({ subject_hash, allowed }: PlayerValue, playerId: string): Promise<void> {
    await (allowed === null ? allowWithQuestion : disallowWithQuestion)(subject_hash, () => lookUp(playerId));
  }

  async function erase({ subject_hash }: PlayerValue): Promise<void> {
    const erased = await eraseWithQuestion(subject_hash);
    if (erased !== undefined) await search.run(async () => receiptCard(erased));
  }

  if (argument !== '') void lookUp(argument);
  return {
    title: 'Players',
    refresh: () => Promise.all([changes.refresh(), judged.value === undefined && judged.refresh()]),
    draw() {
      const hint =
        live.overview?.status.identity_mode === 'high-security'
          ? 'The subject hash: this group accepts no other id.'
          : 'The account id, or the subject hash of 64 characters.';
      const onSubmit = (fields: FormData): void => void lookUp(textOf(fields, 'player'));
      const lookUpForm = form(
        { class: 'card form', role: 'search', action: 'Look up', busy: search.isBusy, onSubmit },
        field('Player', input, hint),
      );
      return html`
        <div class="narrow">${lookUpForm}</div><div aria-live="polite">${search.result}</div>
        <div class="column lists">
          ${card('Verdict changed lately', changes.draw(changesOf))}
          ${card(
            'By verdict',
            html`<select aria-label="Verdict" value=${wanted} onChange=${choose}>
              ${Object.entries(verdictChoices).map(([value, name]) => html`<option value=${value}>${name}</option>`)}
            </select>`,
            judged.draw(judgedOf),
          )}
        </div>`;
    },
  };
}

function scoreCard({ allowed, ...player }: PlayerValue, actions: Record<'erase' | 'allow', () => void>) {
  return card(
    'Score',
    html`<p class="score">
      <strong>${player.score.toFixed(1)}</strong><span class="muted"> of 100 </span>
      ${badge(player.verdict)}${allowed !== null && badge('allowed')}
    </p>`,
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

function reasonsCard({ explain }: PlayerValue) {
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

function summaryCard({ summary, summarised, event_count }: PlayerValue) {
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
