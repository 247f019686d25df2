/** Copies keys of subjects and tags of event ids. Frequent loops are unrolled: a tenth of a replay is spent here. */

export const KEY_WORDS = 8;
export const KEY_BYTES = KEY_WORDS * 4;

/** A subject's hash: `KEY_WORDS` little-endian words of a column, starting at `at`. */
export interface SubjectKey {
  readonly words: Uint32Array;
  readonly at: number;
}

export const TAG_WORDS = 5;

export function copyKey(from: Uint32Array, at: number, words: Uint32Array, to: number): void {
  words[to] = from[at]!;
  words[to + 1] = from[at + 1]!;
  words[to + 2] = from[at + 2]!;
  words[to + 3] = from[at + 3]!;
  words[to + 4] = from[at + 4]!;
  words[to + 5] = from[at + 5]!;
  words[to + 6] = from[at + 6]!;
  words[to + 7] = from[at + 7]!;
}

export function sameKey(one: Uint32Array, at: number, other: Uint32Array, from: number): boolean {
  return (
    one[at] === other[from] &&
    one[at + 1] === other[from + 1] &&
    one[at + 2] === other[from + 2] &&
    one[at + 3] === other[from + 3] &&
    one[at + 4] === other[from + 4] &&
    one[at + 5] === other[from + 5] &&
    one[at + 6] === other[from + 6] &&
    one[at + 7] === other[from + 7]
  );
}

/** Reads the little-endian key at byte `at`. */
export function readKey(view: DataView, at: number, words: Uint32Array, to: number): void {
  words[to] = view.getUint32(at, true);
  words[to + 1] = view.getUint32(at + 4, true);
  words[to + 2] = view.getUint32(at + 8, true);
  words[to + 3] = view.getUint32(at + 12, true);
  words[to + 4] = view.getUint32(at + 16, true);
  words[to + 5] = view.getUint32(at + 20, true);
  words[to + 6] = view.getUint32(at + 24, true);
  words[to + 7] = view.getUint32(at + 28, true);
}

export function encodeKey(words: Uint32Array, at: number, view: DataView, to: number): void {
  for (let i = 0; i < KEY_WORDS; i++) view.setUint32(to + 4 * i, words[at + i]!, true);
}

export function copyTag(from: Uint16Array, at: number, words: Uint16Array, to: number): void {
  words[to] = from[at]!;
  words[to + 1] = from[at + 1]!;
  words[to + 2] = from[at + 2]!;
  words[to + 3] = from[at + 3]!;
  words[to + 4] = from[at + 4]!;
}

export function copyTagBytes(from: Uint16Array, at: number, words: Uint32Array, to: number): void {
  for (let i = 0; i < TAG_WORDS; i++) {
    words[to + 2 * i] = from[at + i]! & 255;
    words[to + 2 * i + 1] = from[at + i]! >>> 8;
  }
}

/** Reads the little-endian tag at byte `at`. */
export function readTag(view: DataView, at: number, words: Uint16Array, to: number): void {
  words[to] = view.getUint16(at, true);
  words[to + 1] = view.getUint16(at + 2, true);
  words[to + 2] = view.getUint16(at + 4, true);
  words[to + 3] = view.getUint16(at + 6, true);
  words[to + 4] = view.getUint16(at + 8, true);
}

export function encodeTag(words: Uint16Array, at: number, view: DataView, to: number): void {
  for (let i = 0; i < TAG_WORDS; i++) view.setUint16(to + 2 * i, words[at + i]!, true);
}

/** An event id's tag as a latin1 string: 10 characters with codes from 0 to 255. */
export type IdTag = string;

export const ID_TAG_BYTES = 10;

export function writeTag(tag: IdTag, words: Uint16Array, at: number): void {
  for (let i = 0; i < TAG_WORDS; i++) words[at + i] = tag.charCodeAt(2 * i) | (tag.charCodeAt(2 * i + 1) << 8);
}
