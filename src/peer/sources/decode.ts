/** Reads the file of a list, and decodes UTF-8, UTF-16 or Latin-1, with `\n` for every line break. */
import { isAscii } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { bounds } from '../../client/for-peer.js';
import { codeOf } from '../config/peer-file.js';
import { PeerError, wrongUsage } from '../peer-error.js';

export interface Decoded {
  readonly text: string;
  readonly encoding: 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';
}

const sampleBytes = 4_096;
const compressed =
  'the list is compressed with gzip: unpack it with gunzip, or import the output of a command: -- gunzip -c FILE';

/** Bytes that are neither UTF-8 nor UTF-16 are read as Windows-1252. Throws `format_not_recognised` for gzip. */
export function decodeList(bytes: Uint8Array): Decoded {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) throw new PeerError('format_not_recognised', compressed, 4);
  const known = encodingOfMark(bytes) ?? encodingOfZeros(bytes);
  if (known !== null) return decoded(bytes, known);
  // V8 stores a long Latin-1 text outside of its heap, so that the garbage collector runs at a smaller heap size.
  if (isAscii(bytes)) {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
    return { text: withPlainBreaks(text), encoding: 'utf-8' };
  }
  try {
    return decoded(bytes, 'utf-8', true);
  } catch {
    return decoded(bytes, 'windows-1252');
  }
}

function decoded(bytes: Uint8Array, encoding: Decoded['encoding'], fatal = false): Decoded {
  // In a stream, a file that was truncated within a character ends before that character.
  const text = new TextDecoder(encoding, { fatal }).decode(bytes, { stream: true });
  return { text: withPlainBreaks(text), encoding };
}

function withPlainBreaks(text: string): string {
  // By pieces that are joined, because a replacement keeps an object for each line break.
  const plain = (piece: string) => piece.split(/\r\n?/).join('\n');
  return text.includes('\r') ? text.replace(/[\s\S]{1,65536}\n?/g, plain) : text;
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

export async function fileBytes(path: string): Promise<Buffer> {
  try {
    const found = await stat(path);
    if (found.size > bounds.importFileBytes) throw tooLarge(path);
    // A pipe does not state its size.
    return await (found.isFile() ? readFile(path) : collected(createReadStream(path)));
  } catch (error) {
    const code = codeOf(error);
    throw code === undefined ? error : wrongUsage(`${path} cannot be read: ${code}`);
  }
}

/** Joins the chunks. Rejects with what `refusal` returns if they have more than `bytesMax`. */
export async function collected(
  chunks: AsyncIterable<Uint8Array>,
  bytesMax: number = bounds.importFileBytes,
  refusal: () => Error = () => tooLarge('the list'),
): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of chunks) {
    bytes += part.byteLength;
    if (bytes > bytesMax) throw refusal();
    parts.push(part);
  }
  return Buffer.concat(parts);
}

export function tooLarge(label: string): PeerError {
  return wrongUsage(`${label} is larger than ${bounds.importFileBytes} bytes; split it`);
}

/** A list that cannot be read now: a watch goes on, and an import ends. */
export function unreachable(text: string): PeerError {
  return new PeerError('source_unreachable', text, 3);
}
