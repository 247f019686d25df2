/** Recovers the state from disk: from the newest intact snapshot and the tail of the log, else from the whole log. */
import { Bits } from '../../core/bits.js';
import { Batch, chainStart } from '../../core/records/batch.js';
import type { GroupFormed, LogRecord } from '../../core/records/records.js';
import { loadSnapshot, SNAPSHOT_VERSION } from '../../core/snapshot/snapshot.js';
import { stateDigest } from '../../core/snapshot/state-digest.js';
import { GroupState } from '../../core/state.js';
import { EventColumns } from '../../core/tables/event-columns.js';
import { messageOf } from '../../errors.js';
import { limits } from '../../limits.js';
import type { ChangeTable } from '../feed/change-table.js';
import { DamagedError, type LogReader, type SnapshotStore, type StoredBatch } from '../ports/storage.js';

/** A state that follows a log batch by batch. Not to be confused with a follower of a cluster. */
export class Follower {
  readonly state: GroupState;
  chain: Uint8Array;
  /** Set while the verdict stream has readers. */
  changes: ChangeTable | null = null;
  readonly #events = new EventColumns();
  readonly #begunAt: number;
  readonly #carryingBefore: boolean;
  /** Records since then that carry a pair's sums, counted from `#begunAt`. */
  readonly #carrying = new Bits();

  constructor(state: GroupState, chain: Uint8Array) {
    this.state = state;
    this.chain = chain;
    this.#begunAt = state.lastSeq;
    this.#carryingBefore = state.retired.seq > 0;
  }

