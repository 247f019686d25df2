/** Follows the records of a pair, newest first: a withdrawal may restore hidden mass or make a repeat count. */
import { type EventTypeId, revokesLowering } from '../evidence/event-types.js';
import type { EventAccepted, HiddenMass, LogRecord } from './records.js';

/** One record of a chain, reduced to the fields that a withdrawal needs. */
export interface PairRecord {
  readonly seq: number;
  /** The event, whether withdrawn or not, unless its bytes were erased; null for every other record. */
  readonly event: ChainEvent | null;
  /** The lowering sums of claims and of measures, if the record states sums; else null. */
  readonly lowering: LoweringMass | null;
  /** For a withdrawal: changes of the mass that later `ban_lifted` events hide. */
  readonly unhidden: readonly Unhidden[];
  /** For a withdrawal: the event that repeated the withdrawn one and counts from then on; 0 if there is none. */
  readonly counts: number;
}

/** Lowering mass by its kind; negative if it is taken away. */
export interface LoweringMass {
  readonly claims: number;
  readonly measures: number;
}

export interface ChainEvent {
  readonly type: EventTypeId;
  readonly timestamp: number;
  readonly severity: number;
  readonly mass: number;
  readonly revokesLowering: boolean;
  readonly repeats: boolean;
}

/** Mass that `under` no longer hides; negative if more. `since`: the record from which it was part of the sums. */
export interface Unhidden {
  readonly since: number;
  readonly under: number;
  readonly mass: LoweringMass;
}

/** Returns the link of record `seq`, or null if the record belongs to no chain. */
function pairRecord(seq: number, record: LogRecord): (PairRecord & { readonly prev: number }) | null {
  if (!('prev' in record)) return null;
  const { prev } = record;
  const link = { seq, prev, event: null, lowering: null, unhidden: [], counts: 0 };
  if (record.type === 'event_accepted') return { ...link, event: chainEvent(record) };
  if (record.type === 'event_gone') return link;
  const stated = { ...link, lowering: { claims: record.lowering, measures: record.measure ?? 0 } };
  if (record.type !== 'event_withdrawn') return stated;
  const { event_seq, hidden, counts } = record;
  const unhidden: Unhidden[] = [];
  const massOf = ({ mass, measure = 0 }: HiddenMass) => ({ claims: mass, measures: measure });
  if (hidden !== undefined)
    unhidden.push({ since: hidden.since ?? event_seq, under: hidden.under, mass: massOf(hidden) });
  if (counts?.hidden !== undefined)
    unhidden.push({ since: seq, under: counts.hidden.under, mass: massOf(counts.hidden) });
  return { ...stated, unhidden, counts: counts?.event_seq ?? 0 };
}

function chainEvent(record: EventAccepted): ChainEvent {
  const { event_type: type, timestamp, severity, mass, repeats } = record;
  return { type, timestamp, severity, mass, revokesLowering: revokesLowering(record), repeats: repeats !== undefined };
}

/**
 * Returns the chain from record `head` down to an event; if that revokes lowering, on to the next record that states
 * sums, from which the hidden mass follows. Ends at `expiredSeq` and after `most` records.
 */
export function pairRecordsTo(
  read: (seq: number) => LogRecord,
  head: number,
  eventSeq: number,
  expiredSeq: number,
  most: number,
): PairRecord[] {
  const chain: PairRecord[] = [];
  let hides = false;
  for (let seq = head; seq > expiredSeq && chain.length < most; ) {
    const link = pairRecord(seq, read(seq));
    if (link === null) break;
    const { prev, ...rest } = link;
    chain.push(rest);
    if (seq === eventSeq) hides = rest.event?.revokesLowering ?? false;
    if (seq <= eventSeq && (!hides || (seq < eventSeq && rest.lowering !== null))) break;
    seq = prev;
  }
  return chain;
}
