/** Reads the elements of a JSON array, or the members of an object. Numbers keep their text: ids exceed a double. */
import { visit } from 'jsonc-parser';
import { bounds } from '../../../client/for-peer.js';
import { cellTooLong, type Json, objectOf, type RecordSink } from './records.js';

export interface ElementSink extends Pick<RecordSink, 'damaged' | 'isRepeated'> {
  element(value: Json, line: number, row: string): void;
}

interface Frame {
  readonly isArray: boolean;
  /** The value under construction; null outside of an element. */
  readonly value: Json[] | Record<string, Json> | null;
  /** True if the elements or members of the frame are read. */
  readonly isTarget: boolean;
  key: string;
}

class Damage extends Error {}

const entryTooLong = `an entry with the blanks around it is longer than ${bounds.listCell} characters`;
/** Escapes of a string and blanks that the scanner would keep in memory one by one. */
const tooMany = new RegExp(
  String.raw`(?<!\\)"(?:[^"\\]*\\[^]){${bounds.listCell}}|(?<![ \t])[ \t]{${bounds.listCell}}`,
);

/**
 * Reads the array at `path`, which holds the keys from the root. If it ends in `*`, it leads to an object, whose
 * members are read with their names as `key`. Returns false if an intact text has none.
 */
export function readElements(list: string, path: readonly string[], sink: ElementSink): boolean {
  const long = tooMany.exec(list);
  const text = long === null ? list : list.slice(0, long.index + long[0].length);
  const isKeyed = path.at(-1) === '*';
  const frames: Frame[] = [];
  let elementLine = 0;
  let elementStart = 0;
  let isFound = false;
  const isPath = () =>
    frames.length + Number(isKeyed) === path.length &&
    frames.every(({ isArray, key }, at) => !isArray && key === path[at]);
  const add = (value: Json, offset: number, line: number, end: number | null) => {
    const { value: parent = null, key = '', isTarget = false } = frames.at(-1) ?? {};
    if (isTarget) {
      elementLine = line + 1;
      if (!isKeyed) elementStart = offset;
      if (end !== null) pass(value, end);
    } else if (parent !== null && offset - elementStart > bounds.listCell) fail(line, entryTooLong);
    else if (Array.isArray(parent)) parent.push(value);
    else if (parent !== null) parent[key] = value;
  };
  const pass = (value: Json, end: number) => {
    if (end - elementStart > bounds.listCell) fail(elementLine - 1, entryTooLong);
    const row = text.slice(elementStart, end);
    const { key } = frames.at(-1)!;
    const element = isKeyed ? { ...(objectOf(value) ?? { value }), key } : value;
    if (!sink.isRepeated?.(row, elementLine)) sink.element(element, elementLine, row);
  };
  const reasonAt = (offset: number) =>
    long !== null && offset >= long.index ? entryTooLong : 'the JSON is damaged here';
  const fail = (line: number, reason: string): never => {
    const isInElement = frames.some(({ value }) => value !== null);
    sink.damaged(isInElement ? elementLine : line + 1, `${reason}, so that nothing from this entry on can be read`);
    throw new Damage();
  };
  const begin = (isArray: boolean, offset: number, line: number) => {
    const parent = frames.at(-1);
    const isInside = parent !== undefined && (parent.isTarget || parent.value !== null);
    const value: Frame['value'] = isInside ? (isArray ? [] : Object.create(null)) : null;
    if (value !== null) add(value, offset, line, null);
    // The parser calls itself for each level.
    if (frames.length === bounds.listDepth) fail(line, `the JSON is nested deeper than ${bounds.listDepth} levels`);
    const isTarget = !isInside && isArray !== isKeyed && isPath();
    isFound ||= isTarget;
    frames.push({ isArray, value, isTarget, key: '' });
  };
  const end = (offset: number, line: number, bracket: string) => {
    // The parser also reports the end of a structure that was never closed.
    if (text[offset] !== bracket) fail(line, reasonAt(offset));
    const value = frames.pop()?.value ?? null;
    if (value !== null && frames.at(-1)?.isTarget) pass(value, offset + 1);
  };
  try {
    visit(
      text,
      {
        onObjectBegin: (offset, _length, line) => begin(false, offset, line),
        onArrayBegin: (offset, _length, line) => begin(true, offset, line),
        onObjectProperty: (name, offset, length, line) => {
          if (length > bounds.listCell) fail(line, cellTooLong);
          const frame = frames.at(-1)!;
          frame.key = name;
          if (isKeyed && frame.isTarget) elementStart = offset;
        },
        onObjectEnd: (offset, _length, line) => end(offset, line, '}'),
        onArrayEnd: (offset, _length, line) => end(offset, line, ']'),
        onLiteralValue: (value: string | number | boolean | null, offset, length, line) => {
          if (length > bounds.listCell) fail(line, cellTooLong);
          const literal = typeof value === 'number' ? text.slice(offset, offset + length) : value;
          add(literal, offset, line, offset + length);
        },
        onError: (_code, offset, _length, line) => fail(line, reasonAt(offset)),
      },
      { disallowComments: true },
    );
  } catch (error) {
    if (!(error instanceof Damage)) throw error;
    return true;
  }
  return isFound;
}

/** Returns the object that a line holds; null if it holds none, or more. */
export function objectIn(line: string): Json | null {
  const found: Json[] = [];
  readElements(`[${line}]`, [], { element: (value) => found.push(value), damaged: () => void found.splice(0) });
  return found.length === 1 ? objectOf(found[0]) : null;
}
