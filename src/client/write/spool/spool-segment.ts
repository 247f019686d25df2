/** Encodes and decodes segment files: a header, then records with length and CRC-32. Finds the whole ones in damage. */
import * as zlib from 'node:zlib';
import { bounds } from '../../bounds.js';

const magic = Buffer.from('PTFSPOOL');
const version = 1;
/** Magic, version, number of the first record, and CRC-32 of these. */
export const HEADER_BYTES = 24;
/** Length and CRC-32 of a record. */
export const RECORD_HEAD_BYTES = 8;
const pattern = /^(\d{16})\.events$/;

export function fileNameOf(firstSeq: number): string {
  return `${String(firstSeq).padStart(16, '0')}.events`;
}

/** Returns the number of the first record from a file's name; null if the file is no segment. */
export function firstSeqOf(fileName: string): number | null {
  const digits = pattern.exec(fileName)?.[1];
  return digits === undefined ? null : Number(digits);
}

export function encodeHeader(firstSeq: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  magic.copy(header);
  header.writeUInt32LE(version, 8);
  header.writeBigUInt64LE(BigInt(firstSeq), 12);
  header.writeUInt32LE(zlib.crc32(header.subarray(0, 20)), 20);
  return header;
}

/** Returns the number of the first record, or null if the header is damaged. */
export function decodeHeader(bytes: Buffer): number | null {
  if (bytes.byteLength < HEADER_BYTES || !bytes.subarray(0, 8).equals(magic)) return null;
  if (bytes.readUInt32LE(8) !== version || bytes.readUInt32LE(20) !== zlib.crc32(bytes.subarray(0, 20))) return null;
  return Number(bytes.readBigUInt64LE(12));
}

export function recordBytes(payload: Buffer): number {
  return RECORD_HEAD_BYTES + payload.byteLength;
}

export function recordsBytes(payloads: readonly Buffer[]): number {
  return payloads.reduce((sum, payload) => sum + recordBytes(payload), 0);
}

function checksum(seq: number, payload: Buffer): number {
  const number = Buffer.alloc(8);
  number.writeBigUInt64LE(BigInt(seq));
  return zlib.crc32(payload, zlib.crc32(number));
}

export function encodeRecords(firstSeq: number, payloads: readonly Buffer[]): Buffer {
  const bytes = Buffer.alloc(recordsBytes(payloads));
  let at = 0;
  for (const [index, payload] of payloads.entries()) {
    bytes.writeUInt32LE(payload.byteLength, at);
    bytes.writeUInt32LE(checksum(firstSeq + index, payload), at + 4);
    payload.copy(bytes, at + RECORD_HEAD_BYTES);
    at += recordBytes(payload);
  }
  return bytes;
}

/** Returns the record at `at` with this number, or null if it is damaged. */
function recordAt(bytes: Buffer, at: number, seq: number): Buffer | null {
  const end = recordEnd(bytes, at);
  if (end === null) return null;
  const payload = bytes.subarray(at + RECORD_HEAD_BYTES, end);
  return bytes.readUInt32LE(at + 4) === checksum(seq, payload) ? payload : null;
}

/** Returns the end of a record that begins at `at`, by its length; null if the length is impossible. */
function recordEnd(bytes: Buffer, at: number): number | null {
  const start = at + RECORD_HEAD_BYTES;
  if (start > bytes.byteLength) return null;
  const length = bytes.readUInt32LE(at);
  const isLength = length > 0 && length <= bounds.spoolEventBytes && start + length <= bytes.byteLength;
  return isLength ? start + length : null;
}

/** A whole record, or a stretch of damaged ones. */
export interface Piece {
  readonly seq: number;
  readonly count: number;
  readonly at: number;
  readonly bytes: number;
  /** Null if the piece is damaged. */
  readonly payload: Buffer | null;
}

type Extent = Pick<Piece, 'count' | 'bytes'>;

/**
 * Yields the pieces of a file, starting with record `firstSeq` at offset `from`. `end` is the number after the file's
 * last record, or infinite if unknown. If it is unknown, damage that no whole record follows, and whose lengths do not
 * lead exactly to the end of the file, is a torn write. It is skipped, since no event in it was ever accepted.
 */
export function* piecesOf(bytes: Buffer, firstSeq: number, end: number, from = HEADER_BYTES): Generator<Piece, void> {
  let at = from;
  for (let seq = firstSeq; seq < end && at < bytes.byteLength; ) {
    const payload = recordAt(bytes, at, seq);
    const extent = payload === null ? damageAt(bytes, at, seq, end) : { count: 1, bytes: recordBytes(payload) };
    if (extent === null) return;
    yield { seq, at, ...extent, payload };
    seq += extent.count;
    at += extent.bytes;
  }
}

function damageAt(bytes: Buffer, at: number, seq: number, end: number): Extent | null {
  const extent = upToNextRecord(bytes, at, seq) ?? byLengths(bytes, at);
  if (extent !== null) return { ...extent, count: Math.min(extent.count, end - seq) };
  return Number.isFinite(end) ? { count: end - seq, bytes: bytes.byteLength - at } : null;
}

/**
 * Finds the next whole record, which may begin anywhere, since the damage may be in a length. The checksum of any bytes
 * yields some record number; the bytes count as a whole record if that number fits the room between `seq` and the
 * record.
 */
function upToNextRecord(bytes: Buffer, at: number, seq: number): Extent | null {
  const recordBytesMin = RECORD_HEAD_BYTES + 1;
  for (let next = at + recordBytesMin; next < bytes.byteLength; next++) {
    const end = recordEnd(bytes, next);
    if (end === null) continue;
    const count = numberOf(bytes.subarray(next, end), seq) - seq;
    if (count > 0 && count * recordBytesMin <= next - at) return { count, bytes: next - at };
  }
  return null;
}

/** Computes the number of a record from its checksum, assuming that the upper 32 bits are those of `near`. */
function numberOf(record: Buffer, near: number): number {
  const high = Math.floor(near / 2 ** 32);
  const upper = Buffer.alloc(4);
  upper.writeUInt32LE(high);
  const ofNumber = crc32Before(record.subarray(RECORD_HEAD_BYTES), record.readUInt32LE(4));
  // The CRC of four bytes from the start value 0 equals the CRC of four zeros with those bytes as the start value.
  // Computing backwards over four zeros therefore yields the bytes.
  return high * 2 ** 32 + crc32Before(Buffer.alloc(4), crc32Before(upper, ofNumber));
}

/** The usual CRC-32 table, and its inverse: the index of the entry with a given top byte, which is unique. */
const mixed = Uint32Array.from({ length: 256 }, (_, byte) => ~zlib.crc32(Buffer.of(byte), 0xffff_ffff));
const byteOf = new Uint8Array(256);
for (const [byte, value] of mixed.entries()) byteOf[value >>> 24] = byte;

/** Returns the checksum before these bytes: `crc32(bytes, crc32Before(bytes, crc))` is `crc`. */
function crc32Before(bytes: Uint8Array, crc: number): number {
  let register = ~crc;
  for (let at = bytes.byteLength - 1; at >= 0; at--) {
    const byte = byteOf[register >>> 24]!;
    register = ((register ^ mixed[byte]!) << 8) | (byte ^ bytes[at]!);
  }
  return ~register >>> 0;
}

/** Returns the extent up to the end of the file if the lengths lead exactly there; a torn file ends within a record. */
function byLengths(bytes: Buffer, at: number): Extent | null {
  let count = 0;
  let next: number | null = at;
  for (; next !== null && next < bytes.byteLength; count++) next = recordEnd(bytes, next);
  return next === null ? null : { count, bytes: next - at };
}
