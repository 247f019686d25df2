/** Splits loops over millions of items into blocks, so that V8 compiles them well and the thread can yield. */

/** Items of a block: so few that V8 compiles between two calls and not during one. */
export const BLOCK = 512;

/**
 * Calls `take` for `count` items by blocks, and `yieldCore` after each. V8 would compile one loop while it runs, and
 * discard the code at its end: the first eight computations of a process took a third longer.
 */
export function inBlocks(count: number, yieldCore: () => void, take: (from: number, to: number) => void): void {
  for (let from = 0; from < count; from += BLOCK) {
    take(from, Math.min(count, from + BLOCK));
    yieldCore();
  }
}
