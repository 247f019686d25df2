/** Reads records of the log in the pool: listings of a player's events, chains, and repeats. */
import type { RepeatCheck } from '../../core/commands.js';
import { type EventTypeName, eventTypeName } from '../../core/evidence/event-types.js';
import { getOrMake } from '../../core/get-or-make.js';
import type { Batch } from '../../core/records/batch.js';
import { type PairRecord, pairRecordsTo } from '../../core/records/pair-records.js';
import type { EventAccepted, LogRecord } from '../../core/records/records.js';
import { counts } from '../../core/rules/decide-event.js';
import { DAY_MS, limits } from '../../limits.js';
import type { PeerView } from '../access/views.js';
import type * as pool from '../ports/pool.js';
import { DamagedError, type LogReader } from '../ports/storage.js';
import { batchFrom } from '../recovery/recovery.js';

export class RecordReader {
  readonly #recent = new Map<number, Batch>();

  /** A walk calls `yieldCore` before each record; the thread may sleep in it. */
  constructor(
    private readonly log: LogReader,
    private readonly yieldCore: () => void = () => undefined,
  ) {}

  read(seq: number): { readonly record: LogRecord; readonly at: number } {
    this.yieldCore();
    const batch = this.#holding(seq);
    return { record: batch.record(seq), at: batch.at };
  }

