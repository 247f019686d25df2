/** Erases a player after a confirmation, and shows the receipt. */
import type { Values } from '../../../../operations/table.js';
import { command } from '../api.js';
import { ask, copyFrom } from '../dialog.js';
import { button, facts, fill, h } from '../dom.js';
import { count } from '../format.js';
import { time } from '../view.js';

/** Resolves with the receipt's element; null if the player was not erased. */
export async function eraseWithQuestion(subjectHash: string): Promise<HTMLElement | null> {
  let erased: Values['erase'] | undefined;
  const isDone = await ask({
    title: 'Erase this player?',
    body: [
      h(
        'p',
        {},
        'Everything that is stored about the player is deleted for good, from memory, log and snapshots. This may take a while.',
      ),
      h('p', {}, h('code', { class: 'hash' }, subjectHash)),
    ],
    action: 'Erase',
    danger: true,
    run: async () => {
      erased = await command('erase', { subject_hash: subjectHash });
    },
  });
  return isDone && erased !== undefined ? receiptOf(erased) : null;
}

function receiptOf({ subject_hash, events_erased, erased_at, receipt }: Values['erase']): HTMLElement {
  const said = h('span', { role: 'status', class: 'muted small' });
  const code = h('code', { class: 'hash' }, receipt);
  return h(
    'section',
    { class: 'card', tabindex: -1 },
    h('h2', {}, 'Erased'),
    h(
      'p',
      {},
      'The receipt is proof for the player: the audit log keeps a digest of it and the hash. It is shown only this once.',
    ),
    facts([
      [
        'Receipt',
        h(
          'span',
          { class: 'copied' },
          code,
          button('Copy', () => void copyFrom(code).then((text) => fill(said, text)), { class: 'button small' }),
          said,
        ),
      ],
      ['Subject hash', h('code', { class: 'hash' }, subject_hash)],
      ['Events', count(events_erased)],
      ['At', time(erased_at)],
    ]),
  );
}
