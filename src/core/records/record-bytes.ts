/** Collects encoded records in a growing buffer, one after the other as in a batch. */
import { viewOf } from '../columns/byte-strings.js';
import type { EventKeys } from '../tables/event-columns.js';
import { eventBytes } from './packed-records.js';
import { encodeRecord, writeEventRecord } from './record-codec.js';
import type { DecidedEvent, LogRecord } from './records.js';

const BYTES_AT_FIRST = 256;

export class RecordBytes {
  readonly starts: number[] = [];
  #bytes = Buffer.allocUnsafe(BYTES_AT_FIRST);
  #view = viewOf(this.#bytes);
  #length = 0;

  /** The bytes of all records, valid until another is added. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  add(record: LogRecord): void {
    this.addEncoded(encodeRecord(record));
  }

  /** Appends an event in place, without an intermediate buffer: nearly all records are events. */
  addEvent(event: DecidedEvent, keys: EventKeys): void {
    const at = this.#next(eventBytes(event));
    writeEventRecord(event, keys, this.#bytes, this.#view, at);
  }

  /** Removes all records and reuses the memory. */
  clear(): void {
    this.starts.length = 0;
    this.#length = 0;
  }

  addEncoded(record: Uint8Array): void {
    const at = this.#next(record.length);
    this.#bytes.set(record, at);
  }

  #next(count: number): number {
    const at = this.#length;
    this.#length += count;
    if (this.#length > this.#bytes.length) {
      const more = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, this.#length));
      more.set(this.#bytes.subarray(0, at));
      this.#bytes = more;
      this.#view = viewOf(more);
    }
    this.starts.push(at);
    return at;
  }
}
