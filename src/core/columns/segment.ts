/**
 * Allocates the memory of tables, which grow by segments and never release them. Segments are shared memory although no
 * other thread reads them: V8 counts any other buffer as pressure on its heap and starts a garbage collection of about
 * 4 ms for each 64 MB, which frees nothing.
 */
export function tableMemory(bytes: number): SharedArrayBuffer {
  return new SharedArrayBuffer(bytes);
}

export class Segment {
  readonly words: Uint32Array;
  readonly view: DataView;

  constructor(words: number) {
    const memory = tableMemory(words * 4);
    this.words = new Uint32Array(memory);
    this.view = new DataView(memory);
  }
}

/** Returns a column of twice the length with the same content, in memory of its own. */
export function doubled<Column extends Float64Array | Float32Array | Uint32Array | Uint16Array | Uint8Array>(
  column: Column,
): Column {
  const wider = new (column.constructor as new (length: number) => Column)(2 * column.length);
  wider.set(column);
  return wider;
}
