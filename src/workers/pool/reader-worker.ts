/** Runs as the reader, a worker that reads the log for listings and single records. It holds no state of the group. */
import { workerData } from 'node:worker_threads';
import type { PairRecord } from '../../core/records/pair-records.js';
import type { LogRecord } from '../../core/records/records.js';
import { writePiece } from '../../group/backup/log-piece.js';
import { listEvents, readChain, readPairEvents, readRecords, readRepeats } from '../../group/listing/listing.js';
import type {
  ChainQuery,
  Listing,
  ListingQuery,
  LogPieceQuery,
  PairEvents,
  PairEventsQuery,
  RepeatQuery,
  RepeatsPiece,
  WeightsPiece,
} from '../../group/ports/pool.js';
import { readWeights } from '../../group/weights/weights-history.js';
import { openLogReader } from '../../store/log/lmdb-log.js';
import type { ReaderFolder } from './piscina-pool.js';

const { dir, piece } = workerData as ReaderFolder;
const log = openLogReader(dir);
const pieceMemory = Buffer.from(piece);

export function list(query: ListingQuery): Listing | null {
  return listEvents(log, query);
}

export function pairEvents(query: PairEventsQuery): PairEvents {
  return readPairEvents(log, query);
}

export function publishedWeights(task: { readonly after: number; readonly last: number }): WeightsPiece {
  return readWeights(log, task.after, task.last);
}

export function records(seqs: readonly number[]): readonly { readonly record: LogRecord; readonly at: number }[] {
  return readRecords(log, seqs);
}

export function chain(query: ChainQuery): readonly PairRecord[] {
  return readChain(log, query);
}

export function repeats(query: RepeatQuery): RepeatsPiece {
  return readRepeats(log, query);
}

/** Returns the length of the piece in the shared memory, or the piece itself if it does not fit there. */
export function logPiece({ firstSeq, limit }: LogPieceQuery): number | Uint8Array {
  return writePiece(log, firstSeq, limit, pieceMemory);
}

/** The first task. Resolves once this file is loaded and its environment open. */
export function loaded(): void {}

/** The last task. Closes the environment. */
export function close(): Promise<void> {
  return log.close();
}
