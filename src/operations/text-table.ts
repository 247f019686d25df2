/** Formats text for terminals: aligned columns that fit the width, if it is finite, without control characters. */

export type Cell = string | number;

const GAP = '  ';
/** Least width of a text column, unless its head is wider. */
const COLUMN_MIN = 8;

/** Escapes characters that control a terminal or reverse its text: peers choose their own names. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, (found) => `<${found.codePointAt(0)?.toString(16)}>`);
}

export function plural(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** In millions of bytes, as disks are sold. */
export function mb(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** Truncates `line` to `width` characters; the last one is `…` if something is missing. */
export function cutLine(line: string, width: number): string {
  const characters = [...line];
  return characters.length <= width ? line : `${characters.slice(0, Math.max(0, width - 1)).join('')}…`;
}

/** The same with the `…` in the middle: the ends of ids and names tell them apart. */
export function cutMiddle(text: string, width: number): string {
  const characters = [...text];
  if (characters.length <= width) return text;
  const end = Math.floor((width - 1) / 2);
  return `${characters.slice(0, width - 1 - end).join('')}…${characters.slice(characters.length - end).join('')}`;
}

/** Formats names on the left and values on the right. Long values are wrapped, and nothing is truncated. */
export function facts(width: number, rows: readonly (readonly [name: string, value: Cell])[]): string[] {
  const indent = Math.max(0, ...rows.map(([name]) => lengthOf(name))) + GAP.length;
  return rows.flatMap(([name, value]) => {
    const [first = '', ...more] = broken(printable(String(value)), width - indent);
    return [`${name.padEnd(indent)}${first}`, ...more.map((line) => ' '.repeat(indent) + line)];
  });
}

/**
 * Formats rows under their heads, numbers to the right. Too wide, text columns are cut, the widest first, in the middle
 * but for the last column, except those in `whole`; if that is not enough, each row becomes a block of its own.
 */
export function table(
  width: number,
  rows: readonly (readonly Cell[])[],
  heads: readonly string[],
  whole: readonly string[] = [],
): string[] {
  const lines = [heads, ...rows].map((row) => row.map((cell) => printable(String(cell))));
  const toRight = (rows[0] ?? []).map((cell) => typeof cell === 'number');
  const natural = heads.map((_, i) => Math.max(...lines.map((line) => lengthOf(line[i] ?? ''))));
  const least = heads.map((head, i) =>
    toRight[i] || whole.includes(head) ? natural[i]! : Math.min(natural[i]!, Math.max(COLUMN_MIN, lengthOf(head))),
  );
  const widths = fitted(natural, least, width - GAP.length * (heads.length - 1));
  if (widths === null) return blocks(width, rows, heads);
  return lines.map((line) =>
    line
      .map((cell, i) => {
        const text = i === line.length - 1 ? cutLine(cell, widths[i]!) : cutMiddle(cell, widths[i]!);
        const blanks = ' '.repeat(widths[i]! - lengthOf(text));
        return toRight[i] ? blanks + text : text + blanks;
      })
      .join(GAP)
      .trimEnd(),
  );
}

/** The same with a column for each head, which shows a cell of each row. */
export function columns<R>(
  width: number,
  whole: readonly string[],
  rows: readonly R[],
  shown: readonly (readonly [head: string, cell: (row: R) => Cell])[],
): string[] {
  const heads = shown.map(([head]) => head);
  const cells = rows.map((row) => shown.map(([, cell]) => cell(row)));
  return table(width, cells, heads, whole);
}

function blocks(width: number, rows: readonly (readonly Cell[])[], heads: readonly string[]): string[] {
  return rows.flatMap((row, n) => {
    const cells = heads.map((head, i) => [head, row[i] ?? ''] as const).filter(([, cell]) => cell !== '');
    const lines = facts(width, cells);
    return n === 0 ? lines : ['', ...lines];
  });
}

/** Returns widths with a sum of at most `room`, the widest reduced first; null if even the least widths exceed it. */
function fitted(natural: readonly number[], least: readonly number[], room: number): number[] | null {
  const widths = [...natural];
  let over = widths.reduce((sum, width) => sum + width, 0) - room;
  for (; over > 0; over--) {
    let widest = -1;
    for (const [i, width] of widths.entries()) if (width > least[i]! && width > (widths[widest] ?? 0)) widest = i;
    if (widest < 0) return null;
    widths[widest]!--;
  }
  return widths;
}

function broken(text: string, width: number): string[] {
  const room = Math.max(1, width);
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const joined = line === '' ? word : `${line} ${word}`;
    if (lengthOf(joined) <= room) {
      line = joined;
      continue;
    }
    if (line !== '') lines.push(line);
    const characters = [...word];
    while (characters.length > room) lines.push(characters.splice(0, room).join(''));
    line = characters.join('');
  }
  return [...lines, line];
}

function lengthOf(text: string): number {
  return [...text].length;
}
