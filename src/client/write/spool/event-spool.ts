/**
 * The offline queue of events: what `add` has accepted survives the process and the node's absence, and is delivered in
 * order, once. Files are the journal's business; this joins it to the node, and owns the policy of a full spool.
 */
import { mkdir } from 'node:fs/promises';
import { resolve as absolute } from 'node:path';
import { bounds } from '../../bounds.js';
import type { CallOptions } from '../../read/calls.js';
import { onAbort, type Runtime, systemRuntime } from '../../transport/runtime.js';
import { TrustError } from '../../trust-error.js';
import type { TrustEvent } from '../submission.js';
import { type Claim, claimFolder } from './claim.js';
import { Delivery } from './delivery.js';
import { type Cut, Journal } from './journal.js';
import type { SetAsideEvent, SpoolProgress, SpoolTarget } from './progress.js';
import { RECORD_HEAD_BYTES, recordBytes, recordsBytes } from './segment.js';
import { DeliveredMark } from './side-files.js';

/**
 * What a full spool does with a further event:
 *
 * - `refuse`: `add` rejects with `spool_full`.
 * - `wait`: `add` waits until there is room, or its signal gives up.
 * - `drop-oldest`: the oldest events are dropped and counted. While a batch is on its way nothing is: until then the
 *   spool may grow to twice its bound, and refuses beyond.
 *
 * @public
 */
export type FullPolicy = 'refuse' | 'wait' | 'drop-oldest';

/**
 * The options of an {@link EventSpool}.
 * @public
 */
export interface SpoolOptions {
  /**
   * The folder, on a local disk; made where it is missing. One process at a time. It holds player ids unless the client
   * has the salt.
   */
  readonly folder: string;
  /** Where events are delivered to. */
  readonly to: SpoolTarget;
  /** Bytes of waiting events at most; 256 MiB where it is left out. */
  readonly bytesMax?: number | undefined;
  /** What happens beyond; `refuse` where it is left out. */
  readonly whenFull?: FullPolicy | undefined;
  /** Called after whatever changes the progress. */
  readonly onProgress?: ((progress: SpoolProgress) => void) | undefined;
  /** Called for each event that was set aside, after it is in the file. */
  readonly onSetAside?: ((event: SetAsideEvent) => void) | undefined;
  /** Time and chance; the system's where they are left out. For tests. */
  readonly runtime?: Runtime | undefined;
}

interface Waiting {
  readonly eventId: string;
  readonly payload: Buffer;
  resolve(eventId: string): void;
  reject(error: unknown): void;
}

/** An event that waits for room. */
interface ForRoom {
  readonly bytes: number;
  admit(): void;
  refuse(): void;
}

/**
 * A queue of events on disk between a game and its node. `add` resolves once the event is synced to disk; from then on
 * it is delivered in order, across restarts and while the node is away, exactly once by its id.
 *
 * Events that the service rejects for good are set aside in `set-aside.ndjson` in the folder (two files of 16 MiB at
 * most) and reported.
 * @public
 */
export class EventSpool {
  /**
   * What the start took out of the folder's files: the end of one that was torn amid a write, with events of which
   * `add` had not resolved, cut off; or one without a whole event in it, kept as `*.damaged`, as which it is named
   * here.
   */
  readonly cuts: readonly { readonly file: string; readonly bytes: number }[];
  readonly #options: SpoolOptions;
  readonly #bytesMax: number;
  readonly #claim: Claim;
  readonly #journal: Journal;
  readonly #delivery: Delivery;
  readonly #queue: Waiting[] = [];
  /** Of events that have their room and are not on disk yet, as long as they will be there. */
  #pendingBytes = 0;
  /** Settles with the event that was queued last, and so after all before it. */
  #lastWritten: Promise<unknown> = Promise.resolve();
  /** Those that wait for room, in order. */
  readonly #forRoom = new Set<ForRoom>();
  #flushing: Promise<void> | null = null;
  #closing: Promise<void> | null = null;

  private constructor(options: SpoolOptions, claim: Claim, journal: Journal, delivery: Delivery, cuts: readonly Cut[]) {
    this.#options = options;
    this.#bytesMax = options.bytesMax ?? bounds.spoolBytes;
    this.#claim = claim;
    this.#journal = journal;
    this.#delivery = delivery;
    this.cuts = cuts;
  }

  /**
   * Opens the folder and begins to deliver what waits there. Rejects with `spool_in_use` where another process works on
   * it, `spool_failed` where the disk refuses, and `invalid_argument` where its path is too long.
   */
  static async open(options: SpoolOptions): Promise<EventSpool> {
    try {
      return await EventSpool.#open(options);
    } catch (cause) {
      if (cause instanceof TrustError) throw cause;
      throw new TrustError('spool_failed', 'the spool could not be opened', { cause });
    }
  }

