/**
 * The records of one pair of peer and player, newest first, as far as a withdrawal must know them: a `ban_lifted` hides
 * what its peer had lowered before, what is hidden comes back with its withdrawal, and an event that repeats another
 * counts once that one is withdrawn.
 */
import { type EventTypeId, revokesLowering } from '../evidence/event-types.js';
import type { EventAccepted, LogRecord } from './records.js';

/** One record of a chain, without what no withdrawal looks at. */
export interface ChainLink {
  readonly seq: number;
  /** Of an event that is there, withdrawn or not. */
  readonly event: ChainEvent | null;
  /** Of a record that states sums: the lowering one. */
  readonly lowering: number | null;
  /** Of a withdrawal: what changed of what events that take back hide. */
  readonly unhidden: readonly Unhidden[];
  /** Of a withdrawal: the event that repeated the withdrawn one and counts since; 0 for none. */
  readonly counts: number;
}

export interface ChainEvent {
  readonly type: EventTypeId;
  readonly timestamp: number;
  readonly mass: number;
  readonly revokesLowering: boolean;
  /** Whether it was accepted as one that repeats another. */
  readonly repeats: boolean;
}

/**
 * Mass that the event `under` no longer hides, below 0 where it hides more; `since`: the record from which on it was
 * part of the pair's sums.
 */
export interface Unhidden {
  readonly since: number;
  readonly under: number;
  readonly mass: number;
}

/** Null for a record that belongs to no chain. `seq`: its own. */
export function chainLink(seq: number, record: LogRecord): (ChainLink & { readonly prev: number }) | null {
  if (!('prev' in record)) return null;
  const { prev } = record;
  const link = { seq, prev, event: null, lowering: null, unhidden: [], counts: 0 };
  if (record.type === 'event_accepted') return { ...link, event: chainEvent(record) };
  if (record.type === 'event_gone') return link;
  const stated = { ...link, lowering: record.lowering };
  if (record.type !== 'event_withdrawn') return stated;
  const { event_seq, hidden, counts } = record;
  const unhidden: Unhidden[] = [];
  if (hidden !== undefined) unhidden.push({ since: event_seq, ...hidden });
  if (counts?.hidden !== undefined) unhidden.push({ since: seq, ...counts.hidden });
  return { ...stated, unhidden, counts: counts?.event_seq ?? 0 };
}

function chainEvent(record: EventAccepted): ChainEvent {
  const { event_type: type, timestamp, mass, repeats } = record;
  return { type, timestamp, mass, revokesLowering: revokesLowering(record), repeats: repeats !== undefined };
}

/**
 * The chain from record `head` on down to the event `eventSeq`; of one that takes back on to the next record that
 * states sums, which what it hid can be added up from. What lies at `retired` or before is out of the log, and so is
 * what lies beyond `most` records.
 */
export function chainTo(
  read: (seq: number) => LogRecord,
  head: number,
  eventSeq: number,
  expiredSeq: number,
  most: number,
): ChainLink[] {
  const chain: ChainLink[] = [];
  let hides = false;
  for (let seq = head; seq > expiredSeq && chain.length < most; ) {
    const link = chainLink(seq, read(seq));
    if (link === null) break;
    const { prev, ...rest } = link;
    chain.push(rest);
    if (seq === eventSeq) hides = rest.event?.revokesLowering ?? false;
    if (seq <= eventSeq && (!hides || (seq < eventSeq && rest.lowering !== null))) break;
    seq = prev;
  }
  return chain;
}
