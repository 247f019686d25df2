/** Shows the erasure requests of peers that wait for a confirmation, and erases a player by hash. */
import type { Values } from '../../../../operations/table.js';
import { Loaded, redraw, type View, type ViewContext } from '../draw.js';
import { button, type Child, card, empty, field, form, heading, html, table, textOf, time } from '../html.js';
import { command } from '../requests.js';
import { eraseWithQuestion, receiptCard } from './erase-dialog.js';

const rowsMax = 200;
const hashInput = html`<input name="hash" type="text" required pattern="[0-9A-Fa-f]{64}" maxlength="64"
  autocomplete="off" spellcheck=${false} title="64 hexadecimal characters" />`;

type Pending = Values['erase-pending']['data'];

export function erasureView({ live }: ViewContext): View {
  const pending = new Loaded(async () => (await command('erase-pending', {})).data);
  let waiting = -1;
  let erased: Values['erase'] | undefined;

  async function refresh(): Promise<void> {
    const now = live.overview?.status.pending_erasures ?? waiting;
    if (now === waiting) return;
    waiting = now;
    if (!(await pending.refresh())) waiting = -1;
  }

  async function erase(hash: string): Promise<void> {
    const receipt = await eraseWithQuestion(hash);
    if (receipt === undefined) return;
    erased = receipt;
    redraw();
    document.querySelector<HTMLElement>('#receipt')?.focus();
    document.querySelector<HTMLFormElement>('main form')?.reset();
    await pending.refresh({ force: true });
  }

  function listOf(erasures: Pending): Child {
    if (erasures.length === 0)
      return empty('No waiting erasures', 'Requests of peers wait here if ERASURE_MODE is “own” or “operator”.');
    const confirm = ({ subject_hash }: Pending[number]): Child =>
      button('Confirm…', () => void erase(subject_hash), {
        class: 'button danger small',
        'aria-label': `Confirm the erasure of ${subject_hash}`,
      });
    const rest = erasures.length - rowsMax;
    return [
      table('Waiting erasures', erasures.slice(0, rowsMax), ({ subject_hash }) => subject_hash, [
        { title: 'Subject hash', cell: ({ subject_hash }) => html`<code class="hash">${subject_hash}</code>` },
        { title: 'Due', cell: ({ due_at }) => time(due_at) },
        { title: '', number: true, cell: confirm },
      ]),
      rest > 0 && html`<p class="muted small">And ${rest} more.</p>`,
    ];
  }

  const byHash = form(
    { action: 'Erase…', danger: true, onSubmit: (fields) => void erase(textOf(fields, 'hash').toLowerCase()) },
    field('Subject hash', hashInput, '64 hexadecimal characters. Look a player up to find it.'),
  );
  return {
    title: 'Erasure',
    refresh,
    draw: () => html`<div>
      ${heading('Erasure')}
      <div aria-live="polite">${erased !== undefined && receiptCard(erased)}</div>
      <div class="grid">${card('Waiting for you', pending.draw(listOf))}${card('Erase by hash', byHash)}</div>
    </div>`,
  };
}
