/** Rows of the players, read side by side. */

import { type AsOf, decayFactorFor } from '../../evidence/decay.js';
import type { EvidenceSubjects, EvidenceView } from '../../tables/evidence-view.js';
import type { RowColumns } from '../../tables/subjects.js';

export const BLOCK_ROWS = 256;
/** So many entries apart, the entries of two rows still lie near each other. */
const NEAR = 64;
/** Part of a block's rows whose entries may lie elsewhere without being fetched beforehand. */
const ASTRAY_MAX = 1 / 8;

/** Some rows that follow each other, with their entries at hand. */
export class RowBlock implements RowColumns {
  size = 0;
  readonly count = new Uint16Array(BLOCK_ROWS);
  readonly first = new Uint32Array(BLOCK_ROWS);
  readonly evidenceAt = new Float64Array(BLOCK_ROWS);
  readonly home = new Uint16Array(BLOCK_ROWS);
  /** Of their evidence, at the moment that they were read for. */
  readonly decayFactor = new Float64Array(BLOCK_ROWS);

  read(state: EvidenceView, from: number, asOf: AsOf): void {
    const { subjects } = state;
    const end = Math.min(subjects.rows, from + BLOCK_ROWS);
    this.size = end - from;
    subjects.readRows(from, end, this);
    for (let i = 0; i < this.size; i++) this.decayFactor[i] = decayFactorFor(state, this.evidenceAt[i]!, asOf);
    if (!this.#lieInOrder()) this.#prefetch(subjects.entries);
  }

  /**
   * Whether the entries of most rows lie near those of the row before, as a start lays them out: the processor fetches
   * these by itself.
   */
  #lieInOrder(): boolean {
    const { size, first } = this;
    let astray = 0;
    for (let i = 1; i < size; i++) astray += Math.abs(first[i]! - first[i - 1]!) > NEAR ? 1 : 0;
    return astray < size * ASTRAY_MAX;
  }

  /**
   * Reads the entries, so that the memory behind comes side by side: one after the other, each would be waited for.
   * Returns a sum that means nothing; without it a compiler could leave the reading out.
   */
  #prefetch(entries: EvidenceSubjects['entries']): number {
    const { size, first, count } = this;
    let sum = 0;
    for (let i = 0; i < size; i++) if (count[i]! > 0) sum += entries.prefetch(first[i]!, count[i]!);
    return sum;
  }
}
