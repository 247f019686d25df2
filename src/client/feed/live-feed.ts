/** Reads the verdict stream of one node, resumes after a loss, and keeps a table current (docs/VERDICT-STREAM.md). */
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { bounds } from '../bounds.js';
import type { FeedPhase, FeedState, FollowOptions } from '../call-types.js';
import type { SaltCheck } from '../ids/salt-check.js';
import { jsonIn } from '../json-text.js';
import { readText, refusalOf, unexpected } from '../transport/caller.js';
import { abortable, linked, notify, warnOnce, withResolve } from '../transport/listeners.js';
import type { ReadFloor } from '../transport/read-floor.js';
import { type AgeClock, fullJitterMs, pause, type Runtime } from '../transport/time.js';
import { answerOf, type Transport, type TransportResponse } from '../transport/transport.js';
import { isRetryable, TrustError } from '../trust-error.js';
import { applyFrame, type FrameEffect, type StreamTable } from './stream-frames.js';

export interface FeedOptions extends FollowOptions {
  readonly transports: readonly Transport[];
  readonly runtime: Runtime;
  readonly floor: ReadFloor;
  readonly ages: AgeClock;
  readonly table: StreamTable;
  readonly key: string | undefined;
  /** The event id to resume from; if absent or empty, the stream begins with a snapshot. */
  readonly resumeFrom?: string;
  /** Null if ids are not hashed here. */
  readonly salt: SaltCheck | null;
}

const idPattern = /^(\d{1,16})-[\w.:-]*$/;

/** The log record that an event id names; 0 if there is none. */
function seqOf(id: string): number {
  return Number(idPattern.exec(id)?.[1] ?? 0);
}

export class VerdictFeed {
  readonly #options: FeedOptions;
  readonly #stop = new AbortController();
  /** The node that is read, and those that failed since a stream was last current. */
  #node = 0;
  readonly #failed = new Set<number>();
  #ended: Promise<void> = Promise.resolve();
  #closing: Promise<void> | null = null;
  #phase: FeedPhase = 'connecting';
  #lastEventId = '';
  #asOf: number | null = null;
  /** The node's clock at the hello event, and the arrival of that event by the `AgeClock`. */
  #hello = { nodeMs: 0, cameAt: 0 };
  #heartbeatMs: number = bounds.streamOpenMs;
  #connections = 0;
  /** Number of rounds over all nodes that failed since a stream was last current. */
  #failures = 0;
  /** Number of consecutive nodes that refused the key. */
  #refusals = 0;
  /** The shortest pause that a node of this round requested, in ms. */
  #askedMs = Number.POSITIVE_INFINITY;
  #retryMs = 0;
  #lastError: TrustError | null = null;
  #live = withResolve();
  #isAwaited = false;
  /** Ends the wait of a refused feed. */
  #resumed = withResolve();

  constructor(options: FeedOptions) {
    this.#options = options;
    this.#lastEventId = options.resumeFrom ?? '';
  }

  /** `before`: a promise to await first. */
  start(before?: Promise<void>): void {
    this.#ended = before === undefined ? this.#run() : before.then(() => this.#run());
  }

