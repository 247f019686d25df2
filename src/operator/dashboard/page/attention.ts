/** Lists what needs the operator's attention: decisions that wait, peers without weight, and faults of the node. */
import type { ListedPeerValue } from '../../../operations/peer-operations.js';
import type { OverviewValue } from '../wire.js';
import { asOf, plural } from './format.js';
import { type Child, html, link } from './html.js';
import { groupFactsOf, weightlessReason } from './remarks.js';

const namedMax = 5;

export function attentionOf(
  { at, status, ids_refused }: OverviewValue,
  peers: readonly ListedPeerValue[],
  isLost: boolean,
): Child {
  const { ready, writable, reason, alerts, pending_erasures, open_disputes } = status;
  const group = groupFactsOf(peers);
  const weightless = peers.flatMap((peer) => {
    const why = weightlessReason(peer, group);
    return why === undefined ? [] : [{ peer, why }];
  });
  const items: Child[] = [
    isLost && bad(`The node does not answer. All else is as of ${asOf(at)}.`),
    !ready && bad(`The node is not ready: ${reason ?? 'no reason is known'}.`),
    ready && !writable && bad(`Writes are refused: ${reason ?? 'no reason is known'}.`),
    ...alerts.map(({ alert, text }) => bad(`${alert}: ${text}`)),
    pending_erasures > 0 && html`${link('erasure', plural(pending_erasures, 'erasure'))} to confirm or refuse`,
    open_disputes > 0 && html`${link('disputes', plural(open_disputes, 'dispute'))} to decide`,
    ...weightless
      .slice(0, namedMax)
      .map(
        ({ peer, why }) =>
          html`${link(`peers/${encodeURIComponent(peer.peer_id)}`, peer.peer_name)} has weight 0: ${why}`,
      ),
    weightless.length > namedMax && link('peers', `${plural(weightless.length - namedMax, 'more peer')} with weight 0`),
    ids_refused > 0 &&
      `${plural(ids_refused, 'request')} refused for forbidden characters in an id or a name since the start of the node`,
  ].filter((item) => item !== false);
  if (items.length === 0)
    return html`<p class="muted">Nothing. No decision waits, and every peer that reports has weight.</p>`;
  return html`<ul class="attention">${items.map((item) => html`<li>${item}</li>`)}</ul>`;
}

function bad(text: string): Child {
  return html`<span class="bad">${text}</span>`;
}
