/** Reads the elements of one JSON array with their lines. Numbers keep their text: ids exceed a double. */
import { visit } from 'jsonc-parser';
import { bounds } from '../../../client/bounds.js';
import { cellTooLong, type Json, JsonNumber, type RecordSink } from './records.js';

export interface ElementSink extends Pick<RecordSink, 'damaged'> {
  element(value: Json, line: number): void;
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
  let isFound = false;
  const isPath = () =>
    frames.length === path.length && frames.every(({ isArray, key }, at) => !isArray && key === path[at]);
  const add = (value: Json) => {
    const { value: parent = null, key = '' } = frames.at(-1) ?? {};
    if (Array.isArray(parent)) parent.push(value);
    else if (parent !== null) parent[key] = value;
  };
  const fail = (line: number, reason = 'the JSON is damaged here'): never => {
    const isInElement = frames.some(({ value }) => value !== null);
    sink.damaged(isInElement ? elementLine : line + 1, `${reason}, so that nothing from this entry on can be read`);
    throw new Damage();
  };
  const begin = (isArray: boolean, line: number) => {
    const parent = frames.at(-1);
    const isElement = parent?.isTarget === true;
    const isInside = isElement || (parent !== undefined && parent.value !== null);
    const value: Frame['value'] = isInside ? (isArray ? [] : Object.create(null)) : null;
    if (isElement) elementLine = line + 1;
    else if (value !== null) add(value);
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
    if (value !== null && frames.at(-1)?.isTarget) sink.element(value, elementLine);
  };
  try {
    visit(
      text,
      {
        onObjectBegin: (_offset, _length, line) => begin(false, line),
        onArrayBegin: (_offset, _length, line) => begin(true, line),
        onObjectProperty: (name, _offset, length, line) => {
          if (length > bounds.listCell) fail(line, cellTooLong);
          frames.at(-1)!.key = name;
        },
        onObjectEnd: (offset, _length, line) => end(offset, line, '}'),
        onArrayEnd: (offset, _length, line) => end(offset, line, ']'),
        onLiteralValue: (value: string | number | boolean | null, offset, length, line) => {
          if (length > bounds.listCell) fail(line, cellTooLong);
          const literal = typeof value === 'number' ? new JsonNumber(text.slice(offset, offset + length)) : value;
          if (frames.at(-1)?.isTarget) sink.element(literal, line + 1);
          else add(literal);
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
