/**
 * Encodes and decodes a batch: the records of one turn as one value of the log, with a checksum and a place in the
 * chain. Little-endian:
 *
 * | at  | type    | meaning                                                                   |
 * |-----|---------|---------------------------------------------------------------------------|
 * | 0   | u16     | magic 0x4250                                                              |
 * | 2   | u8      | format version                                                            |
 * | 3   | u8      | 1 if the content was rewritten by an erasure, else 0                   |
 * | 4   | u32     | CRC-32 of the four bytes before it and everything after it               |
 * | 8   | f64     | sequence number of the first record                                       |
 * | 16  | f64     | the turn's time, ms since 1970: `received_at` of its events               |
 * | 24  | u32     | number of records n                                                       |
 * | 28  | u32     | bytes of the records                                                      |
 * | 32  | 16 B    | nonce; zeros once rewritten                                               |
 * | 48  | 32 B    | d: SHA-256 of the content (from 16 on, without d and chain) as first written |
 * | 80  | 32 B    | chain: SHA-256(previous chain, first, n, d)                               |
 * | 112 | u32 x n | where each record starts after the offsets                               |
 */
import { createHash, hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { NamedError } from '../../errors.js';
import { viewOf } from '../columns/byte-strings.js';
import type { EventColumns, EventKeys } from '../tables/event-columns.js';
import { eventBytes, readEvent } from './packed-records.js';
import { decodeRecord, encodeRecord, fitsColumns, writeEventRecord } from './record-codec.js';
import type { DecidedEvent, LogRecord } from './records.js';

const MAGIC = 0x4250;
const VERSION = 1;
const HEAD = 112;
const NONCE_AT = 32;
const DIGEST_AT = 48;
const CHAIN_AT = 80;

export const NONCE_BYTES = 16;
const CHAIN_BYTES = 32;
const DIGEST_BYTES = CHAIN_AT - DIGEST_AT;

export const chainStart: Uint8Array = new Uint8Array(CHAIN_BYTES);

class BatchError extends NamedError {}

const BYTES_AT_FIRST = 256;

export class BatchWriter {
  readonly #starts: number[] = [];
  #bytes = Buffer.allocUnsafe(BYTES_AT_FIRST);
  #view = viewOf(this.#bytes);
  #length = 0;

  get count(): number {
    return this.#starts.length;
  }

  add(record: LogRecord): void {
    this.addEncoded(encodeRecord(record));
  }

  /** Appends an event in place, without an intermediate buffer: nearly all records are events. */
  addEvent(event: DecidedEvent, keys: EventKeys): void {
    const at = this.#next(eventBytes(event));
    writeEventRecord(event, keys, this.#bytes, this.#view, at);
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
    this.#starts.push(at);
    return at;
  }

  /** Returns the batch and starts a new one. `nonce` prevents guesses of erased content by means of `d`. */
  seal(firstSeq: number, at: number, nonce: Uint8Array, previousChain: Uint8Array): Batch {
    const out = this.layOut(firstSeq, at);
    out.set(nonce, NONCE_AT);
    const digest = contentDigest(out);
    out.set(digest, DIGEST_AT);
    out.set(chainValue(previousChain, firstSeq, this.count, digest), CHAIN_AT);
    out.writeUInt32LE(checksum(out), 4);
    this.#starts.length = 0;
    this.#length = 0;
    return new Batch(out);
  }

  /** Returns the bytes of the batch without its checksum, nonce, digest and chain value. */
  layOut(firstSeq: number, at: number): Buffer {
    const { count } = this;
    const body = HEAD + count * 4;
    const out = Buffer.allocUnsafe(body + this.#length);
    out.writeUInt16LE(MAGIC, 0);
    out[2] = VERSION;
    out[3] = 0;
    out.writeDoubleLE(firstSeq, 8);
    out.writeDoubleLE(at, 16);
    out.writeUInt32LE(count, 24);
    out.writeUInt32LE(this.#length, 28);
    for (let i = 0; i < count; i++) out.writeUInt32LE(this.#starts[i]!, HEAD + i * 4);
    this.#bytes.copy(out, body, 0, this.#length);
    return out;
  }
}

function checksum(bytes: Buffer): number {
  return crc32(bytes.subarray(8), crc32(bytes.subarray(0, 4)));
}

function contentDigest(bytes: Buffer): Uint8Array {
  return createHash('sha256').update(bytes.subarray(16, DIGEST_AT)).update(bytes.subarray(HEAD)).digest();
}

function chainValue(previous: Uint8Array, firstSeq: number, count: number, digest: Uint8Array): Uint8Array {
  const chained = Buffer.allocUnsafe(CHAIN_BYTES + 12 + DIGEST_BYTES);
  chained.set(previous, 0);
  chained.writeDoubleLE(firstSeq, CHAIN_BYTES);
  chained.writeUInt32LE(count, CHAIN_BYTES + 8);
  chained.set(digest, CHAIN_BYTES + 12);
  return hash('sha256', chained, 'buffer');
}

/** Number of records in the unchecked bytes of a batch; 0 if there are too few bytes. */
export function countOf(bytes: Uint8Array): number {
  return bytes.length < HEAD ? 0 : new DataView(bytes.buffer, bytes.byteOffset).getUint32(24, true);
}

/** One batch. The constructor checks form and checksum; `follows` and `contentHolds` check the rest. */
export class Batch {
  readonly bytes: Buffer;
  readonly firstSeq: number;
  readonly at: number;
  readonly count: number;

  /** Throws `BatchError` if the bytes are not a whole batch. */
  constructor(bytes: Uint8Array) {
    const b = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (b.length < HEAD || b.readUInt16LE(0) !== MAGIC) throw new BatchError('not a batch of the log');
    if (b[2] !== VERSION) throw new BatchError(`batch format ${b[2]} was written by a newer release`);
    if (b.readUInt32LE(4) !== checksum(b)) throw new BatchError('checksum differs');
    this.bytes = b;
    this.firstSeq = b.readDoubleLE(8);
    this.at = b.readDoubleLE(16);
    this.count = b.readUInt32LE(24);
    if (b.length !== HEAD + this.count * 4 + b.readUInt32LE(28)) throw new BatchError('length differs');
  }

  get lastSeq(): number {
    return this.firstSeq + this.count - 1;
  }

  /** Returns a copy, which stays valid when the bytes of the batch are reused. */
  get chain(): Uint8Array {
    return new Uint8Array(this.bytes.subarray(CHAIN_AT, HEAD));
  }

  get rewritten(): boolean {
    return this.bytes[3] === 1;
  }

  /** Digest of the present content, hex. */
  digestNow(): string {
    return Buffer.from(contentDigest(this.bytes)).toString('hex');
  }

  /** True if the content is as first written; else a `batches_rewritten` record states its digest. */
  isContentOriginal(): boolean {
    return this.digestNow() === this.bytes.toString('hex', DIGEST_AT, CHAIN_AT);
  }

  /** True if this batch directly follows the one with this chain value and last sequence number. */
  follows(chain: Uint8Array, lastSeq: number): boolean {
    if (this.firstSeq !== lastSeq + 1) return false;
    const digest = this.bytes.subarray(DIGEST_AT, CHAIN_AT);
    return Buffer.compare(chainValue(chain, this.firstSeq, this.count, digest), this.chain) === 0;
  }

  holds(seq: number): boolean {
    return seq >= this.firstSeq && seq <= this.lastSeq;
  }

  /** Returns the record with this sequence number, which must lie in the batch. */
  record(seq: number): LogRecord {
    return decodeRecord(this.recordBytes(seq));
  }

  /** Returns a view of the bytes of the record with this sequence number, which must lie in the batch. */
  recordBytes(seq: number): Buffer {
    const i = seq - this.firstSeq;
    const body = HEAD + this.count * 4;
    const from = this.bytes.readUInt32LE(HEAD + i * 4);
    const to = i + 1 < this.count ? this.bytes.readUInt32LE(HEAD + (i + 1) * 4) : this.bytes.length - body;
    return this.bytes.subarray(body + from, body + to);
  }

  *[Symbol.iterator](): IterableIterator<LogRecord> {
    for (let i = 0; i < this.count; i++) yield this.record(this.firstSeq + i);
  }

  isEvent(seq: number): boolean {
    const i = seq - this.firstSeq;
    return fitsColumns(this.bytes, HEAD + this.count * 4 + this.bytes.readUInt32LE(HEAD + i * 4));
  }

  /** Fills `columns` with consecutive events from record `seq` on, until another record comes or they are full. */
  events(seq: number, columns: EventColumns): void {
    columns.count = 0;
    const view = new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.length);
    const body = HEAD + this.count * 4;
    for (let i = seq - this.firstSeq; i < this.count && columns.count < columns.capacity; i++) {
      const at = body + view.getUint32(HEAD + i * 4, true);
      if (!fitsColumns(this.bytes, at)) return;
      readEvent(this.bytes, view, at, columns);
    }
  }

  rewrite(replacements: ReadonlyMap<number, LogRecord>): Batch {
    const records = new BatchWriter();
    for (let i = 0; i < this.count; i++) {
      const seq = this.firstSeq + i;
      const replacement = replacements.get(seq);
      if (replacement === undefined) records.addEncoded(this.recordBytes(seq));
      else records.add(replacement);
    }
    const out = records.layOut(this.firstSeq, this.at);
    out[3] = 1;
    out.fill(0, NONCE_AT, DIGEST_AT);
    this.bytes.copy(out, DIGEST_AT, DIGEST_AT, HEAD);
    out.writeUInt32LE(checksum(out), 4);
    return new Batch(out);
  }
}
