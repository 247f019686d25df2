/** Shows the audit log, newest entries first, and checks its chain and the whole store. */

import type { AuditEntryValue } from '../../../../operations/log.js';
import type { ListedPeerValue } from '../../../../operations/peers.js';
import type { ChainReport } from '../../../protocol/audit-chain.js';
import { command, errorText, post } from '../api.js';
import { button, card, empty, fill, h, table } from '../dom.js';
import { count, head, plural, words } from '../format.js';
import { notify } from '../notice.js';
import { heading, link, mayRedraw, time, type View, type ViewContext } from '../view.js';

const pageSize = 50;
const columns = [
  { title: 'Record', number: true },
  { title: 'At' },
  { title: 'Action' },
  { title: 'By' },
  { title: 'Target' },
  { title: 'Hash' },
];

export function auditView({ live, peers }: ViewContext): View {
  const list = h('div', {}, h('p', { class: 'muted' }, 'Loading…'));
  const more = button('Show older entries', () => void older(), { hidden: true });
  const result = h('div', { role: 'status' });
  let listed: readonly ListedPeerValue[] = [];
  let entries: readonly AuditEntryValue[] = [];
  let isWhole = false;
  let seenSeq = -1;

  /** Adds new entries and the names that were not listed yet; a failed read is repeated at the next update. */
  async function follow(seq: number): Promise<void> {
    // The element with the focus must not move while the operator uses it.
    if (!mayRedraw(list)) return;
    try {
      const isMore = seq !== seenSeq && (await newest());
      seenSeq = seq;
      if (isMore || (await peers.list()) !== listed) await show();
    } catch (error) {
      notify(errorText(error), 'bad');
    }
  }

  /** Resolves with true if there were new entries. */
  async function newest(): Promise<boolean> {
    const { data } = await command('audit-tail', { count: pageSize });
    const newestSeq = data.at(-1)?.seq ?? 0;
    if (newestSeq === (entries[0]?.seq ?? -1)) return false;
    // If no entry is known already, some may be missing between the page and the list: the list then starts over with
    // the page.
    const known = new Set(entries.map(({ seq }) => seq));
    const meets = entries.length === 0 || data.some(({ seq }) => known.has(seq));
    const fresh = data.filter(({ seq }) => !known.has(seq)).toReversed();
    entries = meets ? [...fresh, ...entries] : fresh;
    if (!meets || known.size === 0) isWhole = data.length < pageSize;
    return true;
  }

  async function older(): Promise<void> {
    more.disabled = true;
    try {
      const { data } = await command('audit-tail', { count: pageSize, before: entries.at(-1)?.seq ?? 1 });
      isWhole = data.length < pageSize;
      entries = [...entries, ...data.toReversed()];
      await show();
    } catch (error) {
      notify(errorText(error), 'bad');
    }
    more.disabled = false;
  }

  async function show(): Promise<void> {
    listed = await peers.list();
    const names = new Map(listed.map(({ peer_id, peer_name }) => [peer_id, peer_name]));
    const rows = entries.map(({ seq, at, action, actor, target, hash }) => [
      count(seq),
      time(at),
      words(action),
      named(actor, names),
      named(target, names),
      h('code', { title: hash }, head(hash)),
    ]);
    fill(
      list,
      rows.length === 0
        ? empty('No entries', 'The first entry is the creation of the group.')
        : h('div', { class: 'scroll' }, table('Audit log', columns, rows)),
    );
    more.hidden = isWhole;
  }

  async function check(what: HTMLButtonElement, run: () => Promise<HTMLElement>): Promise<void> {
    what.disabled = true;
    what.setAttribute('aria-busy', 'true');
    fill(result, h('p', { class: 'muted' }, 'Checking…'));
    try {
      fill(result, await run());
    } catch (error) {
      fill(result, h('p', { class: 'notice notice-bad' }, errorText(error)));
    }
    what.disabled = false;
    what.removeAttribute('aria-busy');
  }

  const chain = button('Verify the chain', () => void check(chain, checkedChain), { class: 'button primary' });
  const store = button('Verify the whole store', () => void check(store, checkedStore));
  const leave = live.subscribe(({ status }) => void follow(status.last_seq));
  const element = h('div', {}, heading('Audit', chain, store), result, card('Entries', list, more));
  return { title: 'Audit', element, destroy: leave };
}

/** A peer's id as its name with a link to the peer, so that no peer can pass for an operator; any other id as it is. */
function named(id: string, names: ReadonlyMap<string, string>): HTMLElement {
  const name = names.get(id);
  const text = /^[\da-f-]{32,}$/.test(id) ? head(id, 12) : id;
  return h(
    'span',
    { class: 'cut', title: id },
    name === undefined ? text : link(`peers/${encodeURIComponent(id)}`, name),
  );
}

async function checkedChain(): Promise<HTMLElement> {
  const { entries, head_hash, first_broken } = await post<ChainReport>('audit-check', {});
  if (first_broken !== null) {
    return h(
      'p',
      { class: 'notice notice-bad' },
      `The entry at record ${count(first_broken.seq)} ${first_broken.fault}.`,
    );
  }
  const text = `The chain is intact: ${entries === 1 ? '1 entry' : `${count(entries)} entries`}, head`;
  return h('p', { class: 'notice notice-good' }, text, h('code', { class: 'hash' }, head_hash));
}

async function checkedStore(): Promise<HTMLElement> {
  const { ok, batches, records, snapshots, faults } = await command('verify', {});
  if (!ok) return h('p', { class: 'notice notice-bad' }, `The store is damaged: ${faults.join('; ')}`);
  const text = `The store is intact: ${plural(records, 'record')} in ${count(batches)} batches, ${plural(snapshots.length, 'snapshot')}.`;
  return h('p', { class: 'notice notice-good' }, text);
}
