/** Searches bytes for many marks in one pass, however many marks there are and however alike they begin. */

import { getOrMake } from '../../src/core/get-or-make.js';

/** A mark is looked up by its first bytes; the first two of them decide whether a lookup is worthwhile. */
const startBytes = 4;

/** Marks with the same first bytes: their names by their text, one map for each length. */
type Alike = Map<number, Map<string, string[]>>;

export class ByteSearch {
  readonly #marks = new Map<number, Alike>();
  /** 1 for the first two bytes of each mark, most significant first. */
  readonly #isStart = new Uint8Array(1 << 16);

  /** Throws `RangeError` if a mark is shorter than 4 bytes. */
  constructor(marks: Iterable<readonly [name: string, bytes: Buffer]>) {
    for (const [name, bytes] of marks) {
      if (bytes.length < startBytes) throw new RangeError(`a mark must have ${startBytes} bytes or more: ${name}`);
      const start = bytes.readInt32BE(0);
      this.#isStart[start >>> 16] = 1;
      const alike = getOrMake(this.#marks, start, (): Alike => new Map());
      const byText = getOrMake(alike, bytes.length, () => new Map<string, string[]>());
      getOrMake(byText, bytes.toString('latin1'), (): string[] => []).push(name);
    }
  }

  /** Returns the names of the marks that `bytes` contains, in order of their first place. */
  namesIn(bytes: Buffer): string[] {
    const found = new Set<string>();
    const isStart = this.#isStart;
    const end = bytes.length - startBytes;
    let two = bytes.length > 0 ? bytes[0]! : 0;
    for (let at = 0; at <= end; at++) {
      two = ((two << 8) | bytes[at + 1]!) & 0xffff;
      if (isStart[two] === 0) continue;
      for (const [length, names] of this.#marks.get(bytes.readInt32BE(at)) ?? []) {
        for (const name of names.get(bytes.toString('latin1', at, at + length)) ?? []) found.add(name);
      }
    }
    return [...found];
  }
}
