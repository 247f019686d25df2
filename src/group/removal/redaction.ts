/**
 * Removes erased subjects and withdrawn events from the log, for which it walks the chains backwards, and events by
 * their age, from the oldest batch on. Rewrites one bounded piece at a time. Only reads; the actor commits the result.
 */
import type { IdTag } from '../../core/columns/packed-keys.js';
import { getOrMake } from '../../core/get-or-make.js';
import type { Batch } from '../../core/records/batch.js';
import { noSums } from '../../core/records/packed-records.js';
import type { EventAccepted, LogRecord } from '../../core/records/records.js';
import { headOfPair } from '../../core/rules/decide-removal.js';
import { idTagOf } from '../../core/tables/id-tags.js';
import { limits } from '../../limits.js';
import { RecordReader } from '../listing/listing.js';
import type * as pool from '../ports/pool.js';
import { DamagedError, type LogReader } from '../ports/storage.js';
import { batchFrom, type Follower } from '../recovery/recovery.js';

interface Held {
  readonly batch: Batch;
  readonly records: Map<number, LogRecord>;
}

class Replacements {
  readonly #batches: Held[] = [];
  #records = 0;
  #bytes = 0;

  constructor(private readonly log: LogReader) {}

  get full(): boolean {
    return (
      this.#records >= limits.redactionPieceRecords ||
      this.#batches.length >= limits.redactionPieceBatches ||
      this.#bytes >= limits.redactionPieceBytes
    );
  }

  read(seq: number): LogRecord {
    return this.#holding(seq).batch.record(seq);
  }

  replace(seq: number, record: LogRecord): void {
    this.#holding(seq).records.set(seq, record);
    this.#records++;
  }

  rewritten(): Batch[] {
    return this.#batches.filter((b) => b.records.size > 0).map((b) => b.batch.rewrite(b.records));
  }

  #holding(seq: number): Held {
    // Each read of the log copies a whole batch, and a chain passes through the same batch repeatedly.
    const known = this.#batches.find(({ batch }) => batch.holds(seq));
    if (known !== undefined) return known;
    const stored = this.log.at(seq);
    if (stored === undefined) throw new DamagedError(`the log has no record ${seq}`);
    const held = { batch: batchFrom(stored), records: new Map<number, LogRecord>() };
    this.#batches.push(held);
    this.#bytes += stored.bytes.length;
    return held;
  }
}

/** Throws if the log lacks a record of a chain. Calls `yieldCore` before each record; the thread may sleep in it. */
export function redactPiece(log: LogReader, work: pool.RemovalWork, yieldCore: () => void = () => undefined) {
  const tagOf = (eventId: string) => idTagOf(work.tagKey, eventId);
  const replacements = new Replacements(log);
  const events = [...work.events];
  const chains = [...work.chains];
  const erased = new Map<number, number[]>();
  while (events.length > 0 && !replacements.full) {
    yieldCore();
    const seq = events.pop()!;
    const record = replacements.read(seq);
    if (record.type === 'event_accepted') replacements.replace(seq, tombstone(record, tagOf));
  }
  while (chains.length > 0 && !replacements.full) {
    yieldCore();
    const seq = chains.pop()!;
    const record = replacements.read(seq);
    const blank = blanked(record, tagOf);
    if (blank !== null) replacements.replace(seq, blank);
    if (record.type === 'event_accepted') getOrMake(erased, record.peer, () => []).push(seq);
    if ('prev' in record && record.prev > 0) chains.push(record.prev);
  }
  // `subject_erased` keeps the subject until its chains are walked, so that the work can continue after a crash.
  const asking = [...work.erasures];
  while (chains.length === 0 && asking.length > 0 && !replacements.full) forget(replacements, asking.pop()!);
  const isLast = events.length === 0 && chains.length === 0 && asking.length === 0;
  const remaining = isLast ? null : ({ ...work, events, chains, erasures: asking } as const);
  return { type: 'removal', ...rewrittenBy(replacements.rewritten()), erased, remaining } satisfies pool.RemovalPiece;
}

export function rewrittenBy(batches: readonly Batch[]): pool.Rewritten {
  return {
    rewrites: batches.map(({ firstSeq, bytes }) => ({ firstSeq, bytes })),
    digests: batches.map((batch) => [batch.firstSeq, batch.digestNow()] as const),
  };
}

