/** Stores a column of short UTF-8 strings side by side, such as the ids of a match, without one object per string. */

/** Bytes after the last string that a reader may touch, because readers load several bytes at a time. */
const SPARE_BYTES = 16;
/** Largest number of UTF-8 bytes for one UTF-16 code unit. */
const UNIT_BYTES = 3;

export class ByteStrings {
  bytes: Buffer = Buffer.alloc(4096);
  view: DataView = viewOf(this.bytes);
  count = 0;
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  #end = 0;

  start(i: number): number {
    return this.#starts[i]!;
  }

  /** Length of string `i` in bytes. */
  length(i: number): number {
    return this.#ends[i]! - this.#starts[i]!;
  }

  text(i: number): string {
    return this.bytes.toString('utf8', this.#starts[i]!, this.#ends[i]!);
  }

  copy(): ByteStrings {
    const copied = new ByteStrings();
    for (let i = 0; i < this.count; i++) copied.push(this.text(i));
    return copied;
  }

  clear(): void {
    this.count = 0;
    this.#end = 0;
  }

  push(text: string): void {
    this.#makeRoom(text.length * UNIT_BYTES);
    const { bytes } = this;
    const start = this.#end;
    let units = 0;
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      units |= unit;
      bytes[start + i] = unit;
    }
    this.#close(start, start + (units < 0x80 ? text.length : bytes.write(text, start)));
  }

  /** `joined` must be ASCII, and `separator` one character. */
  pushSplit(joined: string, separator: string): void {
    this.#makeRoom(joined.length);
    const first = this.#end;
    const end = first + this.bytes.write(joined, first, 'latin1');
    let start = first;
    for (let at = joined.indexOf(separator); at >= 0; at = joined.indexOf(separator, at + 1)) {
      this.#close(start, first + at);
      start = first + at + 1;
    }
    this.#close(start, end);
  }

  #close(start: number, end: number): void {
    this.#starts[this.count] = start;
    this.#ends[this.count] = end;
    this.#end = end;
    this.count++;
  }

  #makeRoom(more: number): void {
    const needed = this.#end + more + SPARE_BYTES;
    if (needed <= this.bytes.length) return;
    const wider = Buffer.alloc(2 * needed);
    wider.set(this.bytes);
    this.bytes = wider;
    this.view = viewOf(wider);
  }
}

export function viewOf({ buffer, byteOffset, byteLength }: Buffer): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
