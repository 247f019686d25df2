/**
 * Lets bodies be parsed by holder in turn, for a bounded time in each turn of the event loop: each turn accepts one
 * connection, and all callers wait for its end. A body of 1 MB may take 100 times as long as one of valid events, so a
 * body that takes long for the valid events in it makes its holder rest several times as long.
 */
import { FairQueue } from '../../core/fair-queue.js';
import { getOrMake } from '../../core/get-or-make.js';
import type { Holder } from '../../group/ports/pool.js';
import { limits } from '../../limits.js';

interface Waiting {
  readonly holder: Holder;
  readonly events: number;
  readonly go: () => void;
}

interface Resting {
  readonly waiting: Waiting[];
  events: number;
}

/** `soon` calls a function after all that follows at once from the present call. */
export interface ParseTime {
  readonly now: () => number;
  readonly soon: (run: () => void) => void;
  readonly nextTurn: (run: () => void) => void;
  readonly after: (ms: number, run: () => void) => void;
}

const systemTime: ParseTime = {
  now: () => performance.now(),
  // Microtasks run before the next tick that is set in one.
  soon: (run) => queueMicrotask(() => process.nextTick(run)),
  nextTurn: setImmediate,
  after: (ms, run) => void setTimeout(run, ms).unref(),
};

export class ParseScheduler {
  readonly #queue = new FairQueue<Holder, Waiting>(limits.fairShareEvents, ({ events }) => events);
  readonly #resting = new Map<Holder, Resting>();
  #running: { readonly holder: Holder; readonly since: number } | null = null;
  #acceptedBefore = 0;
  /** When connections began to arrive, in ms of a monotonic clock; null if none arrive. */
  #acceptingSince: number | null = null;
  #isScheduled = false;
  #turnSince = 0;

  /** `accepted`: number of connections so far. */
  constructor(
    private readonly accepted: () => number,
    private readonly time: ParseTime = systemTime,
  ) {}

  eventsOf(holder: Holder): number {
    return this.#queue.sizeOf(holder) + (this.#resting.get(holder)?.events ?? 0);
  }

  hasRoomFor(holder: Holder, events: number): boolean {
    const resting = this.#resting.get(holder);
    if (resting === undefined) return this.eventsBefore(holder, events) + events <= limits.parsingEventsMax;
    return resting.events + events <= (limits.parsingEventsMax * limits.restingShare) / this.#resting.size;
  }

  eventsBefore(holder: Holder, more: number): number {
    return this.#queue.sizeBefore(holder, more);
  }

  /** Resolves when a body may be parsed that is as large as so many events; undefined if that is now. */
  next(holder: Holder, events: number): Promise<void> | undefined {
    const isFirst = this.#queue.empty && !this.#resting.has(holder);
    this.#schedule();
    const isSmall = events < limits.fairShareEvents;
    if (isFirst && this.#hasTime() && (isSmall || this.accepted() === this.#acceptedBefore)) {
      this.#begin(holder);
      return undefined;
    }
    return new Promise((go) => this.#wait({ holder, events, go }));
  }

  /** Notes that the body has been parsed and checked, with so many valid events. Without this call it had none. */
  parsed(validEvents: number): void {
    const running = this.#running;
    this.#running = null;
    if (running === null) return;
    const usualMs = validEvents > 0 ? limits.parseUsualMs + validEvents * limits.parseUsualMsPerEvent : 0;
    const excessMs = this.time.now() - running.since - usualMs;
    if (excessMs > limits.parseExcessMs) this.#rest(running.holder, excessMs);
  }

  #begin(holder: Holder): void {
    this.parsed(0);
    this.#running = { holder, since: this.time.now() };
    this.time.soon(() => this.#goOn());
  }

  #wait(one: Waiting): void {
    const resting = this.#resting.get(one.holder);
    if (resting === undefined) this.#queue.push(one.holder, one);
    else {
      resting.waiting.push(one);
      resting.events += one.events;
    }
  }

  #rest(holder: Holder, excessMs: number): void {
    const resting = getOrMake(this.#resting, holder, () => ({ waiting: [], events: 0 }));
    // Holders that rest at the same time share the time of one.
    const ms = Math.min(limits.restMsMax, excessMs * limits.restFactor * this.#resting.size);
    this.time.after(ms, () => {
      if (this.#resting.get(holder) !== resting) return;
      this.#resting.delete(holder);
      for (const one of resting.waiting) this.#wait(one);
      if (resting.waiting.length > 0) this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#turnSince = this.time.now();
    this.time.nextTurn(() => {
      this.#isScheduled = false;
      this.#turnSince = this.time.now();
      if (this.#yieldsToConnections()) this.#schedule();
      else this.#goOn();
    });
  }

  #goOn(): void {
    this.parsed(0);
    while (!this.#queue.empty) {
      if (!this.#hasTime()) {
        this.#schedule();
        return;
      }
      const one = this.#queue.takeOne()!;
      if (this.#resting.has(one.holder)) this.#wait(one);
      else {
        this.#begin(one.holder);
        one.go();
        return;
      }
    }
  }

  #hasTime(): boolean {
    return this.time.now() - this.#turnSince < limits.parseTurnMs;
  }

  /** Returns whether parsing waits in this period because connections arrive; updates the connection count. */
  #yieldsToConnections(): boolean {
    const accepted = this.accepted();
    const isAccepting = accepted !== this.#acceptedBefore;
    this.#acceptedBefore = accepted;
    if (!isAccepting) {
      this.#acceptingSince = null;
      return false;
    }
    this.#acceptingSince ??= this.time.now();
    return Math.floor((this.time.now() - this.#acceptingSince) / limits.acceptPeriodMs) % 4 < 3;
  }
}
