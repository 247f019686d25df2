/**
 * Returns the number of the pair of peers `j` and `k` (`j < k <= 65536`) among all pairs, starting at 0.
 * `pairOf(0, k)` is the number of pairs among the peers below `k`.
 */
export function pairOf(j: number, k: number): number {
  return ((k * (k - 1)) >>> 1) + j;
}
