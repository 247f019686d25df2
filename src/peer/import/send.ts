/** Sends the entries of a plan through a spool on disk, so that an interrupted import continues where it stopped. */
import * as crypto from 'node:crypto';
import { join } from 'node:path';
import { EventSpool, type Runtime, type SpoolProgress, type SpoolTarget, TrustError } from '../../client/entry.js';
import { abortable, bounds, isRecord, jsonIn, systemRuntime } from '../../client/for-peer.js';
import { readSmallFile, replaceSmallFile } from '../config/peer-file.js';
import { type EventOptions, eventOf } from './event-of.js';
import type { PlanEntry, Refused } from './plan.js';

export interface SendOptions {
  readonly to: SpoolTarget;
  readonly events: EventOptions;
  /** The folder of the spool and of the saved position. */
  readonly folder: string;
  /** Ends the import; the next one sends the events that are on disk by then. */
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, total: number) => void;
  readonly runtime?: Runtime | undefined;
}

export interface Sent extends Pick<SpoolProgress, 'delivered' | 'duplicates' | 'uncounted'> {
  /** Events that the node refused for good. */
  readonly refused: readonly Refused[];
  /** Number of events of an earlier, interrupted import that the node refused for good. */
  readonly refusedBefore: number;
  /** Number of events on disk that the next import sends. */
  readonly waiting: number;
  /** The reason why some wait on disk or in the list: the error of the node or the abort; null if none wait. */
  readonly obstacle: TrustError | null;
}

/** Sends the entries, whose state must be `send`. Rejects with `spool_in_use` or `spool_failed`. */
export async function sendEntries(entries: readonly PlanEntry[], options: SendOptions): Promise<Sent> {
  const { to, folder, signal, onProgress, runtime = systemRuntime } = options;
  const setAside = new Map<string, string>();
  const watch = new Watch(runtime, signal);
  const spool = await EventSpool.open({
    folder: join(folder, 'spool'),
    to,
    // The other events stay in the list of entries, so that the spool stays small.
    bytesMax: bounds.importSpoolBytes,
    whenFull: 'wait',
    runtime,
    onSetAside: ({ event, code, reason }) => setAside.set(event.event_id, `${code}: ${reason}`),
    onProgress: (progress) => {
      watch.see(progress);
      onProgress(progress.delivered + progress.setAside, entries.length);
    },
  });
  try {
    const isWhole = await addAll(entries, spool, options, watch);
    if (watch.obstacle === null) await watch.until(spool.drained());
    const { delivered, duplicates, uncounted, pending } = spool.progress;
    const refused = takeLines(setAside, entries, options.events);
    if (pending === 0 && watch.obstacle === null) await replaceSmallFile(progressPath(folder), 'null\n');
    const obstacle = isWhole && pending === 0 ? null : watch.obstacle;
    return { delivered, duplicates, uncounted, refused, refusedBefore: setAside.size, waiting: pending, obstacle };
  } finally {
    watch.stopTimer();
    await spool.close();
  }
}

/**
 * Adds the events that an earlier run did not add to the spool, and saves the position after each step. Returns false
 * if an obstacle left some of them in the list.
 */
async function addAll(
  entries: readonly PlanEntry[],
  spool: EventSpool,
  { folder, events }: SendOptions,
  watch: Watch,
): Promise<boolean> {
  const list = digestOf(entries, events);
  let added = await readProgress(folder, list);
  while (added < entries.length && watch.obstacle === null) {
    // Wait for room before each step instead of in the spool, where every waiting event takes memory.
    if (!(await watch.until(watch.roomIn(spool)))) return false;
    const step = entries.slice(added, added + bounds.importStepEvents);
    const adding = Promise.all(step.map((entry) => spool.add(eventOf(entry, events), { signal: watch.signal })));
    if (!(await watch.until(adding))) return false;
    added += step.length;
    await replaceSmallFile(progressPath(folder), `${JSON.stringify({ list, added })}\n`);
  }
  return added >= entries.length;
}

/** Distinguishes lists of events without storing any of their content. */
function digestOf(entries: readonly PlanEntry[], { groupSalt, ...options }: EventOptions): string {
  const digest = crypto.createHmac('sha256', groupSalt).update(JSON.stringify(options));
  for (const { player, at, says } of entries) digest.update(`\n${player.id} ${at} ${says}`);
  return digest.digest('hex');
}

function progressPath(folder: string): string {
  return join(folder, 'place.json');
}

/**
 * Number of events of the list that an earlier run added to the spool. An unreadable position costs time only: the node
 * recognises events that arrive twice.
 */
async function readProgress(folder: string, list: string): Promise<number> {
  const place = jsonIn((await readSmallFile(progressPath(folder))) ?? '');
  return isRecord(place) && place.list === list && Number.isSafeInteger(place.added) ? Number(place.added) : 0;
}

/** Takes the events of the entries out of the events that were set aside, and returns their lines. */
function takeLines(setAside: Map<string, string>, entries: readonly PlanEntry[], events: EventOptions): Refused[] {
  const ids = setAside.size === 0 ? [] : entries.map((entry) => eventOf(entry, events).eventId!);
  const lines = ids.map((id, at) => ({ line: entries[at]!.line, reason: setAside.get(id) ?? '' }));
  for (const id of ids) setAside.delete(id);
  return lines.filter(({ reason }) => reason !== '');
}

/** Observes the spool: notices that the node accepts nothing any more, or that the caller ends the import. */
class Watch {
  /** Aborted by an obstacle. */
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  #lastError: TrustError | null = null;
  #cancel: (() => void) | null = null;
  #onProgress: () => void = () => undefined;

  constructor(
    private readonly runtime: Runtime,
    caller: AbortSignal,
  ) {
    this.signal = AbortSignal.any([caller, this.#controller.signal]);
  }

  get obstacle(): TrustError | null {
    if (!this.signal.aborted) return null;
    const { reason } = this.signal;
    return reason instanceof TrustError ? reason : new TrustError('closed', 'the import was interrupted');
  }

  async roomIn(spool: EventSpool): Promise<void> {
    while (spool.progress.pendingBytes > bounds.importSpoolBytes / 2 && this.obstacle === null) {
      await new Promise<void>((resolve) => {
        this.#onProgress = resolve;
      });
    }
  }

  see({ phase, lastError }: SpoolProgress): void {
    this.#onProgress();
    this.#lastError = lastError;
    const giveUp = () =>
      this.#controller.abort(this.#lastError ?? new TrustError('unreachable', 'the node accepts no events'));
    if (phase === 'refused' && lastError !== null) this.#controller.abort(lastError);
    else if (phase === 'waiting') this.#cancel ??= this.runtime.after(bounds.importStallMs, giveUp);
    // An attempt that begins was accepted by nobody yet.
    else if (lastError === null) this.stopTimer();
  }

  /** True if the work was done before an obstacle came up. Rejects if the work itself fails. */
  async until(work: Promise<unknown>): Promise<boolean> {
    try {
      await abortable(work, this.signal);
      return true;
    } catch (error) {
      if (this.obstacle !== null) return false;
      throw error;
    }
  }

  stopTimer(): void {
    this.#cancel?.();
    this.#cancel = null;
  }
}
