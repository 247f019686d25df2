/** The reader: a worker that walks the log for listings and single records. It holds no state. */
import { workerData } from 'node:worker_threads';
import type { LogRecord } from '../core/records.js';
import { type Listing, type ListingQuery, listEvents, RecordReader } from '../group/listing.js';
import { openLogReader } from '../store/lmdb-log.js';
import type { WorkerFolder } from './pool.js';

const log = openLogReader((workerData as WorkerFolder).dir);

export function list(query: ListingQuery): Listing | null {
  return listEvents(log, query);
}

export function records(seqs: readonly number[]): readonly { readonly record: LogRecord; readonly at: number }[] {
  const reader = new RecordReader(log);
  return seqs.map((seq) => {
    const { record, at } = reader.read(seq);
    // A copy of its own: crossing to another thread copies all of the batch that a view lies in.
    return record.type === 'event_accepted'
      ? { record: { ...record, subject: new Uint8Array(record.subject) }, at }
      : { record, at };
  });
}

/** The last task: gives the environment back. */
export function close(): Promise<void> {
  return log.close();
}
