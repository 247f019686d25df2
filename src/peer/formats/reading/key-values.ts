/** Reads the blocks of a text in Valve's KeyValues form: `"name" { "cell" "value" … }`, with their lines. */
import { bounds } from '../../../client/for-peer.js';
import { breaksIn, type RecordSink, takeCells } from './records.js';

/** Bounded, because the regular expressions of V8 keep a position for each repetition. */
const token = /\s{1,4096}|\/\/|"(?:[^"\\]|\\[\s\S]){0,65536}"|[{}]|[^\s{}"]{1,4096}/y;

/** Passes each block that has values of its own. The cell `key` is the name of the block. */
export function readKeyValues(text: string, sink: RecordSink): void {
  const blocks: { readonly name: string; readonly line: number; readonly cells: Map<string, string> }[] = [];
  let line = 1;
  let hasBlocks = text.trim() === '';
  let name: { readonly text: string; readonly line: number } | null = null;
  /** Returns false if the token is out of place, or a block has too many values. */
  const take = (found: string): boolean => {
    if (found === '{') {
      if (name === null || blocks.length >= bounds.listDepth) return false;
      blocks.push({ name: name.text, line: name.line, cells: new Map() });
      name = null;
      hasBlocks = true;
    } else if (found === '}') {
      const block = name === null ? blocks.pop() : undefined;
      if (block === undefined) return false;
      if (block.cells.size > 0) takeCells(block.cells.set('key', block.name), block.line, sink);
    } else {
      const value = found.startsWith('"') ? found.slice(1, -1).replace(/\\([\s\S])/g, '$1') : found;
      if (name !== null) blocks.at(-1)?.cells.set(name.text.toLowerCase(), value);
      name = name === null ? { text: value, line } : null;
    }
    return blocks.length === 0 || blocks.at(-1)!.cells.size <= bounds.listValues;
  };
  token.lastIndex = 0;
  let isIntact = true;
  while (token.lastIndex < text.length && isIntact) {
    const found = token.exec(text)?.[0] ?? '';
    if (found === '//') {
      const end = text.indexOf('\n', token.lastIndex);
      token.lastIndex = end < 0 ? text.length : end;
    } else isIntact = found !== '' && (found.trim() === '' || take(found));
    line += breaksIn(found);
  }
  if (isIntact && hasBlocks && blocks.length === 0 && name === null) return;
  sink.damaged(blocks.at(-1)?.line ?? line, 'the list is damaged here, so that nothing from this entry on can be read');
}
