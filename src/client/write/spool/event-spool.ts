/** Implements `EventSpool`: connects the journal, which manages the files, to the node, and bounds the queue's size. */
import { mkdir } from 'node:fs/promises';
import { resolve as absolute } from 'node:path';
import { bounds } from '../../bounds.js';
import type { CallOptions } from '../../call-types.js';
import { abortable, onAbort, withResolve } from '../../transport/listeners.js';
import { type Runtime, systemRuntime } from '../../transport/time.js';
import { invalidArgument, TrustError } from '../../trust-error.js';
import type { TrustEvent } from '../client-event.js';
import { Delivery } from './delivery.js';
import { acquireFolder, type Release } from './folder-owner.js';
import { Journal } from './journal.js';
import type { SetAsideEvent, SpoolProgress, SpoolTarget } from './progress.js';
import { RECORD_EXTRA_BYTES, recordsBytes } from './spool-record.js';

/**
 * The policy for further events while the spool is full:
 *
 * - `refuse`: `add` rejects with `spool_full`.
 * - `wait`: `add` waits until there is room, or until its signal aborts. @public
 */
export type FullPolicy = 'refuse' | 'wait';

/** The options of an {@link EventSpool}. @public */
export interface SpoolOptions {
  /**
   * The folder, on a local disk; created if missing. Only one process may use it at a time. It contains player ids
   * unless the client has the salt.
   */
  readonly folder: string;
  /** The target of the deliveries. */
  readonly to: SpoolTarget;
  /** Largest size of the waiting events, in bytes. Default: 256 MiB. */
  readonly bytesMax?: number | undefined;
  /** The policy of a full spool. Default: `refuse`. */
  readonly whenFull?: FullPolicy | undefined;
  /** Called after every change of the progress. */
  readonly onProgress?: ((progress: SpoolProgress) => void) | undefined;
  /** Called for each event that was set aside, after it was written to the file. */
  readonly onSetAside?: ((event: SetAsideEvent) => void) | undefined;
  /** Time and randomness; for tests. Default: those of the system. */
  readonly runtime?: Runtime | undefined;
}

interface Waiting {
  readonly payload: Buffer;
  readonly written: ReturnType<typeof withResolve>;
  /** Stops listening to the caller's signal. */
  readonly release: () => void;
}

/**
 * A queue of events on disk between a game and its node. `add` resolves once the event is synced to disk; from then on
 * it is delivered in order, across restarts and while the node is down, exactly once by its id.
 *
 * Events that the service rejects for good are set aside in `set-aside.ndjson` in the folder (at most two files of 16
 * MiB) and reported. @public
 */
export class EventSpool {
  /**
   * Data that the start cut off from the folder's files: the torn end of a file, with events for which `add` had not
   * resolved.
   */
  readonly cuts: readonly { readonly file: string; readonly bytes: number }[];
  readonly #options: SpoolOptions;
  readonly #bytesMax: number;
  readonly #release: Release;
  readonly #journal: Journal;
  readonly #delivery: Delivery;
  /** The events that are not on disk yet, in order: those being written, and those that wait for that or for room. */
  readonly #queue = new Set<Waiting>();
  /** Their size on disk. */
  #queueBytes = 0;
  #flushing: Promise<void> | null = null;
  #closing: Promise<void> | null = null;

  private constructor(options: SpoolOptions, release: Release, journal: Journal, delivery: Delivery) {
    this.#options = options;
    this.#bytesMax = options.bytesMax ?? bounds.spoolBytes;
    this.#release = release;
    this.#journal = journal;
    this.#delivery = delivery;
    this.cuts = journal.cuts;
  }

  /**
   * Opens the folder and begins to deliver the waiting events. Rejects with `spool_in_use` if another process uses it,
   * `spool_failed` if the disk fails, and `invalid_argument` if its path is absent or too long or `whenFull` unknown.
   */
  static async open(options: SpoolOptions): Promise<EventSpool> {
    const { to, onProgress, onSetAside, runtime = systemRuntime, whenFull = 'refuse' } = options;
    // Callers in JavaScript have no types.
    if (whenFull !== 'refuse' && whenFull !== 'wait') throw invalidArgument("whenFull must be 'refuse' or 'wait'");
    if (typeof options.folder !== 'string' || options.folder === '') throw invalidArgument('folder must be a path');
    const folder = absolute(options.folder);
    let release: Release | undefined;
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      release = await acquireFolder(folder, runtime);
      const journal = await Journal.open(folder);
      const delivery = new Delivery({ folder, to, journal, runtime, onProgress, onSetAside });
      const spool = new EventSpool(options, release, journal, delivery);
      delivery.start(() => spool.#flush());
      return spool;
    } catch (cause) {
      await release?.();
      if (cause instanceof TrustError) throw cause;
      throw new TrustError('spool_failed', 'the spool could not be opened', { cause });
    }
  }

