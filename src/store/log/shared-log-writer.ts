/** The log of a cluster's node: LMDB never holds a batch that the shared log did not accept. */
import { IdTags } from '../../core/tables/id-tags.js';
import type { Timers } from '../../group/ports/clock.js';
import type { Fence, Redaction, Slot } from '../../group/ports/shared-log.js';
import {
  DamagedError,
  type LogWriter,
  OwnerLostError,
  ScrubDeferredError,
  type StoredBatch,
  StoreEndedError,
} from '../../group/ports/storage.js';
import { batchFrom, formationOf } from '../../group/recovery/recovery.js';
import { replacementOf } from '../../group/removal/redaction.js';
import { limits } from '../../limits.js';
import type { EtcdLog } from '../etcd/etcd-log.js';
import type { LmdbLogWriter } from './lmdb-log.js';

/** Calls from the writer to the rest of the node. */
export interface SharedLogHooks {
  readonly appended: (firstSeq: number) => void;
  readonly redacted: (seq: number) => void;
  /** Resolves once no snapshot of this node would bring back a player whom the next slot removes. */
  readonly forgetErased: () => Promise<void>;
  /** Called before replaced records are left in the free space of this node's files. */
  readonly replaces: () => void;
  /** Runs a scrub of this node's files once no other one runs. Earlier marks of replaced records are then done with. */
  readonly scrubOwn: (overwrite: () => Promise<void>, stopping?: AbortSignal) => Promise<void>;
  /** Rejects with `ScrubDeferredError` if no scrub may begin now. */
  readonly mayScrub: () => Promise<void>;
  /** Called if LMDB could not store an acknowledged batch: the state is ahead of this node's files. */
  readonly storeFailed: (error: unknown) => void;
  /** Extends a scrub to the other nodes, after this node's own files. */
  readonly scrubElsewhere: (signal?: AbortSignal) => Promise<void>;
}

export class SharedLogWriter implements LogWriter {
  #fence: Fence | null = null;
  /** Ends the wait for an outcome that stays unknown. */
  #ending = new AbortController();
  #appending: Promise<void> = Promise.resolve();
  readonly #store: DelayedStore;
  /** First record of the newest batch that the shared log has; null if this node's own log has it. */
  #newest: number | null = null;
  #tags: IdTags | null = null;
  appendedBytes = 0;

  constructor(
    readonly local: OwnLog,
    private readonly shared: Pick<EtcdLog, 'append'>,
    private readonly salt: Uint8Array,
    timers: Pick<Timers, 'later'>,
    private readonly hooks: SharedLogHooks,
  ) {
    this.#store = new DelayedStore(local, timers, hooks.storeFailed);
  }

  /** Epoch of this node's folder: it fences other processes on the same folder, not other nodes. */
  get epoch(): number {
    return this.local.epoch;
  }

  lead(fence: Fence): void {
    this.#fence = fence;
    this.#ending = new AbortController();
  }

  /** Accepts no further append, and gives up an append whose outcome is unknown. */
  follow(): void {
    this.#fence = null;
    this.#ending.abort();
  }

  readonly last: LogWriter['last'] = () => this.local.last();
  readonly at: LogWriter['at'] = (seq) => this.local.at(seq);
  readonly from: LogWriter['from'] = (...range) => this.local.from(...range);
  readonly borrow: LogWriter['borrow'] = (...range) => this.local.borrow(...range);

  get storingFrom(): number | null {
    return this.#store.from;
  }

  stored(): Promise<void> {
    return this.#store.stored();
  }

  /** Resolves once no append is in progress. */
  async appended(): Promise<void> {
    await this.#appending.catch(() => undefined);
  }

  /** Resolves once no append or local commit is in progress. The node then continues with LMDB's log. */
  async settled(): Promise<void> {
    await this.appended();
    await this.stored().catch(() => undefined);
    this.#store.reset();
    this.#newest = null;
  }

  /** Without a batch, the rewrites apply to this node only. A turn that rewrites always has a batch. */
  append(batch: StoredBatch | null, rewrites: readonly StoredBatch[]): Promise<void> {
    const appended = this.#append(batch, rewrites);
    this.#appending = appended;
    return appended;
  }

