/**
 * Shows the disputes of peers, decides them, and undoes decisions. To uphold a dispute, the operator chooses the peers
 * whose events become void.
 */
import type { DisputeValue } from '../../../../operations/disputes.js';
import { command, errorText } from '../api.js';
import { ask } from '../dialog.js';
import { button, type Child, card, empty, facts, fill, h } from '../dom.js';
import { head } from '../format.js';
import { notify } from '../notice.js';
import { badge, heading, link, mayRedraw, time, type View, type ViewContext } from '../view.js';

const rowsMax = 200;
const looks = { open: 'suspicious', upheld: 'active', rejected: 'neutral' } as const;
/** The question of a decision, its effect, and the notice afterwards. */
const texts = {
  reject: ['Reject this dispute?', 'The events count as before.', 'The dispute is rejected.'],
  undo: [
    'Undo this decision?',
    'The dispute is open again, and void events count again.',
    'The dispute is open again.',
  ],
} as const;

export function disputesView({ live, peers }: ViewContext): View {
  const open = h('div', {}, h('p', { class: 'muted' }, 'Loading…'));
  const decided = h('div', {});
  /** The content that was drawn last: the list is redrawn only if it differs. */
  let drawnLast = '';

  async function load(): Promise<void> {
    try {
      const [waiting, upheld, rejected] = await Promise.all(
        (['open', 'upheld', 'rejected'] as const).map((status) =>
          command('disputes-list', { from: 0, limit: rowsMax, status }),
        ),
      );
      const others = [...upheld!.data, ...rejected!.data].sort((p, q) =>
        (q.decided_at ?? '').localeCompare(p.decided_at ?? ''),
      );
      const names = new Map((await peers.list()).map(({ peer_id, peer_name }) => [peer_id, peer_name]));
      const drawn = JSON.stringify([waiting, others, [...names]]);
      if (drawn === drawnLast) return;
      drawnLast = drawn;
      const cards = (data: readonly DisputeValue[]) => data.map((one) => disputeCard(one, names));
      const rest =
        waiting!.next_from === null
          ? null
          : h('p', { class: 'muted small' }, 'There are more disputes; these are the oldest.');
      fill(
        open,
        waiting!.data.length === 0
          ? empty('No open disputes', 'Peers dispute reports here that they consider wrong.')
          : [...cards(waiting!.data), rest],
      );
      fill(
        decided,
        others.length === 0
          ? empty('No decisions yet', 'Upheld and rejected disputes can be undone here.')
          : cards(others),
      );
    } catch (error) {
      fill(open, h('p', { class: 'notice notice-bad', role: 'alert' }, errorText(error)));
      drawnLast = '';
    }
  }

  function disputeCard(dispute: DisputeValue, names: ReadonlyMap<string, string>): HTMLElement {
    const { dispute_id: id, status, opened_at: openedAt, peer_id: by, subject_hash: subject } = dispute;
    const peer = (peerId: string): Child => link(`peers/${encodeURIComponent(peerId)}`, names.get(peerId) ?? peerId);
    const list = (ids: readonly string[], none: string): Child =>
      ids.length === 0 ? none : ids.flatMap((peerId, i) => [i > 0 && ', ', peer(peerId)]);
    const what = `the dispute of ${head(subject)}`;
    const act = (name: string, run: () => void, look = 'button small'): HTMLElement =>
      button(`${name}…`, run, { class: look, 'aria-label': `${name} ${what}` });
    const actions =
      status === 'open'
        ? [
            act('Reject', () => void decide(dispute, 'reject')),
            act('Uphold', () => void uphold(dispute, names), 'button danger small'),
          ]
        : [act('Undo', () => void decide(dispute, 'undo'))];
    return h(
      'article',
      { class: 'dispute', 'data-dispute': id },
      h('div', { class: 'dispute-head' }, badge(status, looks[status]), time(openedAt)),
      h('blockquote', { class: 'dispute-text' }, dispute.text),
      facts([
        ['Subject', h('code', { class: 'hash' }, subject)],
        ['Disputed by', by === null ? 'a caller without a key' : peer(by)],
        ['Against', dispute.against === null ? 'no peer in particular' : peer(dispute.against)],
        ['Reported by', list(dispute.reporters, 'no longer any peer')],
        ...(status === 'upheld' ? [['Void', list(dispute.voids, 'nothing')] as const] : []),
        ...(dispute.decided_at === null ? [] : [['Decided', time(dispute.decided_at)] as const]),
      ]),
      h('div', { class: 'actions' }, actions),
    );
  }

  async function uphold(dispute: DisputeValue, names: ReadonlyMap<string, string>): Promise<void> {
    const { reporters, against } = dispute;
    const chosen = reporters.map((peerId) => {
      const isMeant = against === null ? reporters.length === 1 : peerId === against;
      return { peerId, box: h('input', { type: 'checkbox', value: peerId, checked: isMeant }) };
    });
    const boxes = chosen.map(({ peerId, box }) =>
      h('label', { class: 'check' }, box, h('span', {}, names.get(peerId) ?? peerId)),
    );
    const isDone = await ask({
      title: 'Uphold this dispute?',
      body: [
        h(
          'p',
          {},
          'The events of these peers about the player no longer count, including later ones. They stay stored; an undo makes them count again.',
        ),
        reporters.length === 0
          ? h('p', { class: 'notice notice-warn' }, 'No peer holds events about this player any more.')
          : h('fieldset', {}, h('legend', {}, 'Whose events become void'), boxes),
      ],
      action: 'Uphold',
      danger: true,
      run: async () => {
        const peerIds = chosen.filter(({ box }) => box.checked).map(({ peerId }) => peerId);
        const named = peerIds.length === 0 ? {} : { peer_ids: peerIds };
        await command('disputes-decide', { decision: 'uphold', dispute_id: dispute.dispute_id, ...named });
      },
    });
    if (isDone) await done('The dispute is upheld.');
  }

  async function decide(dispute: DisputeValue, decision: 'reject' | 'undo'): Promise<void> {
    const [title, effect, notice] = texts[decision];
    const isDone = await ask({
      title,
      body: [h('p', {}, effect)],
      action: decision === 'reject' ? 'Reject' : 'Undo',
      run: async () => {
        await command('disputes-decide', { decision, dispute_id: dispute.dispute_id });
      },
    });
    if (isDone) await done(notice);
  }

  async function done(text: string): Promise<void> {
    notify(text);
    await load();
  }

  const leave = live.subscribe(() => {
    // A control that the operator is about to press must not move.
    if (mayRedraw(open) && mayRedraw(decided)) void load();
  });
  void load();
  const about = h(
    'p',
    { class: 'muted lead' },
    'A peer does not know who reported a player: you decide whose events are void. Texts are shown only to you.',
  );
  const element = h('div', {}, heading('Disputes'), about, card('Waiting for you', open), card('Decided', decided));
  return { title: 'Disputes', element, destroy: leave };
}
