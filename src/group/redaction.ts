/**
 * Taking an erased subject or a withdrawn event out of the log: walks the chains backwards and rewrites the batches on the way,
 * one bounded piece at a time. Reads only; the actor commits what comes back.
 */
import { Batch } from '../core/batch.js';
import type { IdTag } from '../core/event-ids.js';
import type { LogRecord } from '../core/records.js';
import { limits } from '../limits.js';
import type { LogReader, StoredBatch } from './ports.js';

/** What is to leave the log: all that names an erased subject, or withdrawn events. */
export interface RedactionWork {
  /** The record that asked for the erasure; null for withdrawals. */
  readonly erasure: number | null;
  /** Chain heads to walk (erasure), or the events themselves (withdrawals). */
  readonly heads: readonly number[];
  /** The log must be read at least up to here. */
  readonly upTo: number;
}

export interface RedactionPiece {
  /** Batches with their new content. */
  readonly rewrites: readonly StoredBatch[];
  /** First sequence number and content digest of each. */
  readonly digests: readonly (readonly [firstSeq: number, digest: string])[];
  /** Where the chains go on; empty when this piece is the last. */
  readonly heads: readonly number[];
}

/** Records to replace, grouped by the batch that holds them. */
class Replacements {
  readonly #log: LogReader;
  readonly #batches = new Map<number, { batch: Batch; records: Map<number, LogRecord> }>();
  #records = 0;
  #bytes = 0;

  constructor(log: LogReader) {
    this.#log = log;
  }

  get full(): boolean {
    return (
      this.#records >= limits.redactionPieceRecords ||
      this.#batches.size >= limits.redactionPieceBatches ||
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
    return [...this.#batches.values()].filter((b) => b.records.size > 0).map((b) => b.batch.rewrite(b.records));
  }

  #holding(seq: number): { batch: Batch; records: Map<number, LogRecord> } {
    const stored = this.#log.at(seq);
    if (stored === undefined) throw new Error(`the log holds no record ${seq}`);
    const known = this.#batches.get(stored.firstSeq);
    if (known !== undefined) return known;
    const found = { batch: new Batch(stored.bytes), records: new Map<number, LogRecord>() };
    this.#batches.set(stored.firstSeq, found);
    this.#bytes += stored.bytes.length;
    return found;
  }
}

/**
 * One piece of the work. The last piece of an erasure also takes the subject out of the record that asked for it. Throws where
 * the log does not hold what the chains promise.
 */
export function redactPiece(
  log: LogReader,
  { erasure, heads }: RedactionWork,
  tagOf: (eventId: string) => IdTag,
): RedactionPiece {
  const replacements = new Replacements(log);
  const chains = [...heads];
  while (chains.length > 0 && !replacements.full) {
    const seq = chains.pop()!;
    const record = replacements.read(seq);
    const blank = blanked(record, erasure !== null, tagOf);
    if (blank !== null) replacements.replace(seq, blank);
    const prev = erasure !== null && 'prev' in record ? record.prev : 0;
    if (prev > 0) chains.push(prev);
  }
  if (chains.length === 0 && erasure !== null) {
    const asked = replacements.read(erasure);
    if (asked.type === 'subject_erased' && asked.subject !== null)
      replacements.replace(erasure, { ...asked, subject: null });
  }
  const batches = replacements.rewritten();
  return {
    rewrites: batches.map((batch) => ({ firstSeq: batch.firstSeq, bytes: batch.bytes })),
    digests: batches.map((batch) => [batch.firstSeq, batch.digestNow()] as const),
    heads: chains,
  };
}

/** What stays of a record; null where nothing of it has to go. */
function blanked(record: LogRecord, isErasure: boolean, tagOf: (eventId: string) => IdTag): LogRecord | null {
  switch (record.type) {
    case 'event_accepted':
      return { type: 'event_gone', peer: record.peer, id_tag: tagOf(record.event_id), prev: record.prev };
    case 'event_withdrawn':
      if (!isErasure) return null;
      return { ...record, subject: null, lowering: 0, raising: 0, count: 0, updated_at: 0, evidence_at: 0 };
    case 'erasure_requested':
      return { ...record, subject: null };
    default:
      return null;
  }
}
