/**
 * Removes events by their age, batch by batch from the oldest on. The turn that commits a piece carries the sums of its
 * pairs, so the log remains complete. Only reads.
 */

import type { IdTag } from '../../core/columns/packed-keys.js';
import type { Batch } from '../../core/records/batch.js';
import type { LogRecord } from '../../core/records/records.js';
import { headOfPair } from '../../core/rules/decide-removal.js';
import { limits } from '../../limits.js';
import { RecordReader } from '../listing/listing.js';
import type { LogReader } from '../ports/log.js';
import type { RedactionPiece, RedactionWork, RetentionPiece, RetentionWork } from '../ports/pool.js';
import { batchFrom, type Follower } from '../recovery/recovery.js';
import { blanked, redactPiece, rewrittenBy } from './redaction.js';

/** For a removal the follower only computes tags, and may lag behind the log. */
export function removeExpired(log: LogReader, work: RedactionWork, follower: Follower): RedactionPiece {
  const tagOf = (eventId: string) => follower.state.idTags.of(eventId);
  return work.type === 'removal' ? redactPiece(log, work, tagOf) : retentionPiece(log, work, tagOf, follower);
}

function retentionPiece(
  log: LogReader,
  { after, upTo }: RetentionWork,
  tagOf: (eventId: string) => IdTag,
  follower: Follower,
): RetentionPiece {
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
  switch (record.type) {
    case 'event_accepted':
      return { subject: new Uint8Array(record.subject), peer: record.peer };
    case 'evidence_kept':
      return record.subject === null ? null : { subject: new Uint8Array(record.subject), peer: record.peer };
    default:
      return null;
  }
}
