/**
 * Entry of a process that races for the data folder in its arguments, by messages from its parent: it acquires the
 * folder, appends to its log, reads it and leaves it as a process does that dies, time and again.
 */
import { OwnerLostError } from '../../src/group/ports/storage.js';
import type { LmdbLogWriter } from '../../src/store/log/lmdb-log.js';
import { acquireFolder, FolderOwnedError } from '../../src/store/ownership/owner.js';
import { deadProcess } from '../store/dead-process.js';
import { batchOf } from '../store/log-contract.js';

export type RacerTask =
  | { readonly type: 'acquire'; readonly dir: string }
  | { readonly type: 'write'; readonly from: number; readonly count: number }
  | { readonly type: 'read'; readonly from: number }
  | { readonly type: 'leave' };

export type RacerAnswer =
  | { readonly type: 'acquired'; readonly epoch: number | null }
  | { readonly type: 'written'; readonly acknowledged: number[]; readonly fenced: boolean }
  | { readonly type: 'found'; readonly seqs: number[] }
  | { readonly type: 'left' }
  | { readonly type: 'failed'; readonly said: string };

let owner: LmdbLogWriter | null = null;

async function acquire(dir: string): Promise<RacerAnswer> {
  try {
    owner = await acquireFolder(dir, deadProcess());
    return { type: 'acquired', epoch: owner.epoch };
  } catch (error) {
    if (error instanceof FolderOwnedError) return { type: 'acquired', epoch: null };
    throw error;
  }
}

async function write(from: number, count: number): Promise<RacerAnswer> {
  const acknowledged: number[] = [];
  for (let seq = from; seq < from + count; seq++) {
    try {
      await owner!.append(batchOf(seq), []);
    } catch (error) {
      // Or where a starter that opened the log hid its newest commit: such an owner must end as well.
      const isOver = error instanceof OwnerLostError || /hid the newest commit|a commit failed/.test(String(error));
      if (isOver) return { type: 'written', acknowledged, fenced: true };
      throw error;
    }
    acknowledged.push(seq);
  }
  return { type: 'written', acknowledged, fenced: false };
}

async function answer(task: RacerTask): Promise<RacerAnswer> {
  switch (task.type) {
    case 'acquire':
      return acquire(task.dir);
    case 'write':
      return write(task.from, task.count);
    case 'read':
      return { type: 'found', seqs: owner!.from(task.from, 1_000, 1e9).map(({ firstSeq }) => firstSeq) };
    case 'leave':
      await owner!.abandon();
      owner = null;
      return { type: 'left' };
  }
}

process.on('message', (task: RacerTask) => {
  answer(task).then(
    (found) => process.send?.(found),
    (error: Error) => process.send?.({ type: 'failed', said: error.message } satisfies RacerAnswer),
  );
});