function tombstone(event: EventAccepted, tagOf: (eventId: string) => IdTag): LogRecord {
  return { type: 'event_gone', peer: event.peer, id_tag: tagOf(event.event_id), prev: event.prev };
}

function forget(replacements: Replacements, seq: number): void {
  const asked = replacements.read(seq);
  if (asked.type === 'subject_erased' && asked.subject !== null) replacements.replace(seq, { ...asked, subject: null });
}

export function replacementOf(record: LogRecord, tagOf: (eventId: string) => IdTag): LogRecord {
  if (record.type === 'subject_erased') return { ...record, subject: null };
  return blanked(record, tagOf) ?? record;
}

/** Null if nothing of the record must be removed. */
export function blanked(record: LogRecord, tagOf: (eventId: string) => IdTag): LogRecord | null {
  switch (record.type) {
    case 'event_accepted':
      return tombstone(record, tagOf);
    case 'event_withdrawn': {
      const { hidden: _hidden, counts: _counts, measure: _measure, follows: _follows, ...remaining } = record;
      return { ...remaining, ...noSums };
    }
    case 'evidence_taken_back':
    case 'evidence_kept': {
      const { measure: _measure, follows: _follows, ...remaining } = record;
      return { ...remaining, ...noSums };
    }
    case 'erasure_requested':
    case 'player_allowance_ended':
      return { ...record, subject: null };
    case 'erasure_refused':
      return { ...record, subject: null, reason: '' };
    case 'dispute_opened':
      return { ...record, subject: null, text: '' };
    case 'player_allowed':
      return { ...record, subject: null, note: null };
    default:
      return null;
  }
}

/** The turn that commits the piece carries the sums of its pairs, so the log remains complete. */
export function retentionPiece(
  log: LogReader,
  { after, upTo }: pool.RetentionWork,
  follower: Follower,
): pool.RetentionPiece {
  const tagOf = (eventId: string) => follower.state.idTags.of(eventId);
  const pairs = new Map<string, { readonly subject: Uint8Array; readonly peer: number }>();
  const heads = new RecordReader(log);
  const rewritten: Batch[] = [];
  let end = after;
  let records = 0;
  for (const stored of log.from(after + 1, limits.redactionPieceBatches, limits.redactionPieceBytes)) {
    const batch = batchFrom(stored);
    if (batch.lastSeq > upTo || records >= limits.redactionPieceRecords) break;
    const replaced = new Map<number, LogRecord>();
    for (let seq = batch.firstSeq; seq <= batch.lastSeq; seq++) {
      const record = batch.record(seq);
      const pair = pairOf(record);
      if (pair === null) continue;
      const head = headOfPair(follower.state, pair.subject, pair.peer);
      // The newest sums of an idle pair stay where they are.
      if (record.type === 'evidence_kept' && head === seq) continue;
      replaced.set(seq, blanked(record, tagOf)!);
      const key = `${pair.peer} ${Buffer.from(pair.subject).toString('latin1')}`;
      if (pairs.has(key)) continue;
      const isCarried = head > seq && (follower.carriesSums(head) ?? carriesSums(heads.read(head).record));
      if (!isCarried) pairs.set(key, pair);
    }
    if (replaced.size > 0) rewritten.push(batch.rewrite(replaced));
    end = batch.lastSeq;
    records += batch.count;
  }
  return { type: 'retention', ...rewrittenBy(rewritten), upTo: end, pairs: [...pairs.values()] };
}

/** A withdrawal does not count, because a restore repeats only withdrawals of events in the backup. */
function carriesSums(record: LogRecord): boolean {
  return record.type === 'evidence_kept' && record.subject !== null;
}

/**
 * Returns the pair whose sums leave with a record. The subject is a copy, because a view would keep its whole batch in
 * memory. Null for a withdrawal, too: it only states sums, and a restore needs it.
 */
function pairOf(record: LogRecord): { readonly subject: Uint8Array; readonly peer: number } | null {
  if (record.type !== 'event_accepted' && record.type !== 'evidence_kept') return null;
  const { subject, peer } = record;
  return subject === null ? null : { subject: new Uint8Array(subject), peer };
}
