/** Encodes the records of a spool's files as lines: checksum, number, payload. Finds the whole ones around damage. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as zlib from 'node:zlib';
import { isRecord, jsonIn } from '../../json-text.js';
import { TrustError } from '../../trust-error.js';

const lineBreak = 0x0a;
const digits = 16;
const checksumDigits = 8;
/** The checksum and the number, each followed by a blank, precede the payload. */
const payloadAt = checksumDigits + 1 + digits + 1;
/** Bytes of a record besides its payload. A line break on both sides lets one damaged bit cost one record alone. */
export const RECORD_EXTRA_BYTES = payloadAt + 2;
const pattern = /^\d{16}\.events$/;

function numbered(seq: number): string {
  return String(seq).padStart(digits, '0');
}

export function fileNameOf(firstSeq: number): string {
  return `${numbered(firstSeq)}.events`;
}

/** The files that hold records, in order. `end` is the first number of the next one, infinite for the last. */
export function recordFiles(names: readonly string[]): { name: string; firstSeq: number; end: number }[] {
  const files = names.filter((name) => pattern.test(name)).sort();
  const starts = files.map((name) => Number.parseInt(name, 10));
  return files.map((name, index) => ({
    name,
    firstSeq: starts[index]!,
    end: starts[index + 1] ?? Number.POSITIVE_INFINITY,
  }));
}

export function recordsBytes(payloads: readonly Buffer[]): number {
  return payloads.reduce((sum, { byteLength }) => sum + RECORD_EXTRA_BYTES + byteLength, 0);
}

function checksumOf(bytes: Buffer): string {
  return zlib.crc32(bytes).toString(16).padStart(checksumDigits, '0');
}

/** `payload` must contain no line break, as JSON does not. */
export function encodeRecord(seq: number, payload: Buffer): Buffer {
  const covered = Buffer.concat([Buffer.from(` ${numbered(seq)} `), payload]);
  return Buffer.concat([Buffer.from(`\n${checksumOf(covered)}`), covered, Buffer.of(lineBreak)]);
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

/**
 * Yields the pieces of a file, the first with the number `firstSeq`. `end` is the number after the file's last record,
 * or infinite if unknown. If it is unknown, damage at the end of the file that ends in no line break is a torn write.
 * It is skipped, since no event in it was ever accepted.
 */
export function* piecesOf(bytes: Buffer, firstSeq: number, end: number): Generator<Piece, void> {
  let seq = firstSeq;
  /** The end of the last piece, and the number of line breaks since. */
  let from = 0;
  let breaks = 0;
  let start = 0;
  for (let at = bytes.indexOf(lineBreak); at >= 0 && seq < end; at = bytes.indexOf(lineBreak, start)) {
    const found = recordIn(bytes.subarray(start, at));
    breaks++;
    if (found !== null && found.seq >= seq && found.seq < end) {
      // The line break before the record belongs to it, or is damaged.
      const own = Math.max(from, start - 1);
      if (found.seq > seq) yield { seq, count: found.seq - seq, at: from, bytes: own - from, payload: null };
      yield { ...found, count: 1, at: own, bytes: at + 1 - own };
      seq = found.seq + 1;
      from = at + 1;
      breaks = 0;
    }
    start = at + 1;
  }
  const rest = { seq, at: from, bytes: bytes.byteLength - from, payload: null };
  if (seq < end && end < Number.POSITIVE_INFINITY) yield { ...rest, count: end - seq };
  else if (seq < end && start === bytes.byteLength && rest.bytes >= RECORD_EXTRA_BYTES)
    yield { ...rest, count: Math.max(1, breaks >> 1) };
}

function recordIn(line: Buffer): { readonly seq: number; readonly payload: Buffer } | null {
  const covered = line.subarray(checksumDigits);
  if (line.byteLength < payloadAt || line.toString('latin1', 0, checksumDigits) !== checksumOf(covered)) return null;
  return { seq: Number(line.toString('latin1', checksumDigits, payloadAt)), payload: line.subarray(payloadAt) };
}

/** Returns the number in the file `delivered`, which is a record without payload; 0 if the file is damaged. */
export function deliveredIn(file: Buffer): number {
  return recordIn(file.subarray(1, RECORD_EXTRA_BYTES - 1))?.seq ?? 0;
}

interface SpoolFacts {
  /** Number of waiting events on disk. */
  readonly pending: number;
  /** Number of events that the service will never accept, in the two files of them. */
  readonly setAside: number;
  /** The code of the newest of these; null if there is none. */
  readonly lastSetAsideCode: string | null;
  /** Number of damaged records among the waiting ones, and of files renamed as damaged. */
  readonly damaged: number;
}

/** Null if there is no folder. Rejects with the system's error if it cannot be read. */
export async function inspectSpool(folder: string): Promise<SpoolFacts | null> {
  const names = await readdir(folder).catch(orNone);
  if (names === null) return null;
  const through = deliveredIn((await readFile(join(folder, 'delivered')).catch(orNone)) ?? Buffer.alloc(0));
  let pending = 0;
  let damaged = names.filter((name) => name.endsWith('.damaged')).length;
  for (const { name, firstSeq, end } of recordFiles(names)) {
    const bytes = await readFile(join(folder, name)).catch(orNone);
    // The owner may have removed the file meanwhile.
    if (bytes === null) continue;
    refuseEarlier(join(folder, name), bytes);
    for (const { seq, count, payload } of piecesOf(bytes, firstSeq, end)) {
      const waiting = Math.max(0, seq + count - 1 - Math.max(through, seq - 1));
      if (payload === null) damaged += waiting;
      else pending += waiting;
    }
  }
  const files = ['set-aside.1.ndjson', 'set-aside.ndjson'].map((name) => linesOf(join(folder, name)));
  const lines = (await Promise.all(files)).flat();
  return { pending, setAside: lines.length, lastSetAsideCode: codeIn(lines.at(-1)), damaged };
}

/** Refuses a file of the format before lines: neither its waiting events nor its delivered ones can be told. */
export function refuseEarlier(path: string, bytes: Buffer): void {
  if (bytes.toString('latin1', 0, 8) !== 'PTFSPOOL') return;
  const text = `${path} was written by an earlier version: deliver its events with that version, then remove the file`;
  throw new TrustError('spool_failed', text);
}

function orNone(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

async function linesOf(path: string): Promise<string[]> {
  const text = (await readFile(path, 'utf8').catch(orNone)) ?? '';
  return text.split('\n').filter((line) => line !== '');
}

function codeIn(line: string | undefined): string | null {
  const value = jsonIn(line ?? '');
  return isRecord(value) && 'code' in value ? String(value.code) : null;
}
