/** Rows of the players, read side by side. */
import type { EvidenceSubjects, EvidenceView } from '../evidence-view.js';
import { type Moment, worthFor } from '../score.js';
import type { RowColumns } from '../subjects.js';

export const BLOCK_ROWS = 256;
/** Entries between those of two rows that still lie near each other: some lines of the cache. */
const NEAR = 8;
/** Part of a block's rows whose entries may lie elsewhere without being fetched beforehand. */
const ASTRAY_MAX = 1 / 8;

/** Some rows that follow each other, with their entries at hand. */
export class RowBlock implements RowColumns {
  size = 0;
  readonly count = new Uint16Array(BLOCK_ROWS);
  readonly first = new Uint32Array(BLOCK_ROWS);
  readonly evidenceAt = new Float64Array(BLOCK_ROWS);
  readonly home = new Uint16Array(BLOCK_ROWS);
  /** Of the evidence of those that were weighed. */
  readonly worth = new Float64Array(BLOCK_ROWS);

  /** Of the `BLOCK_ROWS` rows from `from` on those with entries, whose mix is below `below`. */
  read(subjects: EvidenceSubjects, from: number, below: number): void {
    this.size = subjects.readRows(from, Math.min(subjects.rows, from + BLOCK_ROWS), below, this);
    if (!this.#lieInOrder()) this.#warm(subjects.entries);
  }

  /** Works out what the evidence of one of them is worth. */
  weigh(i: number, state: EvidenceView, moment: Moment): void {
    this.worth[i] = worthFor(state, this.evidenceAt[i]!, moment);
  }

  /** Whether the entries of most rows lie near those of the row before, as a start lays them out: the processor fetches these by itself. */
  #lieInOrder(): boolean {
    const { size, first, count } = this;
    let astray = 0;
    for (let i = 1; i < size; i++) astray += Math.abs(first[i]! - first[i - 1]! - count[i - 1]!) > NEAR ? 1 : 0;
    return astray < size * ASTRAY_MAX;
  }

  /**
   * Reads the entries, so that the memory behind comes side by side: one after the other, each would be waited for. Returns a sum that
   * means nothing; without it a compiler could leave the reading out.
   */
  #warm(entries: EvidenceSubjects['entries']): number {
    const { size, first, count } = this;
    let sum = 0;
    for (let i = 0; i < size; i++) sum += entries.warm(first[i]!, count[i]!);
    return sum;
  }
}
