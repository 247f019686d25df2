/**
 * Memory of tables, which grow by pieces and keep them for good. In shared memory, though nobody shares it: V8 counts
 * any other buffer as pressure on its heap, and for each 64 MB of them stops everything for a collection of some 4 ms
 * that frees nothing.
 */
export function tableMemory(bytes: number): SharedArrayBuffer {
  return new SharedArrayBuffer(bytes);
}

/** A piece of a table of rows. */
export class Segment {
  readonly words: Uint32Array;
  /** For doubles: rows lie on whole words, not on whole doubles. */
  readonly view: DataView;

  constructor(words: number) {
    const memory = tableMemory(words * 4);
    this.words = new Uint32Array(memory);
    this.view = new DataView(memory);
  }
}
