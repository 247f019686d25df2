/** Tells how wide the output of a command may be. The two commands share no other code of terminals. */

/** Infinite for a file, a pipe, and a terminal of 0 columns, such as a container's without a set size. */
export function terminalWidth({ isTTY, columns }: { readonly isTTY: boolean; readonly columns: number }): number {
  return isTTY && columns > 0 ? columns : Number.POSITIVE_INFINITY;
}
