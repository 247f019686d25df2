/** Reads a block of consecutive rows of the players into columns. */

import { type AsOf, decayFactorFor, measureFactorFor } from '../../evidence/decay.js';
import type { EvidenceSubjects, EvidenceView } from '../../tables/evidence-view.js';
import type { RowColumns } from '../../tables/subjects.js';
import type { OriginVotes } from './origin-votes.js';
import type { VoteColumns } from './votes.js';

export const BLOCK_ROWS = 256;

export class RowBlock implements RowColumns {
  size = 0;
  readonly count = new Uint16Array(BLOCK_ROWS);
  readonly first = new Uint32Array(BLOCK_ROWS);
  readonly evidenceAt = new Float64Array(BLOCK_ROWS);
  readonly home = new Uint16Array(BLOCK_ROWS);
  /** Decay factors of each row's claims and measures, for the time of the read. */
  readonly decayFactor = new Float64Array(BLOCK_ROWS);
  readonly measureFactor = new Float64Array(BLOCK_ROWS);

  read(state: EvidenceView, from: number, asOf: AsOf): void {
    const { subjects } = state;
    const end = Math.min(subjects.rows, from + BLOCK_ROWS);
    this.size = end - from;
    subjects.readRows(from, end, this);
    for (let i = 0; i < this.size; i++) {
      this.decayFactor[i] = decayFactorFor(state, this.evidenceAt[i]!, asOf);
      this.measureFactor[i] = measureFactorFor(state, this.evidenceAt[i]!, asOf);
    }
    this.#prefetch(subjects.entries);
  }

  /** Prefetches the entries. Returns a sum of the words, without which a compiler could drop the reads. */
  #prefetch(entries: EvidenceSubjects['entries']): number {
    const { size, first, count } = this;
    let sum = 0;
    for (let i = 0; i < size; i++) if (count[i]! > 0) sum += entries.prefetch(first[i]!, count[i]!);
    return sum;
  }
}

export function putRow(
  entries: EvidenceSubjects['entries'],
  { first, count, decayFactor, measureFactor }: RowBlock,
  i: number,
  to: VoteColumns,
  origins: OriginVotes | null,
): number {
  const end = entries.putVotes(first[i]!, count[i]!, decayFactor, measureFactor, i, to, to.end);
  return origins === null ? end : origins.merge(to, to.end, end);
}
