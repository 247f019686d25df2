/** Finds clones: peers whose votes on the same players are equal (docs/SCORING.md, "Witness groups"). */
import type { TrustConstants } from '../evidence/trust-constants.js';
import { AlikePairs } from './alike-pairs.js';
import type { VoteSums } from './sums/vote-sums.js';
import type { Witnesses } from './witnesses.js';

/** Joins peers that share most of the players of the smaller one and vote the same on each. */
export function joinClones(witnesses: Witnesses, votes: VoteSums, c: TrustConstants): void {
  const { reported } = votes;
  const alike = new AlikePairs(witnesses, c);
  votes.showPairs((j, k, sums, at) => {
    const n = sums[at]!;
    if (n < c.cloneSharedMin) return;
    const share = n / Math.max(1, Math.min(reported[j]!, reported[k]!));
    if (share < c.cloneShare) return;
    const [uv, u, v, uu, vv] = [sums[at + 1]!, sums[at + 2]!, sums[at + 3]!, sums[at + 4]!, sums[at + 5]!];
    if ((uu + vv - 2 * uv) / n > c.cloneDifferenceMax) return;
    const variance = Math.min(uu / n - (u / n) ** 2, vv / n - (v / n) ** 2);
    const needed = variance > c.cloneUniformVariance ? c.cloneShare : c.cloneShareUniform;
    if (share >= needed) alike.add(j, k, share);
  });
  alike.join('clones');
}
