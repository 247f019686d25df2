/** The pieces of the bench's pages: one file each, complete in itself, without a script and with nothing from elsewhere. */

export function page(heading: string, subtitle: string, sections: readonly string[]): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${text(heading)}</title>
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
<h1>${text(heading)}</h1>
<p>${text(subtitle)}</p>
${sections.join('\n')}
</html>
`;
}

export function table(
  head: readonly string[],
  body: readonly (readonly string[])[],
  missed: readonly boolean[] = [],
): string {
  const cells = (tag: string, line: readonly string[]) => line.map((cell) => `<${tag}>${text(cell)}</${tag}>`).join('');
  const lines = body.map((line, i) => `<tr${missed[i] ? ' class="missed"' : ''}>${cells('td', line)}</tr>`);
  return `<div class="wide"><table><tr>${cells('th', head)}</tr>\n${lines.join('\n')}</table></div>`;
}

export function text(words: string): string {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
