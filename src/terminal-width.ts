/** Tells how wide the output of a command may be. The two commands share no other code of terminals. */

/**
 * Returns the columns of a terminal; infinite for a file or a pipe, and for a terminal of 0 columns, such as a
 * container's without a set size.
 */
export function terminalWidth({ isTTY, columns }: { readonly isTTY: boolean; readonly columns: number }): number {
  return isTTY && columns > 0 ? columns : Number.POSITIVE_INFINITY;
}
