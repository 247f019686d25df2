/**
 * Splits loops over millions of players or entries into blocks, so that V8 compiles them well and the thread can yield.
 */

/** Items of a block: so few that V8 compiles between two calls and not during one. */
export const BLOCK = 512;

/**
 * Calls `take` for `count` items, block by block, and `yieldCore` after each block. A single loop over all items would
 * be compiled while it runs, without knowledge of the code after it, and deoptimised there: the first eight
 * computations of a process compiled much of their code anew and took a third longer.
 */
export function inBlocks(count: number, yieldCore: () => void, take: (from: number, to: number) => void): void {
  for (let from = 0; from < count; from += BLOCK) {
    take(from, Math.min(count, from + BLOCK));
    yieldCore();
  }
}
