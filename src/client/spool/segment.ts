/**
 * The bytes of a spool's segment file: a header with the number of its first record, then records, each with its length and a
 * CRC-32 over its number and its bytes. Says what is whole; changes no file.
 */
import { crc32 } from 'node:zlib';

const magic = Buffer.from('PTFSPOOL');
const version = 1;
/** Magic, version, number of the first record, CRC-32 of these. */
export const HEADER_BYTES = 24;
const RECORD_HEAD_BYTES = 8;
const pattern = /^(\d{16})\.events$/;

export function fileNameOf(firstSeq: number): string {
  return `${String(firstSeq).padStart(16, '0')}.events`;
}

/** The number of the first record, from a file's name; null where it is no segment. */
export function firstSeqOf(fileName: string): number | null {
  const digits = pattern.exec(fileName)?.[1];
  return digits === undefined ? null : Number(digits);
}

export function encodeHeader(firstSeq: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  magic.copy(header);
  header.writeUInt32LE(version, 8);
  header.writeBigUInt64LE(BigInt(firstSeq), 12);
  header.writeUInt32LE(crc32(header.subarray(0, 20)), 20);
  return header;
}

/** The number of the first record, or null where the header is not whole. */
export function decodeHeader(bytes: Buffer): number | null {
  if (bytes.byteLength < HEADER_BYTES || !bytes.subarray(0, 8).equals(magic)) return null;
  if (bytes.readUInt32LE(8) !== version || bytes.readUInt32LE(20) !== crc32(bytes.subarray(0, 20))) return null;
  return Number(bytes.readBigUInt64LE(12));
}

export function recordBytes(payload: Buffer): number {
  return RECORD_HEAD_BYTES + payload.byteLength;
}

function checksum(seq: number, payload: Buffer): number {
  const number = Buffer.alloc(8);
  number.writeBigUInt64LE(BigInt(seq));
  return crc32(payload, crc32(number));
}

export function encodeRecords(firstSeq: number, payloads: readonly Buffer[]): Buffer {
  const bytes = Buffer.alloc(payloads.reduce((sum, payload) => sum + recordBytes(payload), 0));
  let at = 0;
  for (const [index, payload] of payloads.entries()) {
    bytes.writeUInt32LE(payload.byteLength, at);
    bytes.writeUInt32LE(checksum(firstSeq + index, payload), at + 4);
    payload.copy(bytes, at + RECORD_HEAD_BYTES);
    at += recordBytes(payload);
  }
  return bytes;
}

/** The record at `at` with this number, or null where it is not whole. */
export function recordAt(bytes: Buffer, at: number, seq: number): Buffer | null {
  const start = at + RECORD_HEAD_BYTES;
  if (start > bytes.byteLength) return null;
  const end = start + bytes.readUInt32LE(at);
  if (end > bytes.byteLength) return null;
  const payload = bytes.subarray(start, end);
  return bytes.readUInt32LE(at + 4) === checksum(seq, payload) ? payload : null;
}
