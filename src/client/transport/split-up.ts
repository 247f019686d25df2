/** Splits the items of one call of the game server into calls that the node accepts. */

/** Returns parts within both bounds, in order; a larger item is a part of its own. A comma follows each item. */
export function splitUp<T>(
  items: readonly T[],
  countMax: number,
  bytesMax: number,
  bytesOf: (item: T) => number,
): T[][] {
  const parts: T[][] = [];
  let room = 0;
  for (const item of items) {
    const bytes = bytesOf(item) + 1;
    const last = parts.at(-1);
    if (last === undefined || last.length === countMax || bytes > room) {
      parts.push([item]);
      room = bytesMax - bytes;
    } else {
      last.push(item);
      room -= bytes;
    }
  }
  return parts;
}
