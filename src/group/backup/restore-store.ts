/**
 * Restores a log from a backup. Removals of the replaced log stay: its tombstones are written again, and
 * its later erasures and withdrawals are applied again, in their order and at their times.
 */
import { Bits } from '../../core/bits.js';
import { audited } from '../../core/decision.js';
import { type Batch, BatchWriter, chainStart } from '../../core/records/batch.js';
import { type PairRecord, pairRecordsTo } from '../../core/records/pair-records.js';
import type * as records from '../../core/records/records.js';
import { carriedSums, decideWithdrawal, headOfPair, readAgain } from '../../core/rules/decide-removal.js';
import type { GroupState } from '../../core/state.js';
import { NO_KEY, OPERATOR } from '../../core/vocabulary.js';
import { NamedError } from '../../errors.js';
import { limits } from '../../limits.js';
import { RecordReader } from '../listing/listing.js';
import { DamagedError, type LogReader, type StoredBatch } from '../ports/storage.js';
import { batchFrom, lastSeqOf } from '../recovery/recovery.js';
import type { CopyProgress, LogSink } from './copy-store.js';

/** The replaced log does not continue the log of the backup, so its erasures cannot be applied. */
export class ForeignLogError extends NamedError {}

type ErasureRecord = Extract<records.LogRecord, { type: 'subject_erased' | 'erasure_requested' | 'erasure_refused' }>;

type LostFact = records.AuditFact & { readonly at: number };

export interface RestoredLog extends Readonly<ReturnType<Restore['result']>> {}

export interface RestoreDeps {
  readonly backup: LogReader;
  /** The state at the end of the backup, which the restore changes. Called at most once. */
  readonly stateOfBackup: () => GroupState;
  readonly old: LogReader | null;
  readonly sink: Pick<LogSink, 'add'>;
  readonly nonce: () => Uint8Array;
  readonly progress: CopyProgress;
}

/** Throws `ForeignLogError` if `old` does not continue the backup, and `DamagedError` for a damaged log. */
export async function restoreLog(deps: RestoreDeps): Promise<RestoredLog> {
  const restore = new Restore(deps);
  await restore.copy();
  await restore.withdraw();
  return restore.result();
}

class Restore {
  readonly #old: Iterator<Batch>;
  /** `lostEvents` and `lostFacts` are newer than the backup, and not applied again. */
  readonly #found = { erasures: 0, requests: 0, withdrawals: 0, lostEvents: 0, lostFacts: [] as LostFact[] };
  readonly #rewritten: (readonly [firstSeq: number, digest: string])[] = [];
  readonly #waiting: StoredBatch[] = [];
  #waitingBytes = 0;
  #state: GroupState | null = null;
  #lastSeq = 0;
  #lastAt = 0;
  #chain: Uint8Array = chainStart;
  /** Records of the old log, counted from the end of the backup, whose chain begins in the backup. */
  readonly #erasedSeqs = new Bits();
  /** Targets in the audit log that name a request by its record: in the old log, and in the restored one. */
  readonly #targets = new Map<string, string>();
  readonly #written = new Map<number, records.LogRecord>();
  #backupSeq = 0;

  constructor(private readonly deps: RestoreDeps) {
    this.#old = deps.old === null ? ([] as Batch[]).values() : batchesOf(deps.old);
  }

