/** Reads the elements of one JSON array with their lines. */
import { bounds } from '../../../client/bounds.js';
import { jsonIn } from '../../../client/json-text.js';
import { cellTooLong, type Json, type RecordSink } from './records.js';

export interface ElementSink extends Pick<RecordSink, 'damaged' | 'isRepeated'> {
  /** `row`: the text of the element. */
  element(value: Json, line: number, row: string): void;
}

/** Its message is the reason. */
class Damage extends Error {}

const damaged = 'the JSON is damaged here';
const [quote, backslash] = [0x22, 0x5c];
const blanks = /[ \t\n\r]*/y;
const scalar = /[^ \t\n\r,:[\]{}"]*/y;
/** A text, or a number where a value may end. */
const textOrNumber =
  /"[^"\\]*(?:\\[\s\S][^"\\]*)*"|(?<![\w.+-])-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?(?=[ \t\n\r]*(?:[,\]}]|$))/g;

/** Reads the array at `path`, which holds the keys from the root. Returns false if an intact text has none. */
export function readElements(text: string, path: readonly string[], sink: ElementSink): boolean {
  let at = 0;
  let line = 1;
  let lineEnd = text.indexOf('\n');
  let isFound = false;
  const next = () => {
    blanks.lastIndex = at;
    blanks.test(text);
    at = blanks.lastIndex;
    for (; lineEnd >= 0 && lineEnd < at; lineEnd = text.indexOf('\n', lineEnd + 1)) line++;
    return text[at];
  };
  const takeIf = (mark: string) => {
    const isNext = next() === mark;
    if (isNext) at++;
    return isNext;
  };
  const expect = (mark: string) => {
    if (!takeIf(mark)) throw new Damage(damaged);
  };
  const each = (close: string, take: () => void) => {
    if (takeIf(close)) return;
    do take();
    while (takeIf(','));
    expect(close);
  };
  const takeRow = (depth: number) => {
    next();
    const start = at;
    at = endOf(text, at, depth);
    return text.slice(start, at);
  };
  /** Takes a value. `rest`: the keys from here to the array; null if it is elsewhere. */
  const take = (rest: readonly string[] | null, depth: number): void => {
    const isArray = rest?.length === 0 && takeIf('[');
    isFound ||= isArray;
    if (isArray) {
      each(']', () => {
        const row = takeRow(depth + 1);
        if (!sink.isRepeated?.(row, line)) sink.element(valueIn(row), line, row);
      });
    } else if (rest !== null && rest.length > 0 && takeIf('{')) {
      each('}', () => {
        const key = next() === '"' ? valueIn(takeRow(depth)) : null;
        expect(':');
        take(key === rest[0] ? rest.slice(1) : null, depth + 1);
      });
    } else valueIn(takeRow(depth));
  };
  try {
    take(path, 0);
    if (next() !== undefined) throw new Damage(damaged);
  } catch (error) {
    if (!(error instanceof Damage)) throw error;
    sink.damaged(line, `${error.message}, so that nothing from this entry on can be read`);
    return true;
  }
  return isFound;
}

function valueIn(row: string): Json {
  const value = jsonOf(row);
  if (value === undefined) throw new Damage(damaged);
  return value;
}

/** Returns the position after the value at `start`, which lies within `depth` others. */
function endOf(text: string, start: number, depth: number): number {
  let open = 0;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    // Both kinds of brackets differ in one bit.
    const bracket = code | 0x20;
    if (code === quote) {
      const end = endOfText(text, at);
      if (end - at > bounds.listCell) throw new Damage(cellTooLong);
      at = end;
    } else if (bracket === 0x7b) open++;
    else if (bracket === 0x7d) open--;
    else if (open === 0) {
      scalar.lastIndex = at;
      scalar.test(text);
      return scalar.lastIndex;
    }
    if (depth + open > bounds.listDepth) throw new Damage(`the JSON is nested deeper than ${bounds.listDepth} levels`);
    if (open <= 0) return at + 1;
  }
  throw new Damage(damaged);
}

/** Returns the position of the quote that closes the one at `start`. */
function endOfText(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let first = at;
    while (text.charCodeAt(first - 1) === backslash) first--;
    if ((at - first) % 2 === 0) return at;
  }
  throw new Damage(damaged);
}

/** Returns the only value that a text holds, with numbers as their texts; undefined if it is not JSON. */
export function jsonOf(text: string): Json | undefined {
  return jsonIn(
    text.replace(textOrNumber, (found) => {
      if (found.length > bounds.listCell) throw new Damage(cellTooLong);
      return found.startsWith('"') ? found : `"${found}"`;
    }),
  ) as Json | undefined;
}
