/** Runs as the reader, a worker that reads the log. It holds no state of the group. */
import { workerData } from 'node:worker_threads';
import { writePiece } from '../../group/backup/copy-store.js';
import * as listing from '../../group/listing/listing.js';
import type * as pool from '../../group/ports/pool.js';
import { redactPiece } from '../../group/removal/redaction.js';
import { openLogReader } from '../../store/log/lmdb-log.js';
import type { ReaderFolder } from './piscina-pool.js';
import { workerYield } from './worker-yield.js';

const { dir, piece } = workerData as ReaderFolder;
const log = openLogReader(dir);
const newReader = () => new listing.RecordReader(log, workerYield());
const pieceMemory = Buffer.from(piece);

export const list = (query: pool.ListingQuery) => listing.listEvents(newReader(), query);
export const pairEvents = (query: pool.PairEventsQuery) => listing.readPairEvents(newReader(), query);
export const records = (seqs: readonly number[]) => listing.readRecords(newReader(), seqs);
export const chain = (query: pool.ChainQuery) => listing.readChain(newReader(), query);
export const repeats = (query: pool.RepeatQuery) => listing.readRepeats(newReader(), query);
export const redact = (work: pool.RemovalWork) => redactPiece(log, work, workerYield());

/** Returns the length of the piece in the shared memory, or the piece itself if it does not fit there. */
export function logPiece({ firstSeq, limit }: pool.LogPieceQuery): number | Uint8Array {
  return writePiece(log, firstSeq, limit, pieceMemory);
}

/** The first task. Resolves once this file is loaded and its environment open. */
export function loaded(): void {}

/** The last task. Closes the environment. */
export function close(): Promise<void> {
  return log.close();
}
