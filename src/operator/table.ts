/** Text for terminals: aligned columns, cut at the terminal's width, with nothing in them that a terminal would obey. */

export type Cell = string | number;

/** `text` with whatever steers a terminal or turns its writing round made visible: peers choose their own names. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, (found) => `<${found.codePointAt(0)?.toString(16)}>`);
}

/** `line` in at most `width` characters, the last one `…` where something is missing. */
export function cutLine(line: string, width: number): string {
  const characters = [...line];
  return characters.length <= width ? line : `${characters.slice(0, Math.max(0, width - 1)).join('')}…`;
}

/** Rows under their heads, numbers to the right; `heads` may be left out. */
export function table(rows: readonly (readonly Cell[])[], width: number, heads?: readonly string[]): string[] {
  const all = (heads === undefined ? rows : [heads, ...rows]).map((row) => row.map((cell) => printable(String(cell))));
  const toRight = (rows[0] ?? []).map((cell) => typeof cell === 'number');
  const widths: number[] = [];
  for (const row of all) for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, [...cell].length);
  return all.map((row) => {
    const cells = row.map((cell, i) => {
      const blanks = ' '.repeat((widths[i] ?? 0) - [...cell].length);
      return toRight[i] ? blanks + cell : cell + blanks;
    });
    return cutLine(cells.join('  ').trimEnd(), width);
  });
}
