/**
 * Verifies a store without changing anything: checksums, digests, chain, rewritten content and audit chain. Runs in its
 * own process, because a damaged file can kill its reader.
 */
import { createHash } from 'node:crypto';
import { auditHash, auditStart } from '../../core/records/audit.js';
import { type Batch, chainStart } from '../../core/records/batch.js';
import type { LogRecord } from '../../core/records/records.js';
import { metaIn } from '../../core/snapshot/snapshot.js';
import type { SnapshotMeta } from '../../core/snapshot/snapshot-meta.js';
import { messageOf } from '../../errors.js';
import { limits } from '../../limits.js';
import type { VerifyReport } from '../api.js';
import { DamagedError, type LogReader, type SnapshotStore, type StoredBatch } from '../ports/storage.js';
import { batchFrom, headerOf, snapshotAt } from './recovery.js';
import { RewrittenBatches } from './rewritten.js';

/**
 * `start`: the newest snapshot and the log behind it. `full`: everything, with all snapshots loaded. `background`: like
 * `full`, but snapshots are only checked for completeness, so that no state takes memory or time.
 */
export type VerifyMode = 'start' | 'full' | 'background';

/** The head that the log must reach at least. */
export interface ExpectedHead {
  readonly lastSeq: number;
  /** Chain value (hex) of the batch that ends there. */
  readonly chain: string;
}

interface Position {
  seq: number;
  chain: Uint8Array;
  audit: string;
}

const noSalt = new Uint8Array(0);

/** Verifies in bounded steps, and yields the progress in the log. */
export function* verifySteps(
  log: LogReader,
  snapshots: SnapshotStore,
  expected: ExpectedHead | null,
  mode: VerifyMode,
): Generator<[done: number, total: number], VerifyReport> {
  const report = yield* stepsBy(mode === 'full' ? verifyContent : verifyBlocks, log, snapshots, expected, mode);
  if (report.ok || mode !== 'start') return report;
  // Check the content before a start is refused: it may be a complete snapshot that differs, which a start skips.
  return yield* stepsBy(verifyContent, log, snapshots, expected, mode);
}

function* stepsBy(
  verifySnapshot: typeof verifyContent,
  log: LogReader,
  snapshots: SnapshotStore,
  expected: ExpectedHead | null,
  mode: VerifyMode,
): Generator<[done: number, total: number], VerifyReport> {
  const images: { seq: number; ok: boolean; fault?: string }[] = [];
  let from: Position | null = null;
  for (const seq of snapshots.list()) {
    try {
      const image = verifySnapshot(snapshots, seq);
      images.push({ seq, ok: true });
      from ??= image;
      if (mode === 'start') break;
    } catch (error) {
      if (snapshots.list().includes(seq)) images.push({ seq, ok: false, fault: messageOf(error) });
    }
  }
  const start = { seq: 0, chain: chainStart, audit: auditStart };
  const walk = new Walk(mode === 'start' && from !== null ? from : start);
  const faults = yield* walk.over(log, expected);
  if (mode === 'start' && from !== null && !endsAt(log, from)) {
    faults.push(`the log has no record ${from.seq}, the last one of snapshot ${from.seq}`);
  }
  const newest = images.find((image) => image.ok);
  if (newest !== undefined && newest.seq > walk.lastSeq) {
    faults.push(`the log ends at record ${walk.lastSeq}, before snapshot ${newest.seq}`);
  }
  if (mode !== 'start')
    for (const { seq, fault } of images) if (fault !== undefined) faults.push(`snapshot ${seq}: ${fault}`);
  return {
    ok: faults.length === 0,
    lastSeq: walk.lastSeq,
    batches: walk.batches,
    records: walk.records,
    auditEntries: walk.auditEntries,
    snapshots: images,
    ...(mode === 'full' && faults.length === 0 ? { digest: walk.digest() } : {}),
    faults,
  };
}

/** A log that lost all of its batches looks like one that ends at the position. */
function endsAt(log: LogReader, { seq, chain }: Position): boolean {
  try {
    const stored = log.at(seq);
    if (stored === undefined) return false;
    const batch = batchFrom(stored);
    return batch.lastSeq === seq && Buffer.compare(batch.chain, chain) === 0;
  } catch {
    return false;
  }
}

