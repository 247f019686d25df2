/**
 * The records of one pair of peer and player, newest first, as far as a withdrawal must know them: a `ban_lifted` hides what its peer had lowered before,
 * and what is hidden comes back with its withdrawal.
 */
import { takesBack } from './event-types.js';
import type { LogRecord } from './records.js';

/** One record of a chain, without what no withdrawal looks at. */
export interface ChainLink {
  readonly seq: number;
  /** Of an event that is there, withdrawn or not: its mass, and whether it takes back. */
  readonly event: { readonly mass: number; readonly takesBack: boolean } | null;
  /** Of a record that states sums: the lowering one. */
  readonly lowering: number | null;
  /** Of a withdrawal of an event that was hidden: the event, by what it was hidden, and the mass that is no longer. */
  readonly unhidden: { readonly eventSeq: number; readonly under: number; readonly mass: number } | null;
}

/** Null for a record that belongs to no chain. `seq`: its own. */
export function chainLink(seq: number, record: LogRecord): (ChainLink & { readonly prev: number }) | null {
  if (!('prev' in record)) return null;
  const { prev } = record;
  const link = { seq, prev, event: null, lowering: null, unhidden: null };
  if (record.type === 'event_accepted') return { ...link, event: { mass: record.mass, takesBack: takesBack(record) } };
  if (record.type === 'event_gone') return link;
  const stated = { ...link, lowering: record.lowering };
  if (record.type !== 'event_withdrawn' || record.hidden === undefined) return stated;
  return { ...stated, unhidden: { eventSeq: record.event_seq, ...record.hidden } };
}

/**
 * The chain from record `head` on down to the event `eventSeq`; of one that takes back on to the next record that states sums, which what it hid can be
 * added up from. What lies at `retired` or before is out of the log, and so is what lies beyond `most` records.
 */
export function chainTo(
  read: (seq: number) => LogRecord,
  head: number,
  eventSeq: number,
  retired: number,
  most: number,
): ChainLink[] {
  const chain: ChainLink[] = [];
  let hides = false;
  for (let seq = head; seq > retired && chain.length < most; ) {
    const link = chainLink(seq, read(seq));
    if (link === null) break;
    const { prev, ...rest } = link;
    chain.push(rest);
    if (seq === eventSeq) hides = rest.event?.takesBack ?? false;
    if (seq <= eventSeq && (!hides || (seq < eventSeq && rest.lowering !== null))) break;
    seq = prev;
  }
  return chain;
}
