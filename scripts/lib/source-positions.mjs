/**
 * Maps positions in compiled files back to their sources, in text such as a printed stack. A process that maps its own
 * positions would read and parse the map of every module that it loads, long before anything fails.
 */
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const compiledPosition = /(?:file:\/\/)?(\/[^\s()'"]+?\.js):(\d+):(\d+)/g;

/** Returns the text with each position in a compiled file replaced; one without a map stays as it is. */
export function withSourcePositions(text) {
  const maps = new Map();
  const mapOf = (path) => {
    if (!maps.has(path)) maps.set(path, readMap(path));
    return maps.get(path);
  };
  return text.replace(compiledPosition, (position, path, line, column) => {
    const compiled = position.startsWith('file:') ? fileURLToPath(`file://${path}`) : path;
    const entry = mapOf(compiled)?.findEntry(Number(line) - 1, Number(column) - 1);
    if (entry?.originalSource === undefined) return position;
    const source = resolve(dirname(compiled), entry.originalSource);
    return `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
  });
}

function readMap(path) {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${path}.map`, 'utf8')));
  } catch {
    return undefined;
  }
}
