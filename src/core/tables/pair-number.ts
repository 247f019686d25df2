/**
 * Number of a pair of peers among all pairs, from 0 on; `j < k`. `pairOf(0, k)` is the number of pairs among the peers
 * below `k`.
 */
export function pairOf(j: number, k: number): number {
  return ((k * (k - 1)) >>> 1) + j;
}
