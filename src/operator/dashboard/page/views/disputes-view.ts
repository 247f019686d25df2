/** Shows the disputes of peers, decides them, and undoes decisions. */
import type { DisputeValue } from '../../../../operations/dispute-operations.js';
import { ask } from '../dialog.js';
import { Loaded, type View, type ViewContext } from '../draw.js';
import { asOf, head, plural } from '../format.js';
import { badge, button, type Child, card, empty, facts, html, link, peerLink, peerText, time } from '../html.js';
import { namesOf } from '../listed-peers.js';
import { command } from '../requests.js';

const rowsMax = 200;
const looks = { open: 'suspicious', upheld: 'active', rejected: 'neutral' } as const;
const texts = {
  reject: ['Reject this dispute?', 'The events count as before.', 'Reject', 'The dispute is rejected.'],
  undo: [
    'Undo this decision?',
    'The dispute is open again, and void events count again.',
    'Undo',
    'The dispute is open again.',
  ],
} as const;

type Names = ReadonlyMap<string, string>;

export function disputesView({ peers }: ViewContext): View {
  const disputes = new Loaded(async () => {
    const read = (status: 'open' | 'decided') => command('disputes-list', { from: 0, limit: rowsMax, status });
    const [open, decided] = await Promise.all([read('open'), read('decided')]);
    return { open, decided, names: namesOf(await peers.list()) };
  });

  const after = () => disputes.refresh({ force: true });

  async function uphold(dispute: DisputeValue, names: Names): Promise<void> {
    const { dispute_id, reporters, against, also_named } = dispute;
    const boxes = reporters.map((reporter) => {
      const { peer_id } = reporter;
      const isMeant = also_named.length === 0 && (against === null ? reporters.length === 1 : peer_id === against);
      return html`<label class="check">
        <input type="checkbox" name="peer" value=${peer_id} defaultChecked=${isMeant} />
        <span>${peerText(peer_id, names)}<br /><small class="muted">${evidenceOf(reporter)}</small></span>
      </label>`;
    });
    await ask({
      title: 'Uphold this dispute?',
      body: html`
        <p>
          The events of these peers about the player no longer count, including later ones. They stay stored; an undo
          makes them count again.
        </p>
        ${
          reporters.length === 0
            ? html`<p class="notice notice-warn">No peer holds lowering evidence about this player any more.</p>`
            : html`<fieldset><legend>Whose events become void</legend>${boxes}</fieldset>`
        }`,
      action: 'Uphold',
      danger: true,
      async run(fields) {
        const peer_ids = fields.getAll('peer').map(String);
        // If none is sent, the node takes the only possible peer, whose box the operator has cleared.
        if (peer_ids.length === 0) throw new Error('Choose at least one peer.');
        return command('disputes-decide', { decision: 'uphold', dispute_id, peer_ids });
      },
      notice: 'The dispute is upheld.',
      after,
    });
  }

  async function decide({ dispute_id }: DisputeValue, decision: 'reject' | 'undo'): Promise<void> {
    const [title, effect, action, notice] = texts[decision];
    const run = () => command('disputes-decide', { decision, dispute_id });
    await ask({ title, body: html`<p>${effect}</p>`, action, run, notice, after });
  }

  function disputeCard(dispute: DisputeValue, names: Names): Child {
    const { dispute_id: id, status, peer_id: by, subject_hash: subject, against, voids, decided_at } = dispute;
    const list = (ids: readonly string[], none: string): Child =>
      ids.length === 0 ? none : ids.map((peerId, i) => [i > 0 && ', ', peerLink(peerId, names)]);
    const also = dispute.also_named.map(({ peer_id }) => peer_id);
    const reporters = dispute.reporters.map(
      (reporter) => html`<div>
        ${peerLink(reporter.peer_id, names)}: <span class="muted">${evidenceOf(reporter)}</span>
      </div>`,
    );
    const act = (name: string, run: () => void, look = 'button small'): Child =>
      button(`${name}…`, run, { class: look, 'aria-label': `${name} the dispute of ${head(subject)}` });
    return html`<article class="dispute" data-dispute=${id} key=${id}>
      <div class="dispute-head">${badge(status, looks[status])}${time(dispute.opened_at)}</div>
      <blockquote class="dispute-text">${dispute.text}</blockquote>
      ${facts([
        ['Player', link(`players/${subject}`, subject, { class: 'hash' })],
        ['Disputed by', by === null ? 'a caller without a key' : peerLink(by, names)],
        ['Against', against === null ? 'no peer in particular' : peerLink(against, names)],
        ['Text also names', also.length === 0 ? undefined : list(also, '')],
        ['Lowering evidence', dispute.reporters.length === 0 ? 'no longer of any peer' : reporters],
        ['Void', status === 'upheld' ? list(voids, 'nothing') : undefined],
        ['Decided', decided_at === null ? undefined : time(decided_at)],
      ])}
      <div class="actions">${
        status === 'open'
          ? [
              act('Reject', () => void decide(dispute, 'reject')),
              act('Uphold', () => void uphold(dispute, names), 'button danger small'),
            ]
          : act('Undo', () => void decide(dispute, 'undo'))
      }</div>
    </article>`;
  }

  return {
    title: 'Disputes',
    lead: 'A peer does not know who reported a player: you decide whose events are void. Texts are shown only to you.',
    refresh: () => disputes.refresh(),
    draw: () =>
      disputes.draw(({ open, decided, names }) => {
        const part = (title: string, { data, next_from }: typeof open, none: Child, more: string) => {
          const cards = data.length === 0 ? none : data.map((dispute) => disputeCard(dispute, names));
          return card(title, cards, next_from !== null && html`<p class="muted small">${more}</p>`);
        };
        const noneOpen = empty('No open disputes', 'Peers dispute reports here that they consider wrong.');
        const noneDecided = empty('No decisions yet', 'Upheld and rejected disputes can be undone here.');
        return [
          part('Waiting for you', open, noneOpen, 'There are more disputes; these are the oldest.'),
          part('Decided', decided, noneDecided, 'There are more; these are the last decided ones.'),
        ];
      }),
  };
}

function evidenceOf({ direction, event_count, last_at, weight }: DisputeValue['reporters'][number]): string {
  const direct = direction === 'both' ? 'lowering and raising' : 'lowering';
  return `${plural(event_count, 'event')}, ${direct}, last ${asOf(last_at)}, weight ${weight.toFixed(3)}`;
}
