/**
 * The number of a pair of peers among all, from 0 on; `j < k`. So many pairs have the peers below `k` among each other
 * as `pairOf(0, k)` says.
 */
export function pairOf(j: number, k: number): number {
  return ((k * (k - 1)) >>> 1) + j;
}
