/** Erases a player after a confirmation, and shows the receipt. */
import type { Values } from '../../../../operations/table.js';
import { ask, Copied } from '../dialog.js';
import { count } from '../format.js';
import { type Child, facts, html, time } from '../html.js';
import { command } from '../requests.js';

/** Resolves with the receipt; undefined if the player was not erased. */
export function eraseWithQuestion(subjectHash: string): Promise<Values['erase'] | undefined> {
  return ask({
    title: 'Erase this player?',
    body: html`
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
