/** Shows the audit log, newest entries first, and checks its chain and the whole store. */

import type { AuditEntryValue } from '../../../../operations/log-operations.js';
import type { ChainReport } from '../../../protocol/audit-chain.js';
import { Loaded, notify, redraw, type View, type ViewContext } from '../draw.js';
import { count, head, plural, words } from '../format.js';
import { button, type Child, empty, heading, html, peerLink, table, time } from '../html.js';
import { namesOf } from '../listed-peers.js';
import { command, errorText, post } from '../requests.js';

const pageSize = 50;

export function auditView({ live, peers }: ViewContext): View {
  let entries: readonly AuditEntryValue[] = [];
  let isWhole = true;
  let seenSeq = -1;
  let isReading = false;
  let result: Child = null;
  /** Label of the check that runs. */
  let checking: string | null = null;

  const log = new Loaded(async () => {
    const seq = live.overview?.status.last_seq ?? -1;
    if (seq !== seenSeq) await readNewest();
    seenSeq = seq;
    return { entries, names: namesOf(await peers.list()) };
  });

  async function readNewest(): Promise<void> {
    const { data } = await command('audit-tail', { count: pageSize });
    // If no entry is known already, some may be missing between the page and the list: the list then starts over with
    // the page.
    const known = new Set(entries.map(({ seq }) => seq));
    const fresh = data.filter(({ seq }) => !known.has(seq)).toReversed();
    if (known.size > 0 && fresh.length < data.length) entries = [...fresh, ...entries];
    else {
      entries = fresh;
      isWhole = data.length < pageSize;
    }
  }

  async function readOlder(): Promise<void> {
    isReading = true;
    redraw();
    try {
      const { data } = await command('audit-tail', { count: pageSize, before: entries.at(-1)?.seq ?? 1 });
      isWhole = data.length < pageSize;
      entries = [...entries, ...data.toReversed()];
      await log.refresh({ force: true });
    } catch (error) {
      notify(errorText(error), 'bad');
    }
    isReading = false;
    redraw();
  }

  function listOf({ entries: listed, names }: { readonly entries: typeof entries; readonly names: Names }): Child {
    if (listed.length === 0) return empty('No entries', 'The first entry is the creation of the group.');
    const log = table('Audit log', listed, ({ seq }) => seq, [
      { title: 'Record', number: true, cell: ({ seq }) => count(seq) },
      { title: 'At', cell: ({ at }) => time(at) },
      { title: 'Action', cell: ({ action }) => words(action) },
      { title: 'By', cell: ({ actor }) => named(actor, names) },
      { title: 'Target', cell: ({ target }) => named(target, names) },
      { title: 'Hash', cell: ({ hash }) => html`<code title=${hash}>${head(hash)}</code>` },
    ]);
    return html`<div class="scroll">${log}</div>`;
  }

  /** A button that runs a check and shows what it found. */
  function checkButton(label: string, run: () => Promise<Child>, look = 'button'): Child {
    const check = async (): Promise<void> => {
      checking = label;
      result = html`<p class="muted">Checking…</p>`;
      redraw();
      result = await run().catch((error: unknown) => html`<p class="notice notice-bad">${errorText(error)}</p>`);
      checking = null;
      redraw();
    };
    const isBusy = checking === label;
    return button(label, () => void check(), {
      class: look,
      disabled: isBusy,
      'aria-busy': isBusy ? 'true' : undefined,
    });
  }

  return {
    title: 'Audit',
    refresh: () => live.overview !== null && log.refresh(),
    draw: () => html`<div>
      ${heading(
        'Audit',
        checkButton('Verify the chain', checkedChain, 'button primary'),
        checkButton('Verify the whole store', checkedStore),
      )}
      <div role="status">${result}</div>
      <section class="card">
        <h2>Entries</h2>
        ${log.draw(listOf)}
        ${button('Show older entries', () => void readOlder(), { hidden: isWhole, disabled: isReading })}
      </section>
    </div>`,
  };
}

type Names = ReadonlyMap<string, string>;

/** A peer's id as its name with a link to the peer, so that no peer can pass for an operator; any other id as it is. */
function named(id: string, names: Names): Child {
  const text = /^[\da-f-]{32,}$/.test(id) ? head(id, 12) : id;
  return html`<span class="cut" title=${id}>${names.has(id) ? peerLink(id, names) : text}</span>`;
}

async function checkedChain(): Promise<Child> {
  const { entries, head_hash, first_broken } = await post<ChainReport>('audit-check', {});
  if (first_broken !== null) {
    const text = `The entry at record ${count(first_broken.seq)} ${first_broken.fault}.`;
    return html`<p class="notice notice-bad">${text}</p>`;
  }
  const text = `The chain is intact: ${entries === 1 ? '1 entry' : `${count(entries)} entries`}, head`;
  return html`<p class="notice notice-good">${text}<code class="hash">${head_hash}</code></p>`;
}

async function checkedStore(): Promise<Child> {
  const { ok, batches, records, snapshots, faults } = await command('verify', {});
  if (!ok) return html`<p class="notice notice-bad">The store is damaged: ${faults.join('; ')}</p>`;
  const text = `The store is intact: ${plural(records, 'record')} in ${count(batches)} batches, ${plural(snapshots.length, 'snapshot')}.`;
  return html`<p class="notice notice-good">${text}</p>`;
}