  async copy(): Promise<void> {
    const { backup, old, progress } = this.deps;
    this.#backupSeq = lastSeqOf(backup);
    for (const batch of batchesOf(backup)) {
      const left = old === null ? batch : this.#asLeft(batch);
      if (left !== batch) this.#rewritten.push([left.firstSeq, left.digestNow()]);
      await this.#write(left);
      progress(this.#lastSeq, this.#backupSeq);
    }
  }

  async withdraw(): Promise<void> {
    for (let from = 0; from < this.#rewritten.length; from += limits.redactionPieceBatches) {
      const batches = this.#rewritten.slice(from, from + limits.redactionPieceBatches);
      await this.#append([{ type: 'batches_rewritten', batches }], this.#lastAt);
    }
    for (let left = this.#nextOld(); left !== undefined; left = this.#nextOld()) {
      const { at, firstSeq } = left;
      const records = [...left].flatMap((record, i) => this.#again(record, firstSeq + i, at));
      if (records.length > 0) await this.#append(records, at);
    }
    await this.#flush();
  }

  result() {
    const changed = this.#lastSeq > this.#backupSeq;
    return { lastSeq: this.#lastSeq, chain: this.#chain, changed, ...this.#found };
  }

  /** Removes from a batch what the old log has removed from it. */
  #asLeft(batch: Batch): Batch {
    const old = this.#nextOld();
    if (old === undefined) return batch;
    if (old.firstSeq !== batch.firstSeq || Buffer.compare(old.chain, batch.chain) !== 0) {
      throw new ForeignLogError(`the old log is not the log of the backup: they differ after record ${this.#lastSeq}`);
    }
    if (Buffer.compare(old.bytes, batch.bytes) === 0) return batch;
    const erased = new Map<number, records.LogRecord>();
    for (let seq = batch.firstSeq; seq <= batch.lastSeq; seq++) {
      const record = old.record(seq);
      if (isErased(record) && !isErased(batch.record(seq))) erased.set(seq, record);
    }
    return erased.size === 0 ? batch : batch.rewrite(erased);
  }

  #nextOld(): Batch | undefined {
    try {
      const next = this.#old.next();
      return next.done === true ? undefined : next.value;
    } catch (error) {
      if (error instanceof DamagedError) throw new ForeignLogError(`the old log is damaged: ${error.message}`);
      throw error;
    }
  }

  /** Applies and returns the records that the restored log needs because of a newer record of the old log. */
  #again(record: records.LogRecord, seq: number, at: number): records.LogRecord[] {
    const goesOn =
      'prev' in record &&
      record.prev > 0 &&
      (record.prev <= this.#backupSeq || this.#erasedSeqs.has(record.prev - this.#backupSeq));
    if (goesOn) this.#erasedSeqs.add(seq - this.#backupSeq);
    switch (record.type) {
      case 'subject_erased':
        this.#found.erasures++;
        return [this.#reissued(record, at)];
      case 'erasure_requested':
        this.#found.requests++;
        this.#targets.set(`request ${seq}`, `request ${this.#stateNow().lastSeq + 1}`);
        return [this.#reissued(record, at)];
      case 'erasure_refused':
        return [this.#reissued(record, at)];
      case 'events_erased':
        return this.#erased(record, at);
      case 'event_withdrawn':
        return this.#withdrawn(record, at);
      case 'evidence_kept':
        return goesOn ? this.#carriedSums(record, at) : [];
      case 'events_retired':
        return [this.#applied({ ...record, up_to: Math.min(record.up_to, this.#backupSeq), done: false }, at)];
      case 'event_accepted':
      case 'event_gone':
        this.#found.lostEvents++;
        return [];
      default:
        if ('audit' in record) {
          const { action, actor, target } = record.audit;
          this.#found.lostFacts.push({ at, action, actor, target });
        }
        return [];
    }
  }

  /** The audit entry continues this log. The operator takes the place of a peer that this log does not know. */
  #reissued<R extends ErasureRecord>(record: R, at: number): R {
    const state = this.#stateNow();
    const isUnknown = 'peer' in record && record.peer !== NO_KEY && !state.peers.has(record.peer);
    const { action, actor, target } = record.audit;
    const audit = audited(state, at, { action, actor, target: this.#targets.get(target) ?? target });
    return this.#applied({ ...record, ...(isUnknown && { peer: OPERATOR }), audit }, at);
  }

  #erased(record: records.EventsErased, at: number): records.LogRecord[] {
    const events = record.events.filter((seq) => seq <= this.#backupSeq);
    return events.length === 0 ? [] : [this.#applied({ ...record, events }, at)];
  }

  #withdrawn({ subject, event_seq: eventSeq }: records.EventWithdrawn, at: number): records.LogRecord[] {
    // A subject that was erased afterwards is already removed here.
    if (subject === null || eventSeq > this.#backupSeq) return [];
    const event = new RecordReader(this.deps.backup).read(eventSeq).record;
    if (event.type !== 'event_accepted') return [];
    const state = this.#stateNow();
    const chain = this.#pairRecordsTo(event, eventSeq);
    const decision = decideWithdrawal(
      state,
      { caller: null, eventSeq, event, asOf: state.redacted, chain, chainAsOf: state.lastSeq },
      at,
    );
    if (decision === readAgain || !decision.outcome.ok) return [];
    this.#found.withdrawals++;
    return decision.records.map((record) => this.#applied(record, at));
  }

  /** From the backup and from the records written since. */
  #pairRecordsTo({ subject, peer }: records.EventAccepted, eventSeq: number): PairRecord[] {
    const state = this.#stateNow();
    const reader = new RecordReader(this.deps.backup);
    const read = (seq: number) => this.#written.get(seq) ?? reader.read(seq).record;
    return pairRecordsTo(read, headOfPair(state, subject, peer), eventSeq, state.retired.seq, limits.walkRecordsMax);
  }

  #carriedSums({ subject, peer }: records.CarriedSums, at: number): records.LogRecord[] {
    const sums = subject === null ? null : carriedSums(this.#stateNow(), subject, peer);
    return sums === null ? [] : [this.#applied(sums, at)];
  }

  #applied<R extends records.LogRecord>(record: R, at: number): R {
    const state = this.#stateNow();
    state.apply(record, at);
    if ('prev' in record) this.#written.set(state.lastSeq, record);
    return record;
  }

  #stateNow(): GroupState {
    if (this.#state === null) {
      this.#state = this.deps.stateOfBackup();
      // Skip the records that changed nothing in the state.
      this.#state.lastSeq = this.#lastSeq;
    }
    return this.#state;
  }

  async #append(records: readonly records.LogRecord[], at: number): Promise<void> {
    const writer = new BatchWriter();
    for (const record of records) writer.add(record);
    await this.#write(writer.seal(this.#lastSeq + 1, at, this.deps.nonce(), this.#chain));
  }

  async #write(batch: Batch): Promise<void> {
    this.#lastSeq = batch.lastSeq;
    this.#lastAt = batch.at;
    this.#chain = batch.chain;
    this.#waiting.push({ firstSeq: batch.firstSeq, bytes: batch.bytes });
    this.#waitingBytes += batch.bytes.length;
    const isFull = this.#waiting.length >= limits.catchUpBatches || this.#waitingBytes >= limits.catchUpBytes;
    if (isFull) await this.#flush();
  }

  async #flush(): Promise<void> {
    if (this.#waiting.length > 0) await this.deps.sink.add(this.#waiting);
    this.#waiting.length = 0;
    this.#waitingBytes = 0;
  }
}

function isErased(record: records.LogRecord): boolean {
  return record.type === 'event_gone' || ('subject' in record && record.subject === null);
}

function* batchesOf(log: LogReader): Generator<Batch, undefined> {
  let seq = 0;
  let chain: Uint8Array = chainStart;
  for (;;) {
    const stored = log.from(seq + 1, limits.catchUpBatches, limits.catchUpBytes);
    if (stored.length === 0) return undefined;
    for (const one of stored) {
      const batch = batchFrom(one);
      if (!batch.follows(chain, seq)) throw new DamagedError(`the log breaks off after record ${seq}`);
      seq = batch.lastSeq;
      chain = batch.chain;
      yield batch;
    }
  }
}