  get state(): FeedState {
    const { table } = this.#options;
    return {
      phase: this.#phase,
      asOf: this.asOf,
      lastEventId: this.#lastEventId,
      seq: seqOf(this.#lastEventId),
      players: table.size,
      complete: table.complete && this.#asOf !== null,
      node: this.#node,
      connections: this.#connections,
      lastError: this.#lastError,
    };
  }

  /** Time up to which all verdicts are known, by this machine's clock. */
  get asOf(): number | null {
    return this.#asOf === null ? null : this.#options.ages.wallAt(this.#asOf);
  }

  get isFresh(): boolean {
    const { asOf } = this;
    return this.#phase === 'live' && asOf !== null && this.#options.runtime.now() - asOf <= this.#silentMs;
  }

  live(): Promise<void> {
    this.#isAwaited = true;
    return this.#live.promise;
  }

  retry(): void {
    if (this.#phase !== 'refused') return;
    this.#failures = 0;
    this.#refusals = 0;
    this.#options.salt?.askAgain();
    this.#live = withResolve();
    this.#become('connecting');
    this.#resumed.resolve();
  }

  /** True once the feed was closed, even if it has not ended yet. */
  get isClosed(): boolean {
    return this.#closing !== null;
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    const closed = new TrustError('closed', 'the feed is closed');
    this.#stop.abort(closed);
    await this.#ended;
    this.#become('closed');
    this.#live.reject(closed);
    this.#live = withResolve();
    this.#live.reject(closed);
    if (this.#asOf !== null) this.#options.table.orphan(this.#asOf);
  }

  /** Silence after which the stream counts as lost; data that counts as current is never older. */
  get #silentMs(): number {
    return this.#heartbeatMs * bounds.streamSilentHeartbeats;
  }

  get #idleMs(): number {
    return this.#heartbeatMs * bounds.streamIdleHeartbeats;
  }

  async #run(): Promise<void> {
    const { runtime } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const error = await this.#connection(signal);
      if (signal.aborted) return;
      this.#lastError = error;
      if (this.#phase === 'live') this.#live = withResolve();
      if (this.#isFinal(error)) {
        await this.#refused(error, signal);
        continue;
      }
      this.#become('connecting');
      this.#askedMs = Math.min(this.#askedMs, error.retryAfterMs ?? 0);
      if (this.#moveOn()) continue;
      const base = Math.max(this.#retryMs, bounds.streamBackoffBaseMs);
      const jitterMs = fullJitterMs(runtime, this.#failures++, base, bounds.streamBackoffCapMs);
      const askedMs = Math.min(this.#askedMs, bounds.streamRetryAfterMsMax);
      this.#askedMs = Number.POSITIVE_INFINITY;
      await pause(runtime, askedMs + jitterMs, signal).catch(() => undefined);
    }
  }

  /** True if no later attempt can succeed; every node must have refused a key, since one may not know it yet. */
  #isFinal({ code, status }: TrustError): boolean {
    if (code === 'salt_mismatch') return true;
    const isRefusal = (status === 401 || status === 403) && code !== 'unexpected_answer';
    this.#refusals = isRefusal ? this.#refusals + 1 : 0;
    return this.#refusals >= this.#options.transports.length;
  }

  /** Moves on after a failure. False if all nodes have failed; the preferred one is then next again. */
  #moveOn(): boolean {
    this.#failed.add(this.#node);
    const next = this.#options.transports.findIndex((_, index) => !this.#failed.has(index));
    if (next < 0) this.#failed.clear();
    this.#node = Math.max(0, next);
    return next >= 0;
  }

  /** Waits until `retry` is called or the feed is closed. */
  async #refused(error: TrustError, signal: AbortSignal): Promise<void> {
    this.#live.reject(error);
    this.#become('refused');
    if (this.#options.onState === undefined && !this.#isAwaited) warnOnce(error);
    this.#resumed = withResolve();
    await abortable(this.#resumed.promise, signal).catch(() => undefined);
  }

  async #connection(outer: AbortSignal): Promise<TrustError> {
    const { key } = this.#options;
    const { controller, release } = linked(outer);
    const life = silenceOf(this.#options.runtime, controller, 'was silent');
    const news = silenceOf(this.#options.runtime, controller, 'sent no change');
    try {
      life.expectWithin(bounds.streamOpenMs);
      const headers: Record<string, string> = { accept: 'text/event-stream' };
      if (key !== undefined) headers['x-peer-api-key'] = key;
      if (this.#lastEventId !== '') headers['last-event-id'] = this.#lastEventId;
      const request = { method: 'GET', path: '/api/v1/verdicts/stream', headers, signal: controller.signal } as const;
      const response = await answerOf(this.#options.transports[this.#node]!, request);
      if (response.status !== 200) return await refused(response, this.#options.runtime.now());
      if (!/^text\/event-stream\b/i.test(response.header('content-type') ?? '')) {
        return refusal('the answer is not an event stream');
      }
      // Verified once a node answers, and before anything is read, so that the table is still empty.
      await this.#options.salt?.verify(controller.signal);
      this.#connections++;
      this.#heartbeatMs = bounds.streamOpenMs;
      return await this.#read(response, life, news);
    } catch (error) {
      const reason: unknown = controller.signal.aborted ? controller.signal.reason : error;
      if (reason instanceof TrustError) return reason;
      const text = reason instanceof Error && reason.message !== '' ? reason.message : 'the stream broke';
      return new TrustError('unreachable', text, { cause: reason });
    } finally {
      life.stop();
      news.stop();
      release();
      controller.abort();
      this.#options.table.streamBroke();
    }
  }

  /** Ends if no bytes arrive, or bytes without news: a proxy may send comments although its node is gone. */
  async #read(response: TransportResponse, life: Silence, news: Silence): Promise<TrustError> {
    let end: TrustError | undefined;
    let messages: EventSourceMessage[] = [];
    const parser = createParser({
      maxBufferSize: bounds.streamFrameBytes,
      onEvent: (message) => void messages.push(message),
      onRetry: (ms) => {
        this.#retryMs = Math.min(ms, bounds.streamBackoffCapMs);
      },
      onError: ({ type }) => {
        if (type === 'max-buffer-size-exceeded') end ??= unexpected(response, 'an event of the stream is too large');
      },
    });
    const decoder = new TextDecoder();
    news.expectWithin(this.#idleMs);
    for await (const chunk of response.body) {
      messages = [];
      parser.feed(decoder.decode(chunk, { stream: true }));
      for (const message of messages) {
        const failed = this.#onMessage(message, news);
        const settled = this.#options.table.settle?.(this.#lastEventId);
        if (settled !== undefined) {
          // While this loop does not read, a silence does not mean that the node is gone.
          life.stop();
          news.stop();
          await settled;
          news.expectWithin(this.#idleMs);
        }
        if (failed !== undefined) return failed;
      }
      if (end !== undefined) return end;
      life.expectWithin(this.#silentMs);
    }
    return new TrustError('unreachable', 'the stream ended');
  }

  /** Returns an error if the connection cannot be used any longer. */
  #onMessage(message: EventSourceMessage, news: Silence): TrustError | undefined {
    const now = this.#options.ages.ms();
    const { nodeMs, cameAt } = this.#hello;
    // If the node's clock was set meanwhile, the computed time may lie in the future.
    const timeAt = (at: number) => Math.min(now, cameAt + at - nodeMs);
    const { table, onErased, floor } = this.#options;
    if (message.event === 'snapshot' && message.id !== undefined && !floor.admits(seqOf(message.id))) {
      return new TrustError('behind', 'the snapshot is older than data read from another node');
    }
    const effect = applyFrame(message, table, timeAt, (subject) => notify(onErased, subject));
    // The id advances only here, so that the node repeats an event that this client failed to process.
    const { id } = message;
    if (effect.kind !== 'bad' && id !== undefined && id.length <= bounds.streamIdLength) this.#lastEventId = id;
    const error = this.#follow(effect);
    if (effect.kind !== 'unknown') news.expectWithin(this.#idleMs);
    return error;
  }

  #follow(effect: FrameEffect): TrustError | undefined {
    const { ages, floor, table } = this.#options;
    switch (effect.kind) {
      case 'hello':
        this.#heartbeatMs = Math.min(effect.heartbeatMs, bounds.streamHeartbeatMsMax);
        this.#hello = { nodeMs: effect.now, cameAt: ages.ms() };
        table.answerMs = this.#silentMs;
        return undefined;
      case 'snapshot':
        this.#become('snapshot');
        return undefined;
      case 'current':
        this.#asOf = effect.at;
        this.#refusals = 0;
        floor.note(seqOf(this.#lastEventId));
        if (this.#phase === 'snapshot' || this.#phase === 'connecting') {
          this.#lastError = null;
          this.#become('live');
          this.#live.resolve();
        }
        if (!this.isFresh)
          return effect.beat ? new TrustError('timeout', 'the stream lags behind the node') : undefined;
        this.#failures = 0;
        this.#failed.clear();
        this.#askedMs = Number.POSITIVE_INFINITY;
        return undefined;
      case 'ended':
        return new TrustError('unreachable', effect.text, { retryAfterMs: effect.afterMs });
      case 'bad':
        return refusal(effect.text);
      case 'part':
      case 'unknown':
        return undefined;
    }
  }

  #become(phase: FeedPhase): void {
    if (phase === this.#phase) return;
    this.#phase = phase;
    notify(this.#options.onState, this.state);
  }
}

type Silence = ReturnType<typeof silenceOf>;

/** Aborts a connection unless `expectWithin` or `stop` is called again within the time of the last `expectWithin`. */
function silenceOf(runtime: Runtime, connection: AbortController, what: string) {
  let stop: () => void = () => undefined;
  const late = (ms: number) => new TrustError('timeout', `the stream ${what} for ${Math.round(ms)} ms`);
  return {
    expectWithin(ms: number) {
      stop();
      stop = runtime.after(ms, () => connection.abort(late(ms)));
    },
    stop: () => stop(),
  };
}

/** The stream cannot be used as it is; it is requested again after a long pause. */
function refusal(text: string): TrustError {
  return new TrustError('unexpected_answer', text, { retryAfterMs: bounds.streamRefusedMs });
}

async function refused(response: TransportResponse, now: number): Promise<TrustError> {
  const error = refusalOf(response, jsonIn(await readText(response)), now);
  if (isRetryable(error)) return error;
  return new TrustError(error.code, error.message, { ...error, retryAfterMs: bounds.streamRefusedMs });
}
