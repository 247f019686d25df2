/**
 * Defines a piece of the log as a joining node gets it: batches in order, each behind its first sequence number (f64)
 * and its length (u32), little-endian.
 */
import type { LogReader, StoredBatch } from '../ports/log.js';
import { DamagedError } from '../ports/storage-errors.js';

const LENGTH_AT = 8;
const HEAD_BYTES = 12;

/** Writes up to `limit` batches that fit in `memory`. Returns the length, or the piece itself if not one fits. */
export function writePiece(log: LogReader, firstSeq: number, limit: number, memory: Buffer): number | Buffer {
  let length = 0;
  let isFull = false;
  let large: Buffer | null = null;
  log.borrow(firstSeq, limit, memory.length, (batch) => {
    const bytes = HEAD_BYTES + batch.bytes.length;
    isFull ||= length + bytes > memory.length;
    if (!isFull) {
      encode(batch, memory, length);
      length += bytes;
    } else if (length === 0 && large === null) {
      large = Buffer.alloc(bytes);
      encode(batch, large, 0);
    }
  });
  return large ?? length;
}

function encode({ firstSeq, bytes }: StoredBatch, to: Buffer, at: number): void {
  to.writeDoubleLE(firstSeq, at);
  to.writeUInt32LE(bytes.length, at + LENGTH_AT);
  to.set(bytes, at + HEAD_BYTES);
}

/** The batches are views of the piece. Throws `DamagedError` if it is incomplete. */
export function batchesIn(piece: Buffer): StoredBatch[] {
  const batches: StoredBatch[] = [];
  for (let at = 0; at < piece.length; ) {
    const body = at + HEAD_BYTES;
    const end = body <= piece.length ? body + piece.readUInt32LE(at + LENGTH_AT) : Number.POSITIVE_INFINITY;
    if (end > piece.length) throw new DamagedError('a piece of the log is incomplete');
    batches.push({ firstSeq: piece.readDoubleLE(at), bytes: piece.subarray(body, end) });
    at = end;
  }
  return batches;
}
