/** CRC-32 run backwards, which finds the number of a record of which nobody knows how many are missing before it. */
import * as zlib from 'node:zlib';

/**
 * What a step mixes into the register for a byte, and the byte again for the top eight bits of that, which no two
 * share.
 */
const mixed = Uint32Array.from({ length: 256 }, (_, byte) => ~zlib.crc32(Buffer.of(byte), 0xffff_ffff));
const byteOf = new Uint8Array(256);
for (const [byte, value] of mixed.entries()) byteOf[value >>> 24] = byte;

/** The checksum before these bytes: `crc32(bytes, crc32Before(bytes, crc))` is `crc`. */
export function crc32Before(bytes: Uint8Array, crc: number): number {
  let register = ~crc;
  for (let at = bytes.byteLength - 1; at >= 0; at--) {
    const byte = byteOf[register >>> 24]!;
    register = ((register ^ mixed[byte]!) << 8) | (byte ^ bytes[at]!);
  }
  return ~register >>> 0;
}
