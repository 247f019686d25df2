/** Shows the pre-trusted peers, and the peers that may be added or removed. */
import type { ListedPeerValue } from '../../../../operations/peers.js';
import { command, errorText } from '../api.js';
import { ask } from '../dialog.js';
import { button, card, empty, field, fill, h, table } from '../dom.js';
import { notify } from '../notice.js';
import { badge, heading, link, mayRedraw, type View, type ViewContext } from '../view.js';

/** More peers weaken the protection that pre-trust gives. */
const warnAbove = 3;

export function preTrustView({ live, peers }: ViewContext): View {
  const set = h('div', {}, h('p', { class: 'muted' }, 'Loading…'));
  const choice = h('select', { required: true });
  const add = h('button', { type: 'submit', class: 'button primary' }, 'Add…');
  const form = h(
    'form',
    {},
    field('Peer', choice, 'Choose a peer whose operator the group’s coordinator knows.'),
    h('div', { class: 'actions' }, add),
  );
  let current: readonly ListedPeerValue[] = [];

  async function load(): Promise<void> {
    try {
      const all = await peers.list();
      if (all === current || !mayRedraw(form) || !mayRedraw(set)) return;
      show(all);
    } catch (error) {
      fill(set, h('p', { class: 'notice notice-bad', role: 'alert' }, errorText(error)));
    }
  }

  function show(all: readonly ListedPeerValue[]): void {
    current = all;
    // The operator's choice is kept when the list is redrawn.
    const chosen = choice.value;
    const inside = all.filter(({ pre_trusted }) => pre_trusted);
    const others = all.filter(({ pre_trusted, status }) => !pre_trusted && status !== 'revoked');
    fill(
      set,
      inside.length === 0
        ? empty(
            'No pre-trusted peers',
            'Without them the group withstands a single bad peer, but colluding peers can only be recognised by their agreement.',
          )
        : tableOf(inside),
    );
    fill(
      choice,
      h('option', { value: '' }, others.length === 0 ? 'No other peer' : 'Choose a peer'),
      others.map(({ peer_id, peer_name }) => h('option', { value: peer_id, selected: peer_id === chosen }, peer_name)),
    );
    add.disabled = others.length === 0;
  }

  function tableOf(inside: readonly ListedPeerValue[]): HTMLElement[] {
    const rows = inside.map((peer) => [
      link(`peers/${encodeURIComponent(peer.peer_id)}`, peer.peer_name),
      badge(peer.status),
      peer.weight.toFixed(3),
      button('Remove…', () => void change('remove', peer.peer_id), {
        class: 'button small',
        'aria-label': `Remove ${peer.peer_name}`,
      }),
    ]);
    const columns = [
      { title: 'Peer' },
      { title: 'Status' },
      { title: 'Weight', number: true },
      { title: '', number: true },
    ];
    const note = `More than ${warnAbove} pre-trusted peers weaken the protection that pre-trust gives.`;
    return [
      table('Pre-trusted peers', columns, rows),
      ...(inside.length > warnAbove ? [h('p', { class: 'notice notice-warn' }, note)] : []),
    ];
  }

  async function change(kind: 'add' | 'remove', peerId: string): Promise<void> {
    const name = await peers.nameOf(peerId);
    const isDone = await ask({
      title: kind === 'add' ? `Pre-trust ${name}?` : `Remove ${name}?`,
      body: [
        h(
          'p',
          {},
          kind === 'add'
            ? 'Its weight never falls below a minimum, and pre-trusted peers bound the combined evidence of all others.'
            : 'From the next computation on it must earn its weight like every other peer.',
        ),
      ],
      action: kind === 'add' ? 'Pre-trust' : 'Remove',
      run: async () => {
        await command('pretrust-change', { change: kind, peer_id: peerId });
      },
    });
    if (!isDone) return;
    notify(kind === 'add' ? `${name} is pre-trusted.` : `${name} is no longer pre-trusted.`);
    await peers.reload();
    show(await peers.list());
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void change('add', choice.value);
  });
  const leave = live.subscribe(() => void load());
  void load();
  const about = h(
    'p',
    { class: 'muted lead' },
    'A small set, 1 to 3 as a rule. Colluding and invented peers cannot outweigh it.',
  );
  const element = h(
    'div',
    {},
    heading('Pre-trust'),
    about,
    h('div', { class: 'grid' }, card('Pre-trusted peers', set), card('Add a peer', form)),
  );
  return { title: 'Pre-trust', element, destroy: leave };
}
