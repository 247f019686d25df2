/** Recomputes the chain of the audit log outside the node that stores it. */
import { auditHash, auditStart } from '../../core/records/audit.js';
import type { AuditEntryValue } from '../../operations/log-operations.js';
import type { Values } from '../../operations/table.js';

export async function* auditPages(read: (after: number) => Promise<Values['audit-page']>) {
  for (let after: number | null = 0; after !== null; ) {
    const page: Values['audit-page'] = await read(after);
    yield page.data;
    after = page.next_after;
  }
}

export interface ChainReport {
  readonly ok: boolean;
  readonly entries: number;
  /** Hash of the last valid entry; 64 zeros if there is none. */
  readonly head_hash: string;
  readonly first_broken: { readonly seq: number; readonly fault: string } | null;
}

export async function verifyChain(pages: AsyncIterable<readonly AuditEntryValue[]>): Promise<ChainReport> {
  let head = auditStart;
  let entries = 0;
  for await (const page of pages) {
    for (const entry of page) {
      const fault = breakOf(entry, head);
      if (fault !== undefined) return { ok: false, entries, head_hash: head, first_broken: { seq: entry.seq, fault } };
      head = entry.hash;
      entries += 1;
    }
  }
  return { ok: true, entries, head_hash: head, first_broken: null };
}

function breakOf(entry: AuditEntryValue, head: string): string | undefined {
  if (entry.prev_hash !== head) return 'does not follow the entry before it';
  const hash = auditHash(entry.prev_hash, entry.seq, Date.parse(entry.at), entry);
  return hash === entry.hash ? undefined : 'has a hash that is not that of its content';
}
