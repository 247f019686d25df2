/**
 * Tables and pages of the bench. A table is data, and is written as text, HTML or Markdown. A page needs no script and
 * no other file.
 */

export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Whether the page marks the row, by the index of the row. */
  readonly missed?: readonly boolean[];
}

/** A column: its heading, and the cell of a row. */
export type Column<Row> = readonly [head: string, cell: (row: Row) => string];

export function columnTable<Row>(
  heading: string,
  columns: readonly Column<Row>[],
  rows: readonly (readonly [label: string, row: Row])[],
): Table {
  return {
    head: [heading, ...columns.map(([head]) => head)],
    rows: rows.map(([label, row]) => [label, ...columns.map(([, cell]) => cell(row))]),
  };
}

export function tableText({ head, rows }: Table): string {
  return alignColumns([head, ...rows]);
}

/** Aligns the first column to the left, the others to the right. */
export function alignColumns(lines: readonly (readonly string[])[]): string {
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

export function tableMarkdown({ head, rows }: Table): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

export function tableHtml({ head, rows, missed = [] }: Table): string {
  const cells = (tag: string, line: readonly string[]) =>
    line.map((cell) => `<${tag}>${escapeHtml(cell)}</${tag}>`).join('');
  const lines = rows.map((line, i) => `<tr${missed[i] ? ' class="missed"' : ''}>${cells('td', line)}</tr>`);
  return `<div class="wide"><table><tr>${cells('th', head)}</tr>\n${lines.join('\n')}</table></div>`;
}

export function page(heading: string, subtitle: string, sections: readonly string[]): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(heading)}</title>
<style>
:root { color-scheme: light dark; --ink: #222; --paper: #fff; --shade: #f5f5f5; --grid: #e5e5e5; --missed: #b30000 }
@media (prefers-color-scheme: dark) { :root { --ink: #ddd; --paper: #16181c; --shade: #20242a; --grid: #333941; --missed: #ff8a80 } }
body { font: 14px/1.4 system-ui, sans-serif; margin: 2em auto; padding: 0 1em; max-width: 1000px; color: var(--ink); background: var(--paper) }
.wide { overflow-x: auto } .key { margin-right: 1em; white-space: nowrap }
table { border-collapse: collapse; font-size: 12px } td, th { padding: 2px 8px; text-align: right; white-space: nowrap }
td:first-child, th:first-child { text-align: left } tr:nth-child(even) { background: var(--shade) }
.missed { color: var(--missed); font-weight: bold }
svg text { font: 11px system-ui, sans-serif; fill: currentColor } svg .grid { stroke: var(--grid) }
</style>
<h1>${escapeHtml(heading)}</h1>
<p>${escapeHtml(subtitle)}</p>
${sections.join('\n')}
</html>
`;
}

export function escapeHtml(words: string): string {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