  async #append(batch: StoredBatch | null, rewrites: readonly StoredBatch[]): Promise<void> {
    const fence = this.#fence;
    if (fence === null) throw new OwnerLostError('this node does not lead');
    if (this.#store.error !== null) throw this.#store.error;
    // Redactions are computed from stored batches.
    if (batch === null || rewrites.length > 0) await this.stored();
    if (batch === null) return this.local.append(batch, rewrites);
    const previous = this.#newest ?? Math.max(0, this.local.newestFirstSeq);
    if (batch.firstSeq <= previous) {
      throw new Error(`a batch at ${batch.firstSeq} cannot follow the one at ${previous}`);
    }
    const redactions = rewrites.map((rewrite) => this.#redactionOf(rewrite));
    await this.shared.append(fence, { ...batch, redactions }, previous, this.#ending.signal);
    this.hooks.appended(batch.firstSeq);
    this.appendedBytes += batch.bytes.length;
    for (const redaction of redactions) {
      if (redaction.type === 'records') for (const seq of redaction.seqs) this.hooks.redacted(seq);
      else this.hooks.redacted(redaction.firstSeq);
    }
    this.#newest = batch.firstSeq;
    // Another leader completes the erasure if this node crashes before its scrub, and cannot ask this node for one.
    const marked = async () => {
      this.hooks.replaces();
      return rewrites;
    };
    this.#store.add({ ...batch, ...(rewrites.length > 0 && { rewrites: marked }) });
    await (rewrites.length > 0 ? this.stored() : this.#store.room());
  }

  /**
   * Takes slots that follow the newest batch, in their order, without a wait: `stored` waits until this node's disk has
   * them. Throws if an earlier one could not be stored.
   */
  take(slots: readonly Slot[]): void {
    for (const slot of slots) {
      const { firstSeq, bytes, redactions } = slot;
      this.#newest = firstSeq;
      this.#store.add({ firstSeq, bytes, ...(redactions.length > 0 && { rewrites: () => this.#rewritesOf(slot) }) });
    }
  }

  /** Resolves once few enough bytes wait to be stored. */
  room(): Promise<void> {
    return this.#store.room();
  }

  /** Gives up slots that wait until players are forgotten, and all behind: the node reads them again when it starts. */
  endTaking(): void {
    this.#store.end();
  }

  /** Call once all earlier batches are stored. */
  async #rewritesOf(slot: Slot): Promise<StoredBatch[]> {
    if (this.#forgets(slot)) await this.hooks.forgetErased();
    this.hooks.replaces();
    return slot.redactions.map((redaction) => this.#rewriteOf(redaction));
  }

  /** Whether the slot removes a player whom an older snapshot would bring back. */
  #forgets({ redactions }: Slot): boolean {
    return redactions.some((redaction) => {
      if (redaction.type === 'bytes') return true;
      const batch = batchFrom(this.#stored(redaction.firstSeq));
      return redaction.seqs.some((seq) => batch.record(seq).type === 'subject_erased');
    });
  }

  async scrub(signal?: AbortSignal): Promise<void> {
    await this.hooks.mayScrub();
    // A new leader may have slots of an earlier one that its files do not hold yet.
    await this.stored().catch((error: unknown) => {
      throw error instanceof StoreEndedError ? new ScrubDeferredError(error.message) : error;
    });
    await this.hooks.scrubOwn(() => this.local.scrub(signal), signal);
    await this.hooks.scrubElsewhere(signal);
  }

  async close(): Promise<void> {
    this.follow();
    await this.settled();
    await this.local.close();
  }

  #stored(firstSeq: number): StoredBatch {
    const stored = this.local.at(firstSeq);
    if (stored?.firstSeq === firstSeq) return stored;
    throw new Error(`there is no batch at ${firstSeq} to replace`);
  }

  /** Returns the replaced records, or else the whole batch, from which another node makes the same batch. */
  #redactionOf(rewrite: StoredBatch): Redaction {
    const { firstSeq } = rewrite;
    const bytes = { type: 'bytes', ...rewrite } as const;
    const stored = this.#stored(firstSeq);
    try {
      const before = batchFrom(stored);
      const after = batchFrom(rewrite);
      const seqs: number[] = [];
      for (let seq = before.firstSeq; seq <= before.lastSeq; seq++) {
        if (Buffer.compare(before.recordBytes(seq), after.recordBytes(seq)) !== 0) seqs.push(seq);
      }
      const redaction = { type: 'records', firstSeq, seqs } as const;
      return Buffer.compare(this.#rewriteOf(redaction).bytes, rewrite.bytes) === 0 ? redaction : bytes;
    } catch (error) {
      if (error instanceof DamagedError) return bytes;
      throw error;
    }
  }

  #rewriteOf(redaction: Redaction): StoredBatch {
    const { firstSeq } = redaction;
    const stored = this.#stored(firstSeq);
    if (redaction.type === 'bytes') return { firstSeq, bytes: redaction.bytes };
    const batch = batchFrom(stored);
    this.#tags ??= new IdTags(Buffer.from(formationOf(this.local).node_secret, 'hex'), this.salt);
    const tags = this.#tags;
    const replaced = redaction.seqs.map((seq) => [seq, replacementOf(batch.record(seq), (id) => tags.of(id))] as const);
    return { firstSeq, bytes: batch.rewrite(new Map(replaced)).bytes };
  }
}

export type OwnLog = LogWriter & Pick<LmdbLogWriter, 'appendAll' | 'newestFirstSeq'>;

/** A batch, and what makes those that replace earlier batches in its commit, once these are stored. */
interface WaitingBatch extends StoredBatch {
  readonly rewrites?: () => Promise<readonly StoredBatch[]>;
}

/**
 * Stores batches in their order, several in one commit, which costs a disk as much as an append to etcd does. A batch
 * that replaces earlier ones has a commit of its own.
 */
export class DelayedStore {
  /** Batches that no commit has begun to store. */
  #waiting: WaitingBatch[] = [];
  #bytes = 0;
  /** First record of the commit that is in progress or has failed; null if there is none. */
  #committing: number | null = null;
  #running: Promise<void> | null = null;
  #cancel: (() => void) | null = null;
  /** Gives up the wait for the batches that replace earlier ones. */
  #giveUp: (() => void) | null = null;
  #isEnded = false;
  error: unknown = null;

  /** `onFailure` is called once if a commit fails. No further commit begins before `reset`. */
  constructor(
    private readonly local: OwnLog,
    private readonly timers: Pick<Timers, 'later'>,
    private readonly onFailure: (error: unknown) => void,
  ) {}

  /** First record of the batches that are not stored yet; null if there is none. */
  get from(): number | null {
    return this.#committing ?? this.#waiting[0]?.firstSeq ?? null;
  }

  /** Takes the next batch. Throws if a commit has failed. */
  add(batch: WaitingBatch): void {
    // The node reads it again when it starts.
    if (this.error instanceof StoreEndedError) return;
    if (this.error !== null) throw this.error;
    this.#waiting.push(batch);
    this.#bytes += batch.bytes.length;
    this.#plan();
  }

  /** Resolves once every batch that was added before the call is stored. Rejects if a commit failed. */
  async stored(): Promise<void> {
    const upTo = this.#waiting.at(-1)?.firstSeq ?? this.#committing ?? 0;
    while ((this.from ?? Number.POSITIVE_INFINITY) <= upTo && this.error === null) {
      this.#begin();
      await this.#running;
    }
    if (this.error !== null) throw this.error;
  }

  get #isErasing(): boolean {
    return this.#giveUp !== null || this.#waiting.some(({ rewrites }) => rewrites !== undefined);
  }

  /** Resolves once few enough bytes wait; more may while players are forgotten, which depends on other threads. */
  async room(): Promise<void> {
    const most = this.#isErasing ? limits.storeBehindErasureBytes : limits.storeWaitingBytes;
    if (this.#bytes >= most && !(this.error instanceof StoreEndedError)) await this.stored();
  }

  /** Stores no batch any more whose replacements are not made yet, and none behind it. */
  end(): void {
    this.#isEnded = true;
    this.#giveUp?.();
  }

  /** Forgets a failure, with the batches that were not stored. */
  reset(): void {
    if (this.error instanceof StoreEndedError) return;
    this.#stopTimer();
    this.#waiting = [];
    this.#bytes = 0;
    this.#committing = null;
    this.error = null;
  }

  #plan(): void {
    if (this.#running === null) this.#cancel ??= this.timers.later(() => this.#begin(), limits.storeDelayMs);
  }

  #stopTimer(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  /** Begins a commit of the waiting batches up to the next one that replaces others, unless one is in progress. */
  #begin(): void {
    this.#stopTimer();
    if (this.#running !== null || this.#waiting.length === 0 || this.error !== null) return;
    const batches = this.#waiting.splice(0, this.#countOfNext());
    for (const { bytes } of batches) this.#bytes -= bytes.length;
    this.#committing = batches[0]!.firstSeq;
    this.#running = this.#commit(batches);
  }

  /** A large commit would block the main thread, and need more room than a full disk has. */
  #countOfNext(): number {
    let bytes = 0;
    const end = this.#waiting.findIndex((batch) => {
      bytes += batch.bytes.length;
      return batch.rewrites !== undefined || bytes > limits.storeWaitingBytes;
    });
    return end === -1 ? this.#waiting.length : Math.max(1, end);
  }

  async #commit(batches: readonly WaitingBatch[]): Promise<void> {
    const [{ firstSeq, bytes, rewrites }] = batches as [WaitingBatch];
    try {
      if (rewrites === undefined) await this.local.appendAll(batches);
      else await this.local.append({ firstSeq, bytes }, await this.#made(rewrites));
      this.#committing = null;
    } catch (error) {
      this.error = error;
      if (!(error instanceof StoreEndedError)) this.onFailure(error);
    } finally {
      this.#running = null;
    }
    // Those behind a batch that replaces others have waited for it.
    if (this.#isErasing || rewrites !== undefined || this.#bytes > limits.storeWaitingBytes) this.#begin();
    else if (this.#waiting.length > 0) this.#plan();
  }

  #made(rewrites: NonNullable<WaitingBatch['rewrites']>): Promise<readonly StoredBatch[]> {
    return new Promise<readonly StoredBatch[]>((resolve, reject) => {
      this.#giveUp = () => reject(new StoreEndedError('the node is shutting down'));
      if (this.#isEnded) this.#giveUp();
      else rewrites().then(resolve, reject);
    }).finally(() => {
      this.#giveUp = null;
    });
  }
}
