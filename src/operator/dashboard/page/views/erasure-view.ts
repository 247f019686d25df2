/** Shows the erasure requests of peers that wait for a confirmation, and erases a player by hash. */
import type { Values } from '../../../../operations/table.js';
import { Loaded, redraw, type View } from '../draw.js';
import { plural } from '../format.js';
import { badge, button, type Child, card, empty, facts, hashForm, html, link, peerLink, time } from '../html.js';
import { command } from '../requests.js';
import { eraseWithQuestion, receiptCard, refuseWithQuestion } from './player-dialogs.js';

const rowsMax = 200;
const reasons = {
  operator_mode: 'the operator decides every erasure',
  peer_too_new: 'the peer was less than a day old',
  reported_by_others: 'other peers reported the player, too',
} as const;

const directions = {
  lowering: 'all of it lowers trust',
  raising: 'all of it raises trust',
  both: 'some of it lowers trust, some raises it',
  none: 'none of it counts any more',
} as const;

type Pending = Values['erase-pending'];
type Waiting = Pending['data'][number];

export function erasureView(): View {
  const pending = new Loaded(() => command('erase-pending', { from: 0, limit: rowsMax }));
  let erased: Values['erase'] | undefined;

  async function erase(hash: string): Promise<void> {
    const receipt = await eraseWithQuestion(hash);
    if (receipt === undefined) return;
    erased = receipt;
    redraw();
    document.querySelector<HTMLElement>('#receipt')?.focus();
    document.querySelector<HTMLFormElement>('main form')?.reset();
    await pending.refresh({ force: true });
  }

  const refuse = (hash: string) => refuseWithQuestion(hash, () => pending.refresh({ force: true }));

  function waitingCard({ subject_hash: hash, requested_at, due_at, requests, evidence }: Waiting): Child {
    const act = (name: string, run: () => void, look: string): Child =>
      button(`${name}…`, run, { class: look, 'aria-label': `${name} the erasure of ${hash}` });
    const asked = requests.map(
      ({ peer_id, peer_name, requested_at: at, reason }) => html`<div>
        ${peer_id === null ? 'a caller without a key' : peerLink(peer_id, new Map([[peer_id, peer_name ?? peer_id]]))},
        ${' '}${time(at)}: ${reasons[reason]}
      </div>`,
    );
    return html`<article class="dispute" data-erasure=${hash} key=${hash}>
      ${facts([
        ['Player', link(`players/${hash}`, hash, { class: 'hash' })],
        ['Asked by', asked],
        ['Waits since', time(requested_at)],
        ['Decide by', time(due_at)],
        ['Verdict', evidence === null ? 'no event is known any more' : badge(evidence.verdict)],
        [
          'Evidence',
          evidence === null
            ? undefined
            : `${plural(evidence.event_count, 'event')} of ${plural(evidence.peers, 'peer')}: ${directions[evidence.direction]}`,
        ],
      ])}
      <div class="actions">
        ${act('Refuse', () => void refuse(hash), 'button small')}
        ${act('Confirm', () => void erase(hash), 'button danger small')}
      </div>
    </article>`;
  }

  function listOf({ data, next_from }: Pending): Child {
    if (data.length === 0)
      return empty('No waiting erasures', 'Requests of peers wait here if ERASURE_MODE is “own” or “operator”.');
    return [
      data.map(waitingCard),
      next_from !== null && html`<p class="muted small">There are more; these are the first ${rowsMax}.</p>`,
    ];
  }

  const byHash = hashForm('Erase…', (hash) => void erase(hash), true);
  return {
    title: 'Erasure',
    refresh: () => pending.refresh(),
    draw: () => html`
      <div aria-live="polite">${erased !== undefined && receiptCard(erased)}</div>
      <div class="grid">${card('Waiting for you', pending.draw(listOf))}${card('Erase by hash', byHash)}</div>`,
  };
}
