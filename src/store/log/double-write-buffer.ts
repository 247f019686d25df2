/**
 * Reads the double-write buffer of earlier builds (until 2026-11-26) once, and removes it. Those builds did not sync
 * the meta page of LMDB's newest commit, so a power cut could undo that commit. The buffer, a value in the log's
 * environment, then still contains the batch.
 */
import { crc32 } from 'node:zlib';
import type { StoredBatch } from '../../group/ports/log.js';
import { DamagedError } from '../../group/ports/storage-errors.js';
import { dataFileOf } from '../files/lmdb-file.js';
import type { LogEnvironment } from './log-environment.js';

/** The key of the buffer in the database `meta`. */
export const BUFFER_KEY = Buffer.from('kept');

const SLOTS = 4;
const SLOT_BYTES = 65_536;

// Layout of a slot; numbers are little-endian.
/** CRC-32 of all following bytes, up to the end of the batch. */
const CRC_AT = 0;
const LENGTH_AT = 4;
const EPOCH_AT = 8;
const FIRST_SEQ_AT = 16;
/** First sequence number of the previous batch. */
const PREVIOUS_SEQ_AT = 24;
const BATCH_AT = 32;

/**
 * Removes the buffer within the caller's transaction. Returns the batch of the owner of `epoch` that follows the batch
 * at `newestSeq`; undefined if the log lacks no batch. Throws `DamagedError` if the buffer has another size.
 */
export function removeDoubleWriteBuffer(
  { meta, path }: LogEnvironment,
  epoch: number,
  newestSeq: number,
): StoredBatch | undefined {
  const buffer = meta.getBinary(BUFFER_KEY);
  if (buffer === undefined) return undefined;
  if (buffer.length !== SLOTS * SLOT_BYTES) {
    const sizes = `expected ${SLOTS * SLOT_BYTES} bytes, found ${buffer.length}`;
    throw new DamagedError(`${dataFileOf(path)}: double-write buffer: ${sizes}`);
  }
  meta.removeSync(BUFFER_KEY);
  for (let at = 0; at < buffer.length; at += SLOT_BYTES) {
    const slot = buffer.subarray(at, at + SLOT_BYTES);
    const end = BATCH_AT + slot.readUInt32LE(LENGTH_AT);
    const isWhole = end <= SLOT_BYTES && slot.readUInt32LE(CRC_AT) === crc32(slot.subarray(LENGTH_AT, end));
    if (!isWhole || slot.readDoubleLE(EPOCH_AT) !== epoch || slot.readDoubleLE(PREVIOUS_SEQ_AT) !== newestSeq) continue;
    return { firstSeq: slot.readDoubleLE(FIRST_SEQ_AT), bytes: slot.subarray(BATCH_AT, end) };
  }
  return undefined;
}
