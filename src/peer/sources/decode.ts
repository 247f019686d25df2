/** Reads the file of a list, and decodes UTF-8, UTF-16 or Latin-1, with `\n` for every line break. */
import { readFile, stat } from 'node:fs/promises';
import { bounds } from '../../client/bounds.js';
import { type PeerError, wrongUsage } from '../peer-error.js';

export interface Decoded {
  readonly text: string;
  readonly encoding: 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';
}

const sampleBytes = 4_096;

/** Bytes that are neither UTF-8 nor UTF-16 are read as Windows-1252, in which every byte is a character. */
export function decodeList(bytes: Uint8Array): Decoded {
  const marked = encodingOfMark(bytes);
  const wide = marked === 'utf-8' ? null : (marked ?? encodingOfZeros(bytes));
  if (wide !== null) {
    return { text: new TextDecoder(wide).decode(bytes).replace(/\r\n?/g, '\n'), encoding: wide };
  }
  const plain = marked === 'utf-8' ? bytes.subarray(3) : bytes;
  if (isAscii(plain)) {
    // V8 stores a long Latin-1 text outside of its heap, so that the garbage collector runs at a smaller heap size.
    const { buffer, byteOffset, byteLength } = withPlainBreaks(plain);
    return { text: Buffer.from(buffer, byteOffset, byteLength).toString('latin1'), encoding: 'utf-8' };
  }
  if (marked === 'utf-8') return { text: textOf(plain, new TextDecoder(marked)), encoding: marked };
  try {
    const text = textOf(withoutCutCharacter(plain), new TextDecoder('utf-8', { fatal: true }));
    return { text, encoding: 'utf-8' };
  } catch {
    return { text: textOf(plain, new TextDecoder('windows-1252')), encoding: 'windows-1252' };
  }
}

const pieceBytes = 1_048_576;

/** Decodes piece by piece into a buffer, of which V8 makes a text outside of its heap, as of one in Latin-1. */
function textOf(bytes: Uint8Array, decoder: InstanceType<typeof TextDecoder>): string {
  // No encoding with ASCII as single bytes has more characters than bytes.
  const text = Buffer.allocUnsafe(2 * bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; ) {
    // A piece never ends between the two bytes of a line break.
    const end = at + pieceBytes - (bytes[at + pieceBytes - 1] === cr ? 1 : 0);
    const piece = decoder.decode(withPlainBreaks(bytes.subarray(at, end)), { stream: end < bytes.length });
    length += text.write(piece, length, 'utf16le');
    at = end;
  }
  return text.toString('utf16le', 0, length);
}

function isAscii(bytes: Uint8Array): boolean {
  for (let at = 0; at < bytes.length; at++) if (bytes[at]! > 0x7f) return false;
  return true;
}

const cr = 0x0d;
const lf = 0x0a;

/** Returns the bytes of an encoding with ASCII as single bytes, with `\n` for every line break. */
function withPlainBreaks(bytes: Uint8Array): Uint8Array {
  if (!bytes.includes(cr)) return bytes;
  const plain = new Uint8Array(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte === cr && bytes[at + 1] === lf) continue;
    plain[length++] = byte === cr ? lf : byte;
  }
  return plain.subarray(0, length);
}

function encodingOfMark([first, second, third]: Uint8Array): Decoded['encoding'] | null {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  return first === 0xef && second === 0xbb && third === 0xbf ? 'utf-8' : null;
}

/** Lists are mostly ASCII, so that in UTF-16 every other byte is zero. */
function encodingOfZeros(bytes: Uint8Array): Decoded['encoding'] | null {
  const length = Math.min(bytes.length, sampleBytes) & ~1;
  const zeros = [0, 0];
  for (let i = 0; i < length; i++) if (bytes[i] === 0) zeros[i & 1]!++;
  const half = length / 2;
  if (half < 4) return null;
  if (zeros[1]! > half * 0.6 && zeros[0]! < half * 0.1) return 'utf-16le';
  return zeros[0]! > half * 0.6 && zeros[1]! < half * 0.1 ? 'utf-16be' : null;
}

/** A file that was truncated within a character is still UTF-8. */
function withoutCutCharacter(bytes: Uint8Array): Uint8Array {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) return bytes;
    if (byte >= 0xc0) {
      const size = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return size > back ? bytes.subarray(0, bytes.length - back) : bytes;
    }
  }
  return bytes;
}

export async function fileBytes(path: string): Promise<Buffer> {
  const { size } = await stat(path);
  if (size > bounds.importFileBytes) throw tooLarge(path);
  return readFile(path);
}

export function tooLarge(label: string): PeerError {
  return wrongUsage(`${label} is larger than ${bounds.importFileBytes} bytes; split it`);
}