  /** The spool's progress. */
  get progress(): SpoolProgress {
    return this.#delivery.progress;
  }

  /**
   * Accepts an event and resolves with its id once it is on disk. Rejects with `invalid_argument`, `spool_full`,
   * `spool_failed` or `closed`; the event was then not accepted, and may be added again under the same id.
   */
  async add(event: TrustEvent, options: CallOptions = {}): Promise<string> {
    await this.#options.to.ready?.(options);
    const body = this.#options.to.prepare(event);
    const payload = Buffer.from(JSON.stringify(body));
    const bytesMax = Math.min(bounds.spoolEventBytes, this.#bytesMax - RECORD_EXTRA_BYTES);
    if (!(payload.byteLength <= bytesMax)) throw invalidArgument(`an event must have at most ${bytesMax} bytes`);
    const { signal } = options;
    signal?.throwIfAborted();
    if (this.#closing !== null) throw closed();
    if (this.#options.whenFull !== 'wait' && !this.#hasRoom(this.#queueBytes + recordsBytes([payload]))) {
      throw new TrustError('spool_full', `the spool is full: ${this.#bytesMax} bytes of events are waiting`);
    }
    const giveUp = () => {
      this.#remove(waiting);
      waiting.written.reject(signal?.reason);
      // The removed event may have blocked smaller ones.
      this.#flush();
    };
    const release = signal === undefined ? () => undefined : onAbort(signal, giveUp);
    const waiting: Waiting = { payload, written: withResolve(), release };
    this.#queue.add(waiting);
    this.#queueBytes += recordsBytes([payload]);
    this.#flush();
    await waiting.written.promise;
    return body.event_id;
  }

  /** Resolves once every event that was added before is delivered or set aside. Does not wait for later events. */
  async drained(options: CallOptions = {}): Promise<void> {
    const written = Array.from(this.#queue, (waiting) => waiting.written.promise);
    await abortable(Promise.allSettled(written), options.signal);
    await this.#delivery.drained(options.signal);
  }

  /**
   * Ends delivery, writes the events that were added, and releases the folder. Waiting events are delivered after the
   * next `open`.
   */
  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    // An event without room may find some meanwhile, and is then written.
    while (this.#flushing !== null) await this.#flushing;
    for (const waiting of this.#queue) {
      this.#remove(waiting);
      waiting.written.reject(closed());
    }
    await this.#delivery.stop();
    await this.#journal.close();
    await this.#release();
  }

  #hasRoom(bytes: number): boolean {
    return this.#delivery.pendingBytes + bytes <= this.#bytesMax;
  }

  #remove(waiting: Waiting): void {
    waiting.release();
    this.#queue.delete(waiting);
    this.#queueBytes -= recordsBytes([waiting.payload]);
  }

  #flush(): void {
    this.#flushing ??= this.#write();
  }

  /** Writes the queued events that have room, in groups with one sync each; new events accumulate meanwhile. */
  async #write(): Promise<void> {
    // Events of one turn of the event loop share a sync.
    await Promise.resolve();
    for (let group = this.#nextGroup(); group.length > 0; group = this.#nextGroup()) {
      const payloads = group.map(({ payload }) => payload);
      let fault: TrustError | undefined;
      try {
        await this.#journal.append(payloads);
        this.#delivery.added(payloads);
      } catch (cause) {
        fault = new TrustError('spool_failed', 'the spool could not be written', { cause });
      }
      for (const waiting of group) {
        this.#remove(waiting);
        if (fault === undefined) waiting.written.resolve();
        else waiting.written.reject(fault);
      }
    }
    this.#flushing = null;
  }

  /** The first queued events that have room, in order: smaller ones never overtake a large one. */
  #nextGroup(): Waiting[] {
    const group: Waiting[] = [];
    let bytes = 0;
    for (const waiting of this.#queue) {
      bytes += recordsBytes([waiting.payload]);
      const isWhole = group.length === bounds.spoolGroupEvents || (group.length > 0 && bytes > bounds.spoolGroupBytes);
      if (isWhole || !this.#hasRoom(bytes)) break;
      group.push(waiting);
      // An event that is being written cannot be given up.
      waiting.release();
    }
    return group;
  }
}

function closed(): TrustError {
  return new TrustError('closed', 'the spool is closed');
}
