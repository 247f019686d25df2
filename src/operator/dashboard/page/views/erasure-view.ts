/** Shows the erasure requests of peers that wait for a confirmation, and erases a player by hash. */
import type { Values } from '../../../../operations/table.js';
import { command, errorText } from '../api.js';
import { button, card, empty, field, fill, h, table } from '../dom.js';
import { heading, mayRedraw, time, type View, type ViewContext } from '../view.js';
import { eraseWithQuestion } from './erase.js';

const rowsMax = 200;

export function erasureView({ live }: ViewContext): View {
  const pending = h('div', {}, h('p', { class: 'muted' }, 'Loading…'));
  const done = h('div', { 'aria-live': 'polite' });
  const input = h('input', {
    type: 'text',
    required: true,
    pattern: '[0-9A-Fa-f]{64}',
    maxlength: 64,
    autocomplete: 'off',
    spellcheck: 'false',
    title: '64 hexadecimal characters',
  });
  const form = h(
    'form',
    {},
    field('Subject hash', input, '64 hexadecimal characters. Look a player up to find it.'),
    h('div', { class: 'actions' }, h('button', { type: 'submit', class: 'button danger' }, 'Erase…')),
  );
  let waiting = -1;

  async function load(): Promise<void> {
    try {
      const { data } = await command('erase-pending', {});
      fill(
        pending,
        data.length === 0
          ? empty('No waiting erasures', 'Requests of peers wait here if ERASURE_MODE is “own” or “operator”.')
          : listOf(data),
      );
    } catch (error) {
      fill(pending, h('p', { class: 'notice notice-bad', role: 'alert' }, errorText(error)));
      waiting = -1;
    }
  }

  function listOf(erasures: Values['erase-pending']['data']): HTMLElement[] {
    const rows = erasures.slice(0, rowsMax).map(({ subject_hash: hash, due_at }) => [
      h('code', { class: 'hash' }, hash),
      time(due_at),
      button('Confirm…', () => void erase(hash), {
        class: 'button danger small',
        'aria-label': `Confirm the erasure of ${hash}`,
      }),
    ]);
    const rest = erasures.length - rows.length;
    return [
      table('Waiting erasures', [{ title: 'Subject hash' }, { title: 'Due' }, { title: '', number: true }], rows),
      ...(rest > 0 ? [h('p', { class: 'muted small' }, `And ${rest} more.`)] : []),
    ];
  }

  async function erase(hash: string): Promise<void> {
    const erased = await eraseWithQuestion(hash);
    if (erased === null) return;
    fill(done, erased);
    erased.focus();
    input.value = '';
    await load();
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void erase(input.value.trim().toLowerCase());
  });
  const leave = live.subscribe(({ status }) => {
    // A control that the operator is about to press must not move.
    if (status.pending_erasures === waiting || !mayRedraw(pending)) return;
    waiting = status.pending_erasures;
    void load();
  });
  const element = h(
    'div',
    {},
    heading('Erasure'),
    done,
    h('div', { class: 'grid' }, card('Waiting for you', pending), card('Erase by hash', form)),
  );
  return { title: 'Erasure', element, destroy: leave };
}
