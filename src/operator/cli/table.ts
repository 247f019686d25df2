/**
 * Text for terminals: aligned columns that fit the terminal's width, with nothing in them that a terminal would obey.
 * Infinity as a width fits everything.
 */

export type Cell = string | number;

const GAP = '  ';
/** No column of words is made narrower than this, nor than its head. */
const COLUMN_MIN = 8;

/** `text` with whatever steers a terminal or turns its writing round made visible: peers choose their own names. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, (found) => `<${found.codePointAt(0)?.toString(16)}>`);
}

/** `line` in at most `width` characters, the last one `…` where something is missing. */
export function cutLine(line: string, width: number): string {
  const characters = [...line];
  return characters.length <= width ? line : `${characters.slice(0, Math.max(0, width - 1)).join('')}…`;
}

/** Names on the left, what they stand for on the right, broken into lines where it is too long; nothing is cut. */
export function facts(rows: readonly (readonly [name: string, value: Cell])[], width: number): string[] {
  const indent = Math.max(0, ...rows.map(([name]) => lengthOf(name))) + GAP.length;
  return rows.flatMap(([name, value]) => {
    const [first = '', ...more] = broken(printable(String(value)), width - indent);
    return [`${name.padEnd(indent)}${first}`, ...more.map((line) => ' '.repeat(indent) + line)];
  });
}

/**
 * Rows under their heads, numbers to the right. Where they are too wide, columns of words are cut, the widest first,
 * but never one of `whole`; where not even that fits, each row becomes a block of its own, in which nothing is cut.
 */
export function table(
  rows: readonly (readonly Cell[])[],
  width: number,
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
  if (widths === null) return blocks(rows, width, heads);
  return lines.map((line) =>
    line
      .map((cell, i) => {
        const text = cutLine(cell, widths[i]!);
        const blanks = ' '.repeat(widths[i]! - lengthOf(text));
        return toRight[i] ? blanks + text : text + blanks;
      })
      .join(GAP)
      .trimEnd(),
  );
}

function blocks(rows: readonly (readonly Cell[])[], width: number, heads: readonly string[]): string[] {
  return rows.flatMap((row, n) => {
    const lines = facts(
      heads.map((head, i) => [head, row[i] ?? ''] as const).filter(([, cell]) => cell !== ''),
      width,
    );
    return n === 0 ? lines : ['', ...lines];
  });
}

/** Widths that come to at most `room`, taken from the widest columns first; null where not even the least ones do. */
function fitted(natural: readonly number[], least: readonly number[], room: number): number[] | null {
  const widths = [...natural];
  let over = widths.reduce((sum, width) => sum + width, 0) - room;
  for (; over > 0; over--) {
    let widest = -1;
    for (const [i, width] of widths.entries()) {
      if (width > least[i]! && width > (widths[widest] ?? 0)) widest = i;
    }
    if (widest < 0) return null;
    widths[widest]!--;
  }
  return widths;
}

/** `text` in lines of at most `width` characters, at blanks where there are some. */
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
