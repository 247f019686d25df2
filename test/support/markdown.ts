/** What tests need of a Markdown page: its headings as anchors, its links, its blocks of code. */

/** The anchors of a page's headings, as GitHub makes them. */
export function anchorsOf(page: string): Set<string> {
  const headings = withoutCode(page).matchAll(/^#{1,6} (.+)$/gm);
  return new Set(Array.from(headings, ([, text]) => anchorOf(text!)));
}

export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

/** Targets of the links on a page. */
export function linksOf(page: string): string[] {
  return Array.from(withoutCode(page).matchAll(/\]\(([^)\s]+)\)/g), ([, target]) => target!);
}

/** The text of every block of code in one of these languages, its indentation taken off. */
export function blocksOf(page: string, languages: readonly string[]): string[] {
  const blocks = page.matchAll(/^( *)```(\w*)\n([\s\S]*?)^ *```$/gm);
  return Array.from(blocks)
    .filter(([, , language]) => languages.includes(language!))
    .map(([, indent, , text]) => text!.replaceAll(new RegExp(`^${indent}`, 'gm'), ''));
}

function withoutCode(page: string): string {
  return page.replace(/^ *```[\s\S]*?^ *```$/gm, '');
}
