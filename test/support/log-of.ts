/** A log with the given batches, as a damaged disk would return them. */
import type { LogReader, StoredBatch } from '../../src/group/ports/storage.js';

export function logOf(batches: readonly StoredBatch[]): LogReader {
  const from = (first: number, limit: number) => batches.filter(({ firstSeq }) => firstSeq >= first).slice(0, limit);
  return {
    last: () => batches.at(-1),
    at: (seq) => batches.findLast(({ firstSeq }) => firstSeq <= seq),
    from,
    borrow(first, limit, _maxBytes, take) {
      const borrowed = from(first, limit);
      borrowed.forEach(take);
      return borrowed.length;
    },
    close: async () => undefined,
  };
}
