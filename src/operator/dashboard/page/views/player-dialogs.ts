/** Asks before a player is erased, or added to the allow list or removed, and shows the receipt of an erasure. */
import type { Values } from '../../../../operations/table.js';
import { ask, Copied } from '../dialog.js';
import { count, plural } from '../format.js';
import { type Child, facts, field, html, textOf, time } from '../html.js';
import { command, Refused } from '../requests.js';

const noteInput = (name: string) =>
  html`<input name=${name} type="text" required maxlength="200" autocomplete="off" />`;

export async function eraseWithQuestion(subjectHash: string): Promise<Values['erase'] | undefined> {
  const known = await command('player', { player_id: subjectHash }).then(
    ({ verdict, event_count: events, explain: { peers } }) =>
      `The player is ${verdict}, with ${plural(events, 'event')} of ${plural(peers, 'peer')}.`,
    (error: unknown) =>
      error instanceof Refused && error.code === 'player_not_found'
        ? 'No event about this player is stored.'
        : 'What is stored about this player could not be read.',
  );
  return ask({
    title: 'Erase this player?',
    body: html`
      <p>${known}</p>
      <p>
        Everything that is stored about the player is deleted for good, from memory, log and snapshots. This may take a
        while.
      </p>
      <p><code class="hash">${subjectHash}</code></p>`,
    action: 'Erase',
    danger: true,
    run: () => command('erase', { subject_hash: subjectHash }),
  });
}

export async function refuseWithQuestion(subjectHash: string, after: () => unknown): Promise<void> {
  await ask({
    title: 'Refuse this erasure?',
    body: html`
      <p>Nothing is deleted. The peers that asked for the erasure read the reason, and may ask again.</p>
      <p><code class="hash">${subjectHash}</code></p>
      ${field('Reason', noteInput('reason'), 'Shown to these peers. It must name neither the player nor another peer.')}`,
    action: 'Refuse',
    run: (fields) => command('erase-refuse', { subject_hash: subjectHash, reason: textOf(fields, 'reason') }),
    notice: 'The erasure is refused. The peers that asked for it can read the reason.',
    after,
  });
}

export function receiptCard({ subject_hash, events_erased, erased_at, receipt }: Values['erase']): Child {
  return html`<section class="card" tabindex="-1" id="receipt">
    <h2>Erased</h2>
    <p>
      The receipt is proof for the player: the audit log keeps a digest of it and the hash. It is shown only this once.
    </p>
    ${facts([
      ['Receipt', preact.h(Copied, { key: receipt, text: receipt })],
      ['Subject hash', html`<code class="hash">${subject_hash}</code>`],
      ['Events', count(events_erased)],
      ['At', time(erased_at)],
    ])}
  </section>`;
}

export async function allowWithQuestion(subjectHash: string, after: () => unknown): Promise<void> {
  await ask({
    title: 'Add this player to the allow list?',
    body: html`
      <p>The player reads as neutral up to the end of that day, whatever was reported. Reports are still accepted.</p>
      <p><code class="hash">${subjectHash}</code></p>
      ${field('Until the end of (UTC)', html`<input name="until" type="date" required />`)}
      ${field('Note', noteInput('note'), 'For operators only. It must not name the player.')}`,
    action: 'Allow',
    run: (fields) =>
      command('allow-add', {
        subject_hash: subjectHash,
        until: `${textOf(fields, 'until')}T23:59:59.999Z`,
        note: textOf(fields, 'note'),
      }),
    notice: 'The player is on the list.',
    after,
  });
}

export async function disallowWithQuestion(subjectHash: string, after: () => unknown): Promise<void> {
  await ask({
    title: 'Remove this player from the allow list?',
    body: html`<p>The score and verdict of the player count again from now on.</p>`,
    action: 'Remove from the list',
    run: () => command('allow-remove', { subject_hash: subjectHash }),
    notice: 'The player is off the list.',
    after,
  });
}