function verifyContent(snapshots: SnapshotStore, seq: number): Position {
  const { state, chain } = snapshotAt(snapshots, seq, noSalt);
  return { seq, chain, audit: state.auditHead };
}

/** Checks only the blocks; a start that loads the snapshot checks the content. */
function verifyBlocks(snapshots: SnapshotStore, seq: number): Position {
  const { chain } = headerOf(snapshots, seq);
  let meta: SnapshotMeta | null = null;
  for (const block of snapshots.borrowBlocks(seq)) meta ??= metaIn(block);
  if (meta?.lastSeq !== seq) throw new DamagedError(`contains the state at record ${meta?.lastSeq}`);
  return { seq, chain: Buffer.from(chain, 'hex'), audit: meta.auditHead };
}

class Walk {
  batches = 0;
  records = 0;
  auditEntries = 0;
  readonly #position: Position;
  readonly #bytes = createHash('sha256');
  readonly #startSeq: number;
  readonly #rewritten = new RewrittenBatches();

  constructor(from: Position) {
    this.#position = { ...from };
    this.#startSeq = from.seq;
  }

  get lastSeq(): number {
    return this.#position.seq;
  }

  /** May be called once. */
  digest(): string {
    return this.#bytes.digest('hex');
  }

  *over(log: LogReader, expected: ExpectedHead | null): Generator<[done: number, total: number], string[]> {
    try {
      yield* this.#batches(log, expected);
      this.#rewritten.mustBeAccountedFor();
      if (expected !== null && expected.lastSeq > this.lastSeq) {
        throw new DamagedError(
          `the log ends at record ${this.lastSeq}; head.json says that record ${expected.lastSeq} was written`,
        );
      }
      return [];
    } catch (error) {
      return [messageOf(error)];
    }
  }

  *#batches(log: LogReader, expected: ExpectedHead | null): Generator<[done: number, total: number]> {
    const end = log.last()?.firstSeq ?? 0;
    for (;;) {
      const { catchUpBatches, catchUpBytes } = limits;
      const take = (stored: StoredBatch) => this.#batch(batchFrom(stored), expected);
      if (log.borrow(this.lastSeq + 1, catchUpBatches, catchUpBytes, take) === 0) return;
      this.#rewritten.readAllAgain(log);
      // The log of a running node grows meanwhile.
      yield [this.lastSeq, Math.max(end, this.lastSeq)];
    }
  }

  #batch(batch: Batch, expected: ExpectedHead | null): void {
    const at = `log batch at record ${this.lastSeq + 1}`;
    if (!batch.follows(this.#position.chain, this.lastSeq))
      throw new DamagedError(`${at}: does not follow the batch before it`);
    this.#rewritten.add(batch);
    for (let seq = batch.firstSeq; seq <= batch.lastSeq; seq++) {
      // The digest of the batch already covers its events, so the walk does not decode them.
      if (!batch.isEvent(seq)) this.#record(batch.record(seq), seq, batch.at);
    }
    this.records += batch.count;
    this.batches++;
    this.#bytes.update(batch.bytes);
    this.#position.seq = batch.lastSeq;
    this.#position.chain = batch.chain;
    if (expected?.lastSeq === batch.lastSeq && Buffer.from(batch.chain).toString('hex') !== expected.chain) {
      throw new DamagedError(`${at}: head.json belongs to another log`);
    }
  }

  #record(record: LogRecord, seq: number, at: number): void {
    if (record.type === 'batches_rewritten') this.#rewritten.note(record, this.#startSeq);
    if (!('audit' in record)) return;
    const { audit } = record;
    if (audit.prev_hash !== this.#position.audit || auditHash(audit.prev_hash, seq, at, audit) !== audit.hash) {
      throw new DamagedError(`audit entry at record ${seq}: the chain of hashes is broken`);
    }
    this.#position.audit = audit.hash;
    this.auditEntries++;
  }
}
