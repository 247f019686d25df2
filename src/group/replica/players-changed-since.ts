/** Finds the players that changed after a log record, for a reader that another node served before. */
import type { GroupState } from '../../core/state.js';
import { limits } from '../../limits.js';
import { reachOf, type TouchedRows } from '../feed/change-table.js';
import type { LogReader } from '../ports/log.js';
import { batchFrom } from '../recovery/recovery.js';

/**
 * Returns null if the records cannot tell: a player was erased, so the log no longer names it, or they are too many.
 */
export function playersChangedSince(log: LogReader, state: GroupState, seq: number): TouchedRows | null {
  if (seq > state.lastSeq || state.lastSeq - seq > limits.streamResumeRecordsMax) return null;
  const touched = new Set<number>();
  let isAll = false;
  for (let next = seq + 1; next <= state.lastSeq; ) {
    const stored = log.from(next, limits.catchUpBatches, limits.catchUpBytes);
    if (stored.length === 0) return null;
    for (const one of stored) {
      const batch = batchFrom(one);
      for (let at = Math.max(next, batch.firstSeq); at <= Math.min(batch.lastSeq, state.lastSeq); at++) {
        const reach = reachOf(batch.record(at), state);
        if (reach === 'erased') return null;
        if (reach === 'all') isAll = true;
        else if (reach !== null && reach >= 0) touched.add(reach);
      }
      next = batch.lastSeq + 1;
      if (next > state.lastSeq) break;
    }
  }
  return isAll ? 'all' : touched;
}
