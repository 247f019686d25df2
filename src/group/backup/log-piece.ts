/**
 * Defines the bytes in which a node sends a piece of its log to a node that joins: batches in order, each behind its
 * first sequence number (f64) and its length (u32), little-endian. A batch has checksums of its own.
 */
import type { LogReader, StoredBatch } from '../ports/log.js';
import { DamagedError } from '../ports/storage-errors.js';

const LENGTH_AT = 8;
const HEAD_BYTES = 12;

/** Returns the piece with the batches that `LogReader.from` returns. */
export function pieceOf(log: LogReader, firstSeq: number, limit: number, maxBytes: number): Buffer {
  const batches = log.from(firstSeq, limit, maxBytes);
  const piece = Buffer.alloc(batches.reduce((sum, { bytes }) => sum + HEAD_BYTES + bytes.length, 0));
  let at = 0;
  for (const batch of batches) {
    piece.writeDoubleLE(batch.firstSeq, at);
    piece.writeUInt32LE(batch.bytes.length, at + LENGTH_AT);
    piece.set(batch.bytes, at + HEAD_BYTES);
    at += HEAD_BYTES + batch.bytes.length;
  }
  return piece;
}

/** Returns the batches of a piece, as views of it. Throws `DamagedError` if the piece is incomplete. */
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
