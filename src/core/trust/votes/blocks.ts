/** Loops over millions of players or entries. */

/** Few enough that V8 waits for the next call before it compiles. */
export const BLOCK = 512;

/**
 * Calls back for `count` things, block by block. One loop over all of them would be compiled while it runs, knowing
 * nothing of what comes behind it, and thrown away there: the first eight computations of a process compiled much of
 * their code anew, and took a third longer. `yieldCore` is called after each block.
 */
export function inBlocks(count: number, yieldCore: () => void, take: (from: number, to: number) => void): void {
  for (let from = 0; from < count; from += BLOCK) {
    take(from, Math.min(count, from + BLOCK));
    yieldCore();
  }
}
