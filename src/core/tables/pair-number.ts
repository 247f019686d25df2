/** Returns the number of the pair `j < k <= 65536` from 0 on. `pairOf(0, k)` is the number of pairs below `k`. */
export function pairOf(j: number, k: number): number {
  return ((k * (k - 1)) >>> 1) + j;
}
