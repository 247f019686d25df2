/** Adds a player to the group's allow list or removes it, after a confirmation. */

import { ask } from '../dialog.js';
import { field, html, textOf } from '../html.js';
import { command } from '../requests.js';

/** Resolves with true if the player was added. */
export async function allowWithQuestion(subjectHash: string): Promise<boolean> {
  const entry = await ask({
    title: 'Add this player to the allow list?',
    body: html`
      <p>The player reads as neutral up to the end of that day, whatever was reported. Reports are still accepted.</p>
      <p><code class="hash">${subjectHash}</code></p>
      ${field('Until the end of (UTC)', html`<input name="until" type="date" required />`)}
      ${field(
        'Note',
        html`<input name="note" type="text" required maxlength="200" autocomplete="off" />`,
        'For operators only. It must not name the player.',
      )}`,
    action: 'Allow',
    run: (fields) =>
      command('allow-add', {
        subject_hash: subjectHash,
        until: `${textOf(fields, 'until')}T23:59:59.999Z`,
        note: textOf(fields, 'note'),
      }),
  });
  return entry !== undefined;
}

/** Resolves with true if the player was removed. */
export async function disallowWithQuestion(subjectHash: string): Promise<boolean> {
  const removed = await ask({
    title: 'Remove this player from the allow list?',
    body: html`<p>The score and verdict of the player count again from now on.</p>`,
    action: 'Remove from the list',
    run: () => command('allow-remove', { subject_hash: subjectHash }),
  });
  return removed !== undefined;
}
