/** Counts the players of a group by verdict, over all of them or over every n-th if there are very many. */

import type { AsOf } from '../evidence/decay.js';
import type { GroupState } from '../state.js';
import type { Verdict } from '../vocabulary.js';
import { readTrust } from './allowed.js';

export interface VerdictCounts {
  readonly counts: Readonly<Record<Verdict, number>>;
  /** Number of examined players: fewer than `players` if only a sample was examined. */
  readonly sampled: number;
  readonly players: number;
  readonly seq: number;
}

/** Examines at most `rowsMax` rows, evenly spread over the players in their order of first report. */
export function countVerdicts(state: GroupState, asOf: AsOf, rowsMax: number): VerdictCounts {
  const { subjects } = state;
  const counts: Record<Verdict, number> = { trusted: 0, neutral: 0, suspicious: 0, untrusted: 0 };
  const step = Math.max(1, Math.ceil(subjects.rows / rowsMax));
  let sampled = 0;
  for (let row = 0; row < subjects.rows; row += step) {
    if (!subjects.has(row)) continue;
    counts[readTrust(state, row, asOf).verdict]++;
    sampled++;
  }
  return { counts, sampled, players: subjects.size, seq: state.lastSeq };
}
