/** The pieces of the bench's pages: one file each, complete in itself, without a script and with nothing from elsewhere. */

export function page(heading: string, subtitle: string, sections: readonly string[]): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>${text(heading)}</title>
<style>
body { font: 14px/1.4 system-ui, sans-serif; margin: 2em auto; max-width: 1000px; color: #222 }
table { border-collapse: collapse; font-size: 12px } td, th { padding: 2px 8px; text-align: right }
td:first-child, th:first-child { text-align: left } tr:nth-child(even) { background: #f5f5f5 }
.missed { color: #b30000; font-weight: bold } svg text { font: 11px system-ui, sans-serif } .key { margin-right: 1em; white-space: nowrap }
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
  return `<table><tr>${cells('th', head)}</tr>\n${lines.join('\n')}</table>`;
}

export function text(words: string): string {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
