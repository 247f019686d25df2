/** Erases a player after a question, and shows the receipt. */
import type { Values } from '../../../protocol/protocol.js';
import { command } from '../api.js';
import { ask, copyFrom } from '../dialog.js';
import { button, facts, fill, h } from '../dom.js';
import { count } from '../format.js';
import { time } from '../view.js';

/** Resolves with what to show of it; null where it was not done. */
export async function eraseWithQuestion(subjectHash: string): Promise<HTMLElement | null> {
  let erased: Values['erase'] | undefined;
  const isDone = await ask({
    title: 'Erase this player?',
    body: [
      h(
        'p',
        {},
        'All that is stored of the player goes for good, from memory, log and snapshots. It may take a while.',
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
      'The receipt is proof for whoever asked: the audit log keeps a digest of it and the hash. It is shown this once.',
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
