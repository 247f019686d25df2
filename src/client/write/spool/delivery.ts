/** Sends one batch of a spool at a time, in order, until the node has stored it or has refused it for good. */
import { appendFile, rename, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import type { EventBody } from '../../../contract/request-bodies.js';
import { bounds } from '../../bounds.js';
import { abortable, linked, notify, warnOnce, withResolve } from '../../transport/listeners.js';
import { fullJitterMs, pause, type Runtime } from '../../transport/time.js';
import { isRetryable, isTooSlow, TrustError } from '../../trust-error.js';
import type { DeliveryResult } from '../client-event.js';
import type { Entry, Journal, Stretch } from './journal.js';
import type { SetAsideEvent, SpoolPhase, SpoolProgress, SpoolTarget } from './progress.js';
import { recordsBytes } from './spool-record.js';

export interface DeliveryOptions {
  readonly folder: string;
  readonly to: SpoolTarget;
  readonly journal: Journal;
  readonly runtime: Runtime;
  readonly onProgress: ((progress: SpoolProgress) => void) | undefined;
  readonly onSetAside: ((event: SetAsideEvent) => void) | undefined;
}

interface Sent extends Entry {
  readonly event: EventBody;
}

export class Delivery {
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #onRoom: () => void = () => undefined;
  readonly #state: { -readonly [Member in keyof SpoolProgress]: SpoolProgress[Member] };
  /** Number of events per batch. Halved if the node refuses a batch for its content, and if one takes too long. */
  #batchMax: number = bounds.eventsPerCall;
  #failures = 0;
  #wake: () => void = () => undefined;
  readonly #forDrained = new Set<{ readonly through: number; readonly resolve: () => void }>();

  constructor(private readonly options: DeliveryOptions) {
    const waiting = { pending: options.journal.waiting, pendingBytes: options.journal.waitingBytes };
    const none = { delivered: 0, duplicates: 0, uncounted: 0, setAside: 0, damaged: 0, lastError: null };
    this.#state = { phase: 'idle', ...waiting, ...none };
  }

  get pendingBytes(): number {
    return this.#state.pendingBytes;
  }

  get progress(): SpoolProgress {
    return { ...this.#state };
  }

  start(onRoom: () => void): void {
    this.#onRoom = onRoom;
    this.#running = this.#run();
  }

  added(payloads: readonly Buffer[]): void {
    this.#state.pending = this.options.journal.waiting;
    this.#state.pendingBytes += recordsBytes(payloads);
    this.#wake();
    this.#report();
  }

  async drained(signal: AbortSignal | undefined): Promise<void> {
    const stop = this.#stop.signal;
    stop.throwIfAborted();
    signal?.throwIfAborted();
    if (this.#state.pending === 0) return;
    const waiting = { through: this.options.journal.nextSeq - 1, ...withResolve() };
    this.#forDrained.add(waiting);
    await abortable(abortable(waiting.promise, stop), signal).finally(() => this.#forDrained.delete(waiting));
  }

  async stop(): Promise<void> {
    this.#stop.abort(new TrustError('closed', 'the spool is closed'));
    this.#wake();
    await this.#running;
    this.#become('closed');
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        if (this.#state.pending === 0) await this.#idle();
        else await this.#send(await this.#next());
      } catch (error) {
        if (signal.aborted) return;
        await this.#pause(error instanceof TrustError ? error : failed(error));
      }
    }
  }

  /** Returns the first waiting events; an empty list if they are damaged and were skipped. */
  async #next(): Promise<Sent[]> {
    const { journal } = this.options;
    const { entries, damage } = await journal.read(journal.through + 1, this.#batchMax, bounds.batchBytes);
    if (damage !== null) {
      this.#state.damaged += damage.count;
      await this.#passed(damage);
    } else if (entries.length === 0) {
      throw new Error('waiting events are missing in the journal');
    }
    return entries.map((entry) => ({ ...entry, event: JSON.parse(entry.payload.toString()) as EventBody }));
  }

  async #send(sent: readonly Sent[]): Promise<void> {
    if (sent.length === 0) return;
    this.#become('delivering');
    const events = sent.map(({ event }) => event);
    let results: DeliveryResult[];
    // A controller of its own, so that listeners left by a target do not accumulate on the stop signal.
    const { controller, release } = linked(this.#stop.signal);
    try {
      results = await this.options.to.deliver(events, { signal: controller.signal });
    } catch (error) {
      if (!(error instanceof TrustError)) throw error;
      if (isOfContent(error) || isTooSlow(error)) this.#batchMax = Math.ceil(sent.length / 2);
      if (!isOfContent(error)) throw error;
      if (sent.length > 1) return;
      results = [{ eventId: events[0]!.event_id, status: 'rejected', code: error.code, reason: error.message }];
    } finally {
      release();
    }
    // Grows by an eighth, so that on a link with a fixed limit only one attempt in several fails.
    this.#batchMax = Math.min(bounds.eventsPerCall, Math.ceil(1.125 * this.#batchMax));
    await this.#accept(sent, results);
  }

  /** Advances past the results, as far as the first event that must be sent again. */
  async #accept(sent: readonly Sent[], results: readonly DeliveryResult[]): Promise<void> {
    const rejected: SetAsideEvent[] = [];
    let through = 0;
    let failure: TrustError | undefined;
    for (; through < sent.length; through++) {
      const result = results[through];
      if (result === undefined || 'later' in result) {
        failure = result?.later ?? new TrustError('unexpected_answer', 'a result is missing');
        break;
      }
      if (result.status !== 'rejected') continue;
      const { code, reason } = result;
      rejected.push({ event: sent[through]!.event, code: code ?? 'unexpected_answer', reason: reason ?? '' });
    }
    try {
      const at = new Date(this.options.runtime.now()).toISOString();
      const lines = rejected.map((one) => ({ at, ...one }));
      if (lines.length > 0) await setAside(this.options.folder, lines);
    } catch (error) {
      // No event is lost: the first one stays at the head of the queue, followed by all others.
      failure = failed(error);
      through = sent.findIndex(({ event }) => event === rejected[0]?.event);
      rejected.length = 0;
    }
    for (const result of results.slice(0, through)) {
      if ('later' in result) continue;
      if (result.status === 'duplicate') this.#state.duplicates++;
      if (result.counts === false) this.#state.uncounted++;
    }
    this.#state.delivered += through - rejected.length;
    this.#state.setAside += rejected.length;
    for (const one of rejected) notify(this.options.onSetAside, one);
    if (through > 0) {
      this.#failures = 0;
      this.#state.lastError = null;
      const payloads = sent.slice(0, through).map(({ payload }) => payload);
      await this.#passed({ seq: sent[through - 1]!.seq, bytes: recordsBytes(payloads) });
    }
    if (failure !== undefined) throw failure;
  }

  /** Goes on if the disk fails: a file that stays is removed after the next `open`. */
  async #passed({ seq, bytes }: Pick<Stretch, 'seq' | 'bytes'>): Promise<void> {
    const { journal } = this.options;
    const passing = journal.passed(seq);
    this.#state.pending = journal.waiting;
    // The size of damaged records is known only approximately.
    this.#state.pendingBytes = this.#state.pending === 0 ? 0 : Math.max(0, this.#state.pendingBytes - bytes);
    try {
      await passing;
    } finally {
      this.#onRoom();
      for (const waiting of this.#forDrained) if (waiting.through <= journal.through) waiting.resolve();
      this.#report();
    }
  }

  #idle(): Promise<void> {
    this.#state.lastError = null;
    this.#become('idle');
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  async #pause(error: TrustError): Promise<void> {
    this.#state.lastError = error;
    const isWaiting = isRetryable(error) || error.code === 'spool_failed';
    this.#become(isWaiting ? 'waiting' : 'refused');
    const { runtime, onProgress } = this.options;
    // A program that does not learn of the refusal must not wait for its end either.
    const isUnheard = !isWaiting && onProgress === undefined;
    if (isUnheard) warnOnce(error);
    const jitterMs = fullJitterMs(runtime, this.#failures++, bounds.spoolBackoffBaseMs, bounds.spoolBackoffCapMs);
    const pauseMs = isWaiting
      ? Math.min(error.retryAfterMs ?? 0, bounds.spoolRetryAfterMsMax) + jitterMs
      : bounds.spoolRefusedMs * (0.5 + runtime.random() / 2);
    await pause(runtime, pauseMs, this.#stop.signal, isUnheard).catch(() => undefined);
  }

  #become(phase: SpoolPhase): void {
    if (phase === this.#state.phase) return;
    this.#state.phase = phase;
    this.#report();
  }

  #report(): void {
    notify(this.options.onProgress, this.progress);
  }
}

/** True if a whole batch was refused for its content, and not for its sender or address. */
function isOfContent({ code, status }: TrustError): boolean {
  return status === 413 || code === 'malformed_json' || code === 'schema_validation_failed';
}

/** Appends lines to `set-aside.ndjson`. A full file replaces `set-aside.1.ndjson`. */
export async function setAside(folder: string, lines: readonly object[]): Promise<void> {
  const path = join(folder, 'set-aside.ndjson');
  const size = (await stat(path).catch(() => null))?.size ?? 0;
  const isFull = size >= bounds.spoolSetAsideBytes;
  if (isFull) await rename(path, join(folder, 'set-aside.1.ndjson'));
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  try {
    await appendFile(path, text, { mode: 0o600, flush: true });
  } catch (error) {
    // A truncated line would damage the next one.
    await truncate(path, isFull ? 0 : size).catch(() => undefined);
    throw error;
  }
}

function failed(cause: unknown): TrustError {
  return new TrustError('spool_failed', 'the spool could not be read or written', { cause });
}