  #holding(seq: number): Batch {
    for (const batch of this.#recent.values()) if (batch.holds(seq)) return batch;
    const stored = this.log.at(seq);
    if (stored === undefined) throw new DamagedError(`the log has no record ${seq}`);
    const batch = batchFrom(stored);
    if (!batch.holds(seq)) throw new DamagedError(`the log has no record ${seq}`);
    if (this.#recent.size >= limits.readerCacheBatches) this.#recent.delete(this.#recent.keys().next().value!);
    this.#recent.set(batch.firstSeq, batch);
    return batch;
  }
}

export function readRecords(reader: RecordReader, seqs: readonly number[]): { record: LogRecord; at: number }[] {
  return seqs.map((seq) => {
    const { record, at } = reader.read(seq);
    // A copy: passing a view to another thread would copy the whole batch.
    return record.type === 'event_accepted'
      ? { record: { ...record, subject: new Uint8Array(record.subject) }, at }
      : { record, at };
  });
}

export function readChain(reader: RecordReader, { head, eventSeq, expired }: pool.ChainQuery): PairRecord[] {
  return pairRecordsTo((seq) => reader.read(seq).record, head, eventSeq, expired, limits.walkRecordsMax);
}

/**
 * Walks each chain back once, up to `limits.walkRecordsMax` records, and at most `recordsMax` in all. The caller asks
 * again for the checks that are missing in the answer.
 */
export function readRepeats(
  reader: RecordReader,
  { checks, expired, withdrawn, from }: pool.RepeatQuery,
  recordsMax: number = limits.repeatPieceRecords,
): pool.RepeatsPiece {
  const isWithdrawn = new Set(withdrawn);
  const checksByHead = new Map<number, Set<string>>();
  for (const check of checks) getOrMake(checksByHead, check.head, () => new Set()).add(saidBy(check));
  const found = new Map<number, Map<string, number>>();
  let next: pool.ChainPlace | null = null;
  let left = recordsMax;
  for (const [head, missing] of checksByHead) {
    if (left === 0) break;
    const newest = getOrMake(found, head, () => new Map());
    let { seq, walked } = from?.head === head ? from : { seq: head, walked: 0 };
    const isUnread = () => missing.size > 0 && seq > expired && walked < limits.walkRecordsMax;
    for (; isUnread() && left > 0; walked++, left--) {
      const { record } = reader.read(seq);
      if (record.type === 'event_accepted' && !isWithdrawn.has(seq)) {
        const said = saidBy({ eventType: record.event_type, timestamp: record.timestamp });
        if (missing.delete(said)) newest.set(said, seq);
      }
      seq = 'prev' in record ? record.prev : 0;
    }
    if (isUnread()) next = { head, seq, walked };
    else for (const said of missing) newest.set(said, 0);
  }
  const answers = checks.flatMap((check) => {
    const { index, head } = check;
    const seq = found.get(head)?.get(saidBy(check));
    return seq === undefined ? [] : [{ index, head, seq }];
  });
  return { found: answers, next };
}

/** Returns the fields that two events of one pair have in common if one repeats the other. */
function saidBy({ eventType, timestamp }: Pick<RepeatCheck, 'eventType' | 'timestamp'>): string {
  return `${eventType} ${timestamp}`;
}

/** Null if `from` is no event of this caller about this player. An event that may have expired ends the page. */
export function listEvents(reader: RecordReader, query: pool.ListingQuery): pool.Listing | null {
  const own = query.caller === null ? { events: [], next: null } : ownEvents(reader, query, query.caller);
  if (own === null) return null;
  const newest = newestEvents(reader, query);
  const senders = new Map(query.heads.map(({ peer, sender }) => [peer, sender]));
  const peers = new Set(newest.map(({ event }) => senders.get(event.peer))).size;
  return { summarised: newest.length, summary: summaryOf(newest, peers), own: own.events, next: own.next };
}

/** Returns a page of the caller's chains: one chain for its own events and one for each origin that it carries. */
function ownEvents(
  reader: RecordReader,
  query: pool.ListingQuery,
  caller: number,
): { readonly events: pool.ListedEvent[]; readonly next: readonly number[] | null } | null {
  const events: pool.ListedEvent[] = [];
  const own = query.heads.filter(({ sender }) => sender === caller);
  const chains = query.from === null ? own.map(({ head }) => head) : [...query.from];
  const isOwn = (number: number) => own.some(({ peer }) => peer === number);
  const newest = Math.max(0, ...own.map(({ head }) => head));
  const goOn = () => chains.filter((seq) => seq > query.expired);
  if (chains.some((seq) => seq > newest)) return null;
  for (let steps = 0; steps < limits.walkRecordsMax; steps++) {
    const seq = Math.max(0, ...chains);
    if (seq <= query.expired) return { events, next: null };
    const { record, at } = reader.read(seq);
    if (!('prev' in record) || !isOwn(record.peer)) return null;
    if (record.type === 'event_accepted') {
      if (Buffer.compare(record.subject, query.subject) !== 0) return null;
      if (!query.withdrawn.has(seq)) {
        if (events.length === query.limit) return { events, next: goOn() };
        events.push(listed(seq, at, record));
      }
    }
    chains[chains.indexOf(seq)] = record.prev;
  }
  const next = goOn();
  return { events, next: next.length === 0 ? null : next };
}

export function readPairEvents(reader: RecordReader, { head, expired }: pool.PairEventsQuery): pool.PairEvents {
  const events: pool.ListedEvent[] = [];
  let seq = head;
  let read = 0;
  for (; seq > expired && read < limits.walkRecordsMax; read++) {
    const { record, at } = reader.read(seq);
    if (record.type === 'event_accepted') events.push(listed(seq, at, record));
    seq = 'prev' in record ? record.prev : 0;
  }
  return { events, read, next: seq > expired ? seq : null };
}

/** Leaves out the subject, a view whose whole batch would be copied to the other thread, and the tag. */
function listed(seq: number, receivedAt: number, { subject, id_tag, ...event }: EventAccepted): pool.ListedEvent {
  return { seq, receivedAt, event };
}

/**
 * Merges the chains, newest first. After very many removed events, chains with more than their share of them are
 * abandoned, so that a peer with many withdrawals does not hide the events of others.
 */
function newestEvents(reader: RecordReader, query: pool.ListingQuery): pool.ListedEvent[] {
  const found: pool.ListedEvent[] = [];
  const chains = query.heads.filter(({ head }) => head > query.expired).map(({ head }) => ({ seq: head, gone: 0 }));
  // Half of the walk may meet removed events before chains are abandoned; the others share the other half.
  const tombstonesMax = (limits.walkRecordsMax - limits.summaryEventsMax) / 2;
  const share = tombstonesMax / chains.length;
  let tombstones = 0;
  while (chains.length > 0 && found.length < limits.summaryEventsMax) {
    let newest = 0;
    for (let i = 1; i < chains.length; i++) if (chains[i]!.seq > chains[newest]!.seq) newest = i;
    const chain = chains[newest]!;
    const { record, at } = reader.read(chain.seq);
    if (record.type === 'event_accepted' && !query.withdrawn.has(chain.seq)) found.push(listed(chain.seq, at, record));
    else {
      chain.gone++;
      tombstones++;
    }
    chain.seq = 'prev' in record ? record.prev : 0;
    if (chain.seq <= query.expired || (tombstones > tombstonesMax && chain.gone > share)) chains.splice(newest, 1);
  }
  return found;
}

/** Counts events by type and week; a single row `other` if few peers' rows would reveal who reported. */
function summaryOf(events: readonly pool.ListedEvent[], peers: number): pool.SummaryRow[] {
  if (events.length === 0) return [];
  if (peers < limits.summaryPeersMin) return [{ eventType: 'other', count: events.length }];
  const rows = new Map<string, { eventType: EventTypeName | 'other'; week: string; count: number }>();
  for (const { event } of events) {
    const eventType = eventTypeName(event.event_type);
    const week = isoWeek(event.timestamp);
    getOrMake(rows, `${week} ${eventType}`, () => ({ eventType, week, count: 0 })).count++;
  }
  return [...rows.values()].sort((a, b) => compare(b.week, a.week) || compare(a.eventType, b.eventType));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Returns the ISO 8601 week of a time, such as `2026-W47`; the year is that of the week's Thursday. */
export function isoWeek(at: number): string {
  const day = Math.floor(at / DAY_MS);
  // Day 0 was a Thursday, so (day + 3) counts whole days since a Monday.
  const thursday = day - ((((day + 3) % 7) + 7) % 7) + 3;
  const year = new Date(thursday * DAY_MS).getUTCFullYear();
  const firstOfYear = new Date(0).setUTCFullYear(year, 0, 1) / DAY_MS;
  const week = Math.floor((thursday - firstOfYear) / 7) + 1;
  return `${year < 0 ? '-' : ''}${String(Math.abs(year)).padStart(4, '0')}-W${String(week).padStart(2, '0')}`;
}

/** Returns one of the caller's own events. `isDisputed`: a dispute is open, or an upheld one excludes it. */
export function ownEvent(
  { seq, receivedAt, event }: pool.ListedEvent,
  peer: PeerView,
  heads: readonly pool.ChainHead[],
  isDisputed: boolean,
) {
  const origin = heads.find((head) => head.peer === event.peer)?.origin ?? null;
  return {
    seq,
    schemaVersion: event.schema_version,
    eventId: event.event_id,
    eventType: eventTypeName(event.event_type),
    gameId: peer.gameIds[event.game]!,
    severity: event.severity,
    timestamp: event.timestamp,
    ...(origin === null ? {} : { origin }),
    ...(event.reference === undefined ? {} : { reference: event.reference }),
    ...(isDisputed ? { disputed: true as const } : {}),
    receivedAt,
    ...(counts(event) ? {} : { counts: false as const }),
  };
}

export interface OwnEvent extends Readonly<ReturnType<typeof ownEvent>> {}
