/** Reads the blocks of a text in Valve's KeyValues form: `"name" { "cell" "value" … }`, with their lines. */
import type { AttributeSink } from './xml-elements.js';

/** Bounded, because the regular expressions of V8 keep a position for each repetition. */
const token = /\s{1,4096}|\/\/|"(?:[^"\\]|\\[\s\S]){0,65536}"|[{}]|[^\s{}"]{1,4096}/y;
const depthMax = 64;

interface Block {
  readonly name: string;
  readonly line: number;
  readonly cells: Map<string, string>;
}

/** Passes each block that has values of its own. The cell `key` is the name of the block. */
export function readKeyValues(text: string, sink: AttributeSink): void {
  const blocks: Block[] = [];
  let line = 1;
  let name: { readonly text: string; readonly line: number } | null = null;
  /** Returns false if the token is out of place. */
  const take = (found: string, at: number): boolean => {
    if (found === '{') {
      if (name === null || blocks.length >= depthMax) return false;
      blocks.push({ name: name.text, line: name.line, cells: new Map() });
      name = null;
    } else if (found === '}') {
      const block = name === null ? blocks.pop() : undefined;
      if (block === undefined) return false;
      if (block.cells.size > 0) sink.record(block.cells.set('key', block.name), block.line);
    } else {
      const value = found.startsWith('"') ? found.slice(1, -1).replace(/\\([\s\S])/g, '$1') : found;
      if (name !== null) blocks.at(-1)?.cells.set(name.text.toLowerCase(), value);
      name = name === null ? { text: value, line: at } : null;
    }
    return true;
  };
  token.lastIndex = 0;
  let isIntact = true;
  while (token.lastIndex < text.length && isIntact) {
    const at = line;
    const found = token.exec(text)?.[0];
    if (found === '//') {
      const end = text.indexOf('\n', token.lastIndex);
      token.lastIndex = end < 0 ? text.length : end;
    } else if (found === undefined) isIntact = false;
    else {
      for (let end = found.indexOf('\n'); end >= 0; end = found.indexOf('\n', end + 1)) line++;
      isIntact = found.trim() === '' || take(found, at);
    }
  }
  if (isIntact && blocks.length === 0 && name === null) return;
  sink.damaged(blocks.at(-1)?.line ?? line, 'the list is damaged here, so that nothing from this entry on can be read');
}
