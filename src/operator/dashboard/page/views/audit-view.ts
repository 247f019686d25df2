/** Shows the audit log, newest entries first, and checks its chain and the whole store. */
import type { AuditEntryValue } from '../../../../operations/log-operations.js';
import type { ChainReport } from '../../../protocol/audit-chain.js';
import { Loaded, Task, type View, type ViewContext } from '../draw.js';
import { count, head, plural, words } from '../format.js';
import { alert, button, type Child, empty, form, heading, html, peerLink, table, textOf, time } from '../html.js';
import { namesOf } from '../listed-peers.js';
import { command, post } from '../requests.js';

const pageSize = 50;

export function auditView({ live, peers }: ViewContext): View {
  /** The sequence numbers before which the pages begin, from the newest page to the present one. */
  let pages: readonly (number | undefined)[] = [undefined];
  let filter: { readonly actor?: string; readonly action?: string } = {};
  let seenSeq = -1;
  const check = new Task();

  /** The entries of the present page; null if they must be read. */
  let read: Omit<Listed, 'names'> | null = null;

  /** Only the newest page changes; the names may change on each. */
  const log = new Loaded(async (): Promise<Listed> => {
    const seq = live.overview?.status.last_seq ?? -1;
    if (read === null || (pages.length === 1 && seq !== seenSeq)) {
      const before = pages.at(-1);
      const from = before === undefined ? {} : { before };
      const { data, next_before } = await command('audit-tail', { count: pageSize, ...from, ...filter });
      read = { entries: data.toReversed(), next: next_before };
      seenSeq = seq;
    }
    return { ...read, names: namesOf(await peers.list()) };
  });

  async function turn(to: typeof pages): Promise<void> {
    const before = pages;
    pages = to;
    read = null;
    if (await log.refresh({ force: true })) return;
    pages = before;
    read = null;
  }

  const narrow = (fields: FormData): void => {
    const [actor, action] = [textOf(fields, 'actor'), textOf(fields, 'action').replaceAll(' ', '_')];
    filter = { ...(actor === '' ? {} : { actor }), ...(action === '' ? {} : { action }) };
    void turn([undefined]);
  };

  function listOf({ entries: listed, next, names }: Listed): Child {
    const soFar = 'No entry so far matches; older ones were not searched yet.';
    const none = empty('No entries', next === null ? 'No entry of the audit log matches.' : soFar);
    return [
      html`<div class="scroll">${
        table('Audit log', listed, ({ seq }) => seq, [
          { title: 'Record', number: true, cell: ({ seq }) => count(seq) },
          { title: 'At', cell: ({ at }) => time(at) },
          { title: 'Action', cell: ({ action }) => words(action) },
          { title: 'By', cell: ({ actor }) => named(actor, names) },
          { title: 'Target', cell: ({ target }) => named(target, names) },
          { title: 'Hash', cell: ({ hash }) => html`<code title=${hash}>${head(hash)}</code>` },
        ]) ?? none
      }</div>`,
      html`<div class="actions">
        ${button('Newer entries', () => void turn(pages.slice(0, -1)), { disabled: pages.length === 1 })}
        ${button('Older entries', () => void turn([...pages, next ?? undefined]), { disabled: next === null })}
      </div>`,
    ];
  }

  function checkButton(label: string, run: () => Promise<Child>, look = 'button'): Child {
    return button(label, () => void check.run(run), { class: look, disabled: check.isBusy, 'aria-busy': check.isBusy });
  }

  return {
    title: 'Audit',
    refresh: () => live.overview !== null && log.refresh(),
    heading: () =>
      heading(
        'Audit',
        checkButton('Verify the chain', checkedChain, 'button primary'),
        checkButton('Verify the whole store', checkedStore),
      ),
    draw: () => html`
      <div role="status">${check.isBusy ? html`<p class="muted">Checking…</p>` : check.result}</div>
      <section class="card">
        <h2>Entries</h2>
        ${form(
          { class: 'toolbar', role: 'search', action: 'Filter', onSubmit: narrow },
          html`<input name="actor" type="search" placeholder="By: operator or peer id" aria-label="By" maxlength="100" />`,
          html`<input name="action" type="search" placeholder="Action" aria-label="Action" maxlength="100" />`,
        )}
        ${log.draw(listOf)}
      </section>`,
  };
}

type Names = ReadonlyMap<string, string>;

interface Listed {
  readonly entries: readonly AuditEntryValue[];
  /** The page before begins below this record; null if there is none. */
  readonly next: number | null;
  readonly names: Names;
}

/** A peer's id as its name with a link to the peer, so that no peer can pass for an operator; any other id as it is. */
function named(id: string, names: Names): Child {
  const text = /^[\da-f-]{32,}$/.test(id) ? head(id, 12) : id;
  return html`<span class="cut" title=${id}>${names.has(id) ? peerLink(id, names) : text}</span>`;
}

async function checkedChain(): Promise<Child> {
  const { entries, head_hash, first_broken } = await post<ChainReport>('audit-check', {});
  if (first_broken !== null) return alert(`The entry at record ${count(first_broken.seq)} ${first_broken.fault}.`);
  const text = `The chain is intact: ${entries === 1 ? '1 entry' : `${count(entries)} entries`}, head`;
  return html`<p class="notice notice-good">${text}<code class="hash">${head_hash}</code></p>`;
}

async function checkedStore(): Promise<Child> {
  const { ok, batches, records, snapshots, faults } = await command('verify', {});
  if (!ok) return alert(`The store is damaged: ${faults.join('; ')}`);
  const text = `The store is intact: ${plural(records, 'record')} in ${count(batches)} batches, ${plural(snapshots.length, 'snapshot')}.`;
  return html`<p class="notice notice-good">${text}</p>`;
}
