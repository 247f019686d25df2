/** Batches full of marks, by which a byte search of the log's file finds what a scrub has left. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { type LmdbLogWriter, logFolderOf } from '../../../src/store/log/lmdb-log.js';

const MARK = /mark-\d{6}-\d{4}/g;

/** Bytes full of marks that tell the batch and the place: every 60 bytes, or every 2,000 of a large one. */
export function marked(seq: number, size: number): Buffer {
  const bytes = Buffer.alloc(size, '.');
  const step = size > 4_000 ? 2_000 : 60;
  for (let at = 0, n = 0; at + 16 <= size; at += step, n += 1) {
    bytes.write(`mark-${String(seq).padStart(6, '0')}-${String(n).padStart(4, '0')}`, at);
  }
  return bytes;
}

export const marksIn = (bytes: Buffer): Set<string> => new Set(bytes.toString('latin1').match(MARK));

export const marksInFile = (dir: string): Set<string> => marksIn(readFileSync(join(logFolderOf(dir), 'data.mdb')));

/** Small values share a leaf page, those above 2,018 bytes have overflow pages of their own. */
const SIZES = [40, 200, 700, 1_900, 2_010, 2_060, 5_000, 300_000];

export async function fill(writer: LmdbLogWriter, from: number, count: number): Promise<void> {
  for (let seq = from; seq < from + count; seq += 1) {
    await writer.append({ firstSeq: seq, bytes: marked(seq, SIZES[seq % SIZES.length]!) }, []);
  }
}

/** Every third batch, whole or shorter or longer than it was. */
export function erasureOf(
  from: number,
  count: number,
): { seqs: number[]; rewrites: { firstSeq: number; bytes: Buffer }[] } {
  const seqs = Array.from({ length: Math.floor(count / 3) }, (_, i) => from + i * 3);
  const newSize = (seq: number) => [20, SIZES[seq % SIZES.length]!, 2_500, 9_000][seq % 4]!;
  return { seqs, rewrites: seqs.map((seq) => ({ firstSeq: seq, bytes: Buffer.alloc(newSize(seq), '-') })) };
}

export function assertErased(dir: string, erased: readonly number[], untouched: readonly number[]): void {
  const found = marksInFile(dir);
  for (const seq of erased) {
    for (const mark of marksIn(marked(seq, SIZES[seq % SIZES.length]!))) assert.not(found.has(mark), `${mark} is left`);
  }
  for (const seq of untouched) {
    for (const mark of marksIn(marked(seq, SIZES[seq % SIZES.length]!))) assert.ok(found.has(mark), `${mark} is lost`);
  }
}

/** Replacements of batches by blanks of one size. */
export const blanks = (seqs: readonly number[], size: number) =>
  seqs.map((firstSeq) => ({ firstSeq, bytes: Buffer.alloc(size, '-') }));

/** The numbers of the batches of which a mark is in the log's file. */
export const markedBatches = (dir: string): Set<number> =>
  new Set([...marksInFile(dir)].map((mark) => Number(mark.slice(5, 11))));
