/**
 * Computes a CRC-32 backwards. A spool uses it to find the number of a record from the record's checksum when an
 * unknown number of earlier records is missing.
 */
import * as zlib from 'node:zlib';

/** The usual CRC-32 table, and its inverse: the index of the entry with a given top byte, which is unique. */
const mixed = Uint32Array.from({ length: 256 }, (_, byte) => ~zlib.crc32(Buffer.of(byte), 0xffff_ffff));
const byteOf = new Uint8Array(256);
for (const [byte, value] of mixed.entries()) byteOf[value >>> 24] = byte;

/** Returns the checksum before these bytes: `crc32(bytes, crc32Before(bytes, crc))` is `crc`. */
export function crc32Before(bytes: Uint8Array, crc: number): number {
  let register = ~crc;
  for (let at = bytes.byteLength - 1; at >= 0; at--) {
    const byte = byteOf[register >>> 24]!;
    register = ((register ^ mixed[byte]!) << 8) | (byte ^ bytes[at]!);
  }
  return ~register >>> 0;
}
