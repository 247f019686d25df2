/** Parses Markdown pages for tests: headings as anchors, links, and blocks of code. */

/** Returns the anchors of a page's headings, as GitHub makes them. */
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

export function linksOf(page: string): string[] {
  return Array.from(withoutCode(page).matchAll(/\]\(([^)\s]+)\)/g), ([, target]) => target!);
}

/** Returns the text of every block of code in one of these languages, without indentation. */
export function blocksOf(page: string, languages: readonly string[]): string[] {
  const blocks = page.matchAll(/^( *)```(\w*)\n([\s\S]*?)^ *```$/gm);
  return Array.from(blocks)
    .filter(([, , language]) => languages.includes(language!))
    .map(([, indent, , text]) => text!.replaceAll(new RegExp(`^${indent}`, 'gm'), ''));
}

const withoutCode = (page: string): string => page.replace(/^ *```[\s\S]*?^ *```$/gm, '');
