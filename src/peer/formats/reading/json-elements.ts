/** Reads the elements of one JSON array with their lines. Numbers keep their text: ids exceed a double. */
import { visit } from 'jsonc-parser';
import { bounds } from '../../../client/bounds.js';
import { cellTooLong, type Json, objectOf, type RecordSink } from './records.js';

export interface ElementSink extends Pick<RecordSink, 'damaged' | 'isRepeated'> {
  /** `row`: the text of the element. */
  element(value: Json, line: number, row: string): void;
}

interface Frame {
  readonly isArray: boolean;
  /** The value under construction; null outside of an element. */
  readonly value: Json[] | Record<string, Json> | null;
  /** True if the frame is the array whose elements are read. */
  readonly isTarget: boolean;
  key: string;
}

class Damage extends Error {}

/** Reads the array at `path`, which holds the keys from the root. Returns false if an intact text has none. */
export function readElements(text: string, path: readonly string[], sink: ElementSink): boolean {
  const frames: Frame[] = [];
  let elementLine = 0;
  let elementStart = 0;
  let isFound = false;
  const isPath = () =>
    frames.length === path.length && frames.every(({ isArray, key }, at) => !isArray && key === path[at]);
  const add = (value: Json, offset: number, line: number, end: number | null) => {
    const { value: parent = null, key = '', isTarget = false } = frames.at(-1) ?? {};
    if (isTarget) {
      elementLine = line + 1;
      elementStart = offset;
      if (end !== null) pass(value, end);
    } else if (Array.isArray(parent)) parent.push(value);
    else if (parent !== null) parent[key] = value;
  };
  const pass = (value: Json, end: number) => {
    const row = text.slice(elementStart, end);
    if (!sink.isRepeated?.(row, elementLine)) sink.element(value, elementLine, row);
  };
  const fail = (line: number, reason = 'the JSON is damaged here'): never => {
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
    const isTarget = !isInside && isArray && isPath();
    isFound ||= isTarget;
    frames.push({ isArray, value, isTarget, key: '' });
  };
  const end = (offset: number, line: number, bracket: string) => {
    // The parser also reports the end of a structure that was never closed.
    if (text[offset] !== bracket) fail(line);
    const value = frames.pop()?.value ?? null;
    if (value !== null && frames.at(-1)?.isTarget) pass(value, offset + 1);
  };
  try {
    visit(
      text,
      {
        onObjectBegin: (offset, _length, line) => begin(false, offset, line),
        onArrayBegin: (offset, _length, line) => begin(true, offset, line),
        onObjectProperty: (name, _offset, length, line) => {
          if (length > bounds.listCell) fail(line, cellTooLong);
          frames.at(-1)!.key = name;
        },
        onObjectEnd: (offset, _length, line) => end(offset, line, '}'),
        onArrayEnd: (offset, _length, line) => end(offset, line, ']'),
        onLiteralValue: (value: string | number | boolean | null, offset, length, line) => {
          if (length > bounds.listCell) fail(line, cellTooLong);
          const literal = typeof value === 'number' ? text.slice(offset, offset + length) : value;
          add(literal, offset, line, offset + length);
        },
        onError: (_code, _offset, _length, line) => fail(line),
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
  const damaged = () => {
    found.length = 0;
  };
  readElements(`[${line}]`, [], { element: (value) => found.push(value), damaged });
  return found.length === 1 ? objectOf(found[0]) : null;
}
