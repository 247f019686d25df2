/**
 * Reads the elements of one array in a JSON text, one at a time, with their lines. Numbers keep their text, since ids
 * have more digits than a double holds. A damaged text yields the elements before the damage.
 */
import { visit } from 'jsonc-parser';
import { bounds } from '../../../client/bounds.js';
import { cellTooLong } from './lines.js';

export class JsonNumber {
  constructor(readonly text: string) {}
}

export type JsonObject = { readonly [key: string]: Json | undefined };
export type Json = string | boolean | null | JsonNumber | readonly Json[] | JsonObject;

export interface ElementSink {
  element(value: Json, line: number): void;
  /** Called if the text cannot be read from this line on; nothing after it is read. */
  damaged(line: number, reason: string): void;
}

interface Frame {
  readonly isArray: boolean;
  /** The value under construction; null outside of an element. */
  readonly value: Json[] | Record<string, Json> | null;
  /** True if the frame is the array whose elements are read. */
  readonly isTarget: boolean;
  key: string;
}

/** Ends a visit at the first damage. */
class Damage extends Error {}

const damage = new Damage('the JSON text is damaged');

/** Reads the array at `path`, which holds the keys from the root. With `root`, the root itself is the only element. */
export function readElements(text: string, path: readonly string[] | 'root', sink: ElementSink): void {
  const frames: Frame[] = [];
  let elementLine = 0;

  const isTarget = (isArray: boolean) =>
    path !== 'root' &&
    isArray &&
    frames.length === path.length &&
    frames.every((frame, at) => !frame.isArray && frame.key === path[at]);
  const startsElement = (parent: Frame | undefined) => (parent === undefined ? path === 'root' : parent.isTarget);
  const add = (parent: Frame | undefined, value: Json) => {
    if (parent === undefined || parent.value === null) return;
    if (Array.isArray(parent.value)) parent.value.push(value);
    else parent.value[parent.key] = value;
  };
  const fail = (line: number, reason = 'the JSON is damaged here'): never => {
    const isInElement = frames.some(({ value }) => value !== null);
    sink.damaged(isInElement ? elementLine : line + 1, `${reason}, so that nothing from this entry on can be read`);
    throw damage;
  };
  const begin = (isArray: boolean, line: number) => {
    const parent = frames.at(-1);
    const isElement = startsElement(parent);
    const isInside = isElement || (parent !== undefined && parent.value !== null);
    const value: Frame['value'] = isInside ? (isArray ? [] : Object.create(null)) : null;
    if (isElement) elementLine = line + 1;
    else if (value !== null) add(parent, value);
    // The parser calls itself for each level.
    if (frames.length === bounds.listDepth) fail(line, `the JSON is nested deeper than ${bounds.listDepth} levels`);
    frames.push({ isArray, value, isTarget: !isInside && isTarget(isArray), key: '' });
  };
  const end = (offset: number, line: number, bracket: string) => {
    // The parser also reports the end of a structure that was never closed.
    if (text[offset] !== bracket) fail(line);
    const frame = frames.pop();
    const isElement = frame !== undefined && frame.value !== null && startsElement(frames.at(-1));
    if (isElement) sink.element(frame.value!, elementLine);
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
          const parent = frames.at(-1);
          const literal = typeof value === 'number' ? new JsonNumber(text.slice(offset, offset + length)) : value;
          if (startsElement(parent)) sink.element(literal, line + 1);
          else add(parent, literal);
        },
        onError: (_code, _offset, _length, line) => fail(line),
      },
      { disallowComments: true },
    );
  } catch (error) {
    if (!(error instanceof Damage)) throw error;
  }
}

/** Returns the value as an object; null if it is none. */
export function objectOf(value: Json | undefined): JsonObject | null {
  const isObject =
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber);
  return isObject ? (value as JsonObject) : null;
}

export function arrayOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

/** Returns a string or a number as text; undefined for any other value. */
export function textOf(value: Json | undefined): string | undefined {
  if (typeof value === 'string') return value;
  return value instanceof JsonNumber ? value.text : undefined;
}
