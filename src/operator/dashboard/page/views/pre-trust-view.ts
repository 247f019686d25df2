/** Shows the pre-trusted peers, and the peers that may be added or removed. */
import type { ListedPeerValue } from '../../../../operations/peer-operations.js';
import { ask } from '../dialog.js';
import { Loaded, type View, type ViewContext } from '../draw.js';
import { badge, card, empty, field, form, html, peerChoice, peerLink, removeButton, table, textOf } from '../html.js';
import { namesOf } from '../listed-peers.js';
import { command } from '../requests.js';

const none = empty(
  'No pre-trusted peers',
  'Without them the group withstands a single bad peer, but colluding peers can only be recognised by their agreement.',
);
/** More peers weaken the protection that pre-trust gives. */
const warnAbove = 3;

export function preTrustView({ peers }: ViewContext): View {
  const all = new Loaded(() => peers.list());
  async function change(kind: 'add' | 'remove', peerId: string): Promise<void> {
    const name = namesOf(await peers.list()).get(peerId) ?? peerId;
    const isAdded = kind === 'add';
    await ask({
      title: isAdded ? `Pre-trust ${name}?` : `Remove ${name}?`,
      body: html`<p>${
        isAdded
          ? 'Its weight never falls below a minimum, and pre-trusted peers bound the combined evidence of all others.'
          : 'From the next computation on it must earn its weight like every other peer.'
      }</p>`,
      action: isAdded ? 'Pre-trust' : 'Remove',
      run: () => command('pretrust-change', { change: kind, peer_id: peerId }),
      notice: isAdded ? `${name} is pre-trusted.` : `${name} is no longer pre-trusted.`,
      async after() {
        await peers.reload();
        await all.refresh({ force: true });
      },
    });
  }

  function setOf(inside: readonly ListedPeerValue[]) {
    const names = namesOf(inside);
    const remove = ({ peer_id, peer_name }: ListedPeerValue) =>
      removeButton(peer_name, () => void change('remove', peer_id));
    const note = `More than ${warnAbove} pre-trusted peers weaken the protection that pre-trust gives.`;
    return [
      table('Pre-trusted peers', inside, ({ peer_id }) => peer_id, [
        { title: 'Peer', cell: ({ peer_id }) => peerLink(peer_id, names) },
        { title: 'Status', cell: ({ status }) => badge(status) },
        { title: 'Weight', number: true, cell: ({ weight }) => weight.toFixed(3) },
        { title: '', number: true, cell: remove },
      ]) ?? none,
      inside.length > warnAbove && html`<p class="notice notice-warn">${note}</p>`,
    ];
  }

  function choiceOf(others: readonly ListedPeerValue[]) {
    const isNone = others.length === 0;
    const choice = peerChoice('peer', others, isNone ? 'No other peer' : 'Choose a peer', { required: true });
    return form(
      { action: 'Add…', disabled: isNone, onSubmit: (fields) => void change('add', textOf(fields, 'peer')) },
      field('Peer', choice, 'Choose a peer whose operator the group’s coordinator knows.'),
    );
  }

  return {
    title: 'Pre-trust',
    lead: 'A small set, 1 to 3 as a rule. Colluding and invented peers cannot outweigh it.',
    refresh: () => all.refresh(),
    draw: () =>
      all.draw((listed) => {
        const others = listed.filter(({ pre_trusted, status }) => !pre_trusted && status !== 'revoked');
        return html`<div class="grid">
          ${card('Pre-trusted peers', setOf(listed.filter(({ pre_trusted }) => pre_trusted)))}
          ${card('Add a peer', choiceOf(others))}
        </div>`;
      }),
  };
}