  /** Returns whether a record of this log carries a pair's sums; undefined if only the log can tell. */
  carriesSums(seq: number): boolean | undefined {
    if (seq > this.#begunAt) return this.#carrying.has(seq - this.#begunAt);
    return this.#carryingBefore ? undefined : false;
  }

  /** Like `catchUp` for many records at once. The state must not be read meanwhile, nor after an error. */
  replay(log: LogReader, upTo: number): void {
    this.state.sortEvents(upTo - this.state.lastSeq);
    this.#followAll(upTo, (seq, take) => log.borrow(seq, limits.catchUpBatches, limits.catchUpBytes, take));
    this.state.settle();
  }

  /** Applies the log up to the end of a batch, `upTo`. Throws `DamagedError` if the chain is broken. */
  catchUp(log: LogReader, upTo: number): void {
    this.#followAll(upTo, (seq, take) => {
      // Inside a read, which no writer should wait for, a thread of low priority would take seconds on a busy core.
      const batches = log.from(seq, limits.catchUpBatches, limits.followBytes);
      batches.forEach(take);
      return batches.length;
    });
  }

  #followAll(upTo: number, read: (firstSeq: number, take: (stored: StoredBatch) => void) => number): void {
    const take = (stored: StoredBatch) => {
      if (this.state.lastSeq < upTo) this.follow(batchFrom(stored));
    };
    while (this.state.lastSeq < upTo) {
      if (read(this.state.lastSeq + 1, take) === 0)
        throw new DamagedError(`the log ends at record ${this.state.lastSeq}; expected record ${upTo}`);
    }
  }

  /** Throws `DamagedError`, and leaves the state unchanged, if the batch does not follow the log. */
  follow(batch: Batch): void {
    if (!batch.follows(this.chain, this.state.lastSeq)) {
      throw new DamagedError(`the log breaks off after record ${this.state.lastSeq}: the next batch does not follow`);
    }
    while (this.state.lastSeq < batch.lastSeq) {
      batch.events(this.state.lastSeq + 1, this.#events);
      if (this.#events.count === 0) this.#followRecord(batch.record(this.state.lastSeq + 1), batch.at);
      else {
        this.state.applyEvents(this.#events, batch.at);
        this.changes?.afterEvents(this.#events);
      }
    }
    this.chain = batch.chain;
  }

  #followRecord(record: LogRecord, at: number): void {
    this.changes?.before(record);
    this.state.apply(record, at);
    if (record.type === 'evidence_kept') this.#carrying.add(this.state.lastSeq - this.#begunAt);
    this.changes?.after(record);
  }
}

/** Throws `DamagedError` if the batch is damaged, or stored under another number than its own. */
export function batchFrom({ firstSeq, bytes }: StoredBatch): Batch {
  try {
    const batch = new Batch(bytes);
    if (batch.firstSeq === firstSeq) return batch;
    throw new Error(`found the batch of record ${batch.firstSeq}`);
  } catch (error) {
    throw new DamagedError(`log batch at record ${firstSeq}: ${messageOf(error)}`);
  }
}

/** 0 if it is empty. */
export function lastSeqOf(log: LogReader): number {
  const last = log.last();
  return last === undefined ? 0 : batchFrom(last).lastSeq;
}

/**
 * Throws `DamagedError` if the log ends before a record that it held when it was verified. Only the first commit uses
 * pages that LMDB lists as free; if their list is damaged, it may have overwritten others.
 */
export function mustReach(log: LogReader, seq: number): void {
  const lastSeq = lastSeqOf(log);
  if (lastSeq >= seq) return;
  throw new DamagedError(
    `the log ends at record ${lastSeq} now that it is acquired, though it held record ${seq} before: its file is damaged`,
  );
}

export interface Recovered {
  readonly follower: Follower;
  readonly snapshotSeq: number;
  readonly problems: readonly string[];
}

/** Null for an empty log. Throws `DamagedError` if neither a snapshot nor the whole log leads to record `upTo`. */
export function recover(log: LogReader, snapshots: SnapshotStore, salt: Uint8Array, upTo: number): Recovered | null {
  if (upTo === 0) return null;
  const problems: string[] = [];
  for (const seq of snapshots.list()) {
    let follower: Follower;
    try {
      follower = snapshotAt(snapshots, seq, salt);
    } catch (error) {
      problems.push(`snapshot ${seq}: ${messageOf(error)}`);
      continue;
    }
    if (seq > upTo) throw new DamagedError(`the log ends at record ${upTo}, before snapshot ${seq}`);
    follower.replay(log, upTo);
    return { follower, snapshotSeq: seq, problems };
  }
  const follower = new Follower(new GroupState(formationOf(log), salt), chainStart);
  follower.state.eventIds.reserve(upTo);
  follower.replay(log, upTo);
  return { follower, snapshotSeq: 0, problems };
}

export function headerOf(snapshots: SnapshotStore, seq: number) {
  const header = snapshots.readHeader(seq);
  if (header.version === SNAPSHOT_VERSION) return header;
  const release = header.version < SNAPSHOT_VERSION ? 'an earlier' : 'a later';
  throw new DamagedError(`has format ${header.version} of ${release} release; expected format ${SNAPSHOT_VERSION}`);
}

/** Throws if the snapshot is incomplete, or if its content differs from its header. */
export function snapshotAt(snapshots: SnapshotStore, seq: number, salt: Uint8Array): Follower {
  const header = headerOf(snapshots, seq);
  const state = loadSnapshot(snapshots.borrowBlocks(seq), salt);
  if (state.lastSeq !== seq) throw new DamagedError(`contains the state at record ${state.lastSeq}`);
  if (stateDigest(state) !== header.digest) {
    throw new DamagedError('its content does not have the digest of its header');
  }
  return new Follower(state, Buffer.from(header.chain, 'hex'));
}

/** Throws `DamagedError` if the log does not start with the record that defines the group. */
export function formationOf(log: LogReader): GroupFormed {
  const stored = log.from(1, 1, 1)[0];
  if (stored === undefined || stored.firstSeq !== 1) throw new DamagedError('the log does not start at record 1');
  const first = batchFrom(stored).record(1);
  if (first.type !== 'group_formed') throw new DamagedError('the log does not start with the formation of a group');
  return first;
}
