/** How the players of a group spread over the verdicts: a walk over all of them, or over every n-th of very many. */

import type { AsOf } from '../evidence/decay.js';
import type { GroupState } from '../state.js';
import type { Verdict } from '../vocabulary.js';
import { shownTrust } from './allowed.js';

export interface VerdictCounts {
  /** Players looked at, by verdict. */
  readonly counts: Readonly<Record<Verdict, number>>;
  /** Players looked at: fewer than `players` where only a sample was. */
  readonly sampled: number;
  readonly players: number;
  /** The state is the fold of all records up to and including this one. */
  readonly seq: number;
}

/** Looks at `rowsMax` rows at most, evenly spread over the order in which players came. */
export function countVerdicts(state: GroupState, asOf: AsOf, rowsMax: number): VerdictCounts {
  const { subjects } = state;
  const counts: Record<Verdict, number> = { trusted: 0, neutral: 0, suspicious: 0, untrusted: 0 };
  const step = Math.max(1, Math.ceil(subjects.rows / rowsMax));
  let sampled = 0;
  for (let row = 0; row < subjects.rows; row += step) {
    if (!subjects.has(row)) continue;
    counts[shownTrust(state, row, asOf).verdict]++;
    sampled++;
  }
  return { counts, sampled, players: subjects.size, seq: state.lastSeq };
}