  static async #open(options: SpoolOptions): Promise<EventSpool> {
    const { runtime = systemRuntime } = options;
    const folder = absolute(options.folder);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const claim = await claimFolder(folder, runtime);
    let mark: DeliveredMark | undefined;
    try {
      mark = await DeliveredMark.open(folder);
      const through = mark.seq;
      const waiting = { count: 0, bytes: 0 };
      const journal = await Journal.open(folder, through + 1, ({ seq, count, bytes }) => {
        if (seq <= through) return;
        waiting.count += Math.min(count, seq - through);
        waiting.bytes += bytes;
      });
      const bytesMax = options.bytesMax ?? bounds.spoolBytes;
      const dropAbove = options.whenFull === 'drop-oldest' ? bytesMax : Number.POSITIVE_INFINITY;
      const delivery = new Delivery({ folder, journal, mark, waiting, dropAbove, runtime, ...callbacks(options) });
      const spool = new EventSpool(options, claim, journal, delivery, journal.cuts);
      delivery.start(() => spool.#admit());
      return spool;
    } catch (error) {
      await mark?.close();
      await claim.release();
      throw error;
    }
  }

  /** How far the spool is. */
  get progress(): SpoolProgress {
    return this.#delivery.progress;
  }

  /**
   * Accepts an event and resolves with its id once it is on disk. Rejects with `invalid_argument`, `spool_full`,
   * `spool_failed` or `closed`; then the event was not accepted, and may be added again under the same id.
   */
  async add(event: TrustEvent, options: CallOptions = {}): Promise<string> {
    const body = this.#options.to.prepare(event);
    const payload = Buffer.from(JSON.stringify(body));
    const bytesMax = Math.min(bounds.spoolEventBytes, this.#bytesMax - RECORD_HEAD_BYTES);
    if (!(payload.byteLength <= bytesMax)) {
      throw new TrustError('invalid_argument', `an event takes at most ${bytesMax} bytes`);
    }
    options.signal?.throwIfAborted();
    if (this.#closing !== null) throw closed();
    const bytes = recordBytes(payload);
    if (this.#forRoom.size === 0 && this.#hasRoom(bytes)) {
      this.#pendingBytes += bytes;
    } else if (this.#options.whenFull === 'wait') {
      await this.#room(bytes, options.signal);
      if (this.#closing !== null) throw closed();
    } else {
      throw new TrustError('spool_full', `${this.#bytesMax} bytes of events wait already`);
    }
    const written = new Promise<string>((resolve, reject) => {
      this.#queue.push({ eventId: body.event_id, payload, resolve, reject });
      this.#flushing ??= this.#flush();
    });
    this.#lastWritten = written;
    return written;
  }

  /**
   * Resolves once everything that was added before is through: delivered, set aside or dropped. What is added meanwhile
   * is not waited for.
   */
  async drained(options: CallOptions = {}): Promise<void> {
    await this.#lastWritten.catch(() => undefined);
    await this.#delivery.drained(options.signal);
  }

  /** Ends delivery, writes what was added, and gives the folder up. What waits is delivered after the next `open`. */
  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    for (const waiting of this.#forRoom) waiting.refuse();
    await this.#flushing;
    await this.#delivery.stop();
    await this.#journal.close();
    await this.#claim.release();
  }

  #hasRoom(bytes: number): boolean {
    const waiting = this.#delivery.pendingBytes + this.#pendingBytes;
    // What is dropped goes between two deliveries; until then the spool may grow, but not without end.
    const room = this.#options.whenFull === 'drop-oldest' ? 2 * this.#bytesMax : this.#bytesMax;
    return waiting + bytes <= room;
  }

  /** Resolves once `bytes` of room are taken; rejects with the signal's reason, or where the spool is closed first. */
  #room(bytes: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (end: () => void) => {
        release?.();
        this.#forRoom.delete(waiting);
        end();
      };
      const giveUp = () => {
        settle(() => reject(signal?.reason));
        // It may have been what kept smaller ones from their room; once all that the signal ends are gone.
        queueMicrotask(() => this.#admit());
      };
      const release = signal && onAbort(signal, giveUp);
      const waiting = { bytes, admit: () => settle(resolve), refuse: () => settle(() => reject(closed())) };
      this.#forRoom.add(waiting);
    });
  }

  /** Lets those in that have room now, in order: a large event waits for nobody who came after it. */
  #admit(): void {
    for (const waiting of this.#forRoom) {
      if (!this.#hasRoom(waiting.bytes)) return;
      this.#pendingBytes += waiting.bytes;
      waiting.admit();
    }
  }

  /** Writes what waits in groups, one sync each; new events gather meanwhile. */
  async #flush(): Promise<void> {
    // The events of one turn of the loop share a sync.
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const group = this.#appendGroup();
      const payloads = group.map(({ payload }) => payload);
      let fault: TrustError | undefined;
      try {
        await this.#journal.append(payloads);
      } catch (cause) {
        fault = new TrustError('spool_failed', 'the spool could not be written', { cause });
      }
      this.#pendingBytes -= recordsBytes(payloads);
      if (fault === undefined) {
        this.#delivery.added(payloads);
        for (const { eventId, resolve } of group) resolve(eventId);
      } else {
        for (const { reject } of group) reject(fault);
        this.#admit();
      }
    }
    this.#flushing = null;
  }

  #appendGroup(): Waiting[] {
    let bytes = 0;
    let count = 0;
    for (const { payload } of this.#queue) {
      if (count === bounds.spoolGroupEvents || (count > 0 && bytes + payload.byteLength > bounds.spoolGroupBytes))
        break;
      bytes += payload.byteLength;
      count++;
    }
    return this.#queue.splice(0, count);
  }
}

function callbacks({ to, onProgress, onSetAside }: SpoolOptions) {
  return { to, onProgress, onSetAside };
}

function closed(): TrustError {
  return new TrustError('closed', 'the spool is closed');
}
