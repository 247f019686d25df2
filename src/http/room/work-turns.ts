/**
 * Lets bodies and long reads of callers take turns by holder, for a bounded time in each turn of the event loop, since
 * a turn accepts one connection, and all callers wait for its end. Bodies of one size may take 100 times as long as
 * others, so a holder whose body takes long for its valid events is throttled for several times as long.
 */
import { nextTick } from 'node:process';
import { FairQueue } from '../../core/fair-queue.js';
import type { Holder } from '../../group/ports/pool.js';
import { limits } from '../../limits.js';

/** Work of the size of so many small events. */
interface Work {
  readonly holder: Holder;
  readonly events: number;
  readonly isBody: boolean;
}

interface Waiting extends Work {
  readonly go: () => void;
}

interface Throttled {
  readonly waiting: Waiting[];
  events: number;
}

/**
 * Monotonic time in ms, and timers that do not keep the process alive. `soon` calls a function after all that follows
 * at once from the present call.
 */
export interface TurnTime {
  readonly now: () => number;
  readonly soon: (run: () => void) => void;
  readonly nextTurn: (run: () => void) => void;
  readonly after: (ms: number, run: () => void) => void;
}

export const systemTime: TurnTime = {
  now: () => performance.now(),
  // Microtasks run before the next tick that is set in one.
  soon: (run) => queueMicrotask(() => nextTick(run)),
  nextTurn: setImmediate,
  after: (ms, run) => void setTimeout(run, ms).unref(),
};

function newQueue(): FairQueue<Holder, Waiting> {
  return new FairQueue(limits.fairShareEvents, ({ events }) => events);
}

export class WorkTurns {
  readonly #small = newQueue();
  readonly #large = newQueue();
  readonly #throttled = new Map<Holder, Throttled>();
  #mayThrottle = true;
  #running: (Work & { readonly since: number }) | null = null;
  #wasLarge = false;
  #acceptedBefore = 0;
  /** When connections began to arrive, in ms of a monotonic clock; null if none arrive. */
  #acceptingSince: number | null = null;
  /** Whether large work waits in this turn, because connections arrive. */
  #isYielding = false;
  #isScheduled = false;
  #turnSince = 0;

  /** `accepted`: number of connections so far. */
  constructor(
    private readonly accepted: () => number,
    private readonly time: TurnTime = systemTime,
  ) {}

  eventsOf(holder: Holder): number {
    return this.#small.sizeOf(holder) + this.#large.sizeOf(holder) + (this.#throttled.get(holder)?.events ?? 0);
  }

  hasRoomFor(holder: Holder, events: number): boolean {
    let all = this.#small.size + this.#large.size + events;
    for (const one of this.#throttled.values()) all += one.events;
    if (all > 2 * limits.parsingEventsMax) return false;
    const throttled = this.#throttled.get(holder);
    if (throttled === undefined) return this.eventsBefore(holder, events) + events <= limits.parsingEventsMax;
    return throttled.events + events <= (limits.parsingEventsMax * limits.throttledShare) / this.#throttled.size;
  }

  eventsBefore(holder: Holder, more: number): number {
    return this.#small.sizeBefore(holder, more) + this.#large.sizeBefore(holder, more);
  }

  /** Resolves when a body may be parsed; undefined if that is now. */
  nextBody(holder: Holder, events: number): Promise<void> | undefined {
    return this.#next({ holder, events, isBody: true });
  }

  /** Resolves when a long read may be answered; undefined if that is now. */
  nextRead(holder: Holder): Promise<void> | undefined {
    return this.#next({ holder, events: limits.longReadEvents, isBody: false });
  }

  /** True if requests that follow another one of their connection must wait for the next turn of the event loop. */
  get isTurnOver(): boolean {
    this.#schedule();
    return !this.#hasTime();
  }

  /** Notes that the body in its turn has been checked. Without this call it counts as one without valid events. */
  parsed(validEvents: number): void {
    const running = this.#running;
    this.#running = null;
    if (!running?.isBody || !this.#mayThrottle) return;
    const usualMs = validEvents > 0 ? limits.parseUsualMs + validEvents * limits.parseUsualMsPerEvent : 0;
    const excessMs = this.time.now() - running.since - usualMs;
    if (excessMs > limits.parseExcessMs) this.#throttle(running.holder, excessMs);
  }

  /** Throttles nobody any more, so that a node that stops answers everybody. */
  endThrottling(): void {
    this.#mayThrottle = false;
    for (const [holder, throttled] of this.#throttled) this.#release(holder, throttled);
  }

  #next(work: Work): Promise<void> | undefined {
    this.#schedule();
    const isFirst = this.#running === null && this.#small.empty && this.#large.empty;
    const isAtOnce = isSmall(work) || this.accepted() === this.#acceptedBefore;
    if (isFirst && isAtOnce && this.#hasTime() && !(work.isBody && this.#throttled.has(work.holder))) {
      this.#begin(work);
      return undefined;
    }
    return new Promise((go) => this.#wait({ go, ...work }));
  }

  #wait(one: Waiting): void {
    const throttled = one.isBody ? this.#throttled.get(one.holder) : undefined;
    if (throttled === undefined) (isSmall(one) ? this.#small : this.#large).push(one.holder, one);
    else {
      throttled.waiting.push(one);
      throttled.events += one.events;
    }
  }

  #begin(work: Work): void {
    const running = { since: this.time.now(), ...work };
    this.#running = running;
    this.#wasLarge = !isSmall(work);
    this.time.soon(() => {
      if (this.#running === running) this.parsed(0);
      this.#goOn();
    });
  }

  #throttle(holder: Holder, excessMs: number): void {
    const throttled: Throttled = { waiting: [], events: 0 };
    this.#throttled.set(holder, throttled);
    for (const queue of [this.#small, this.#large]) {
      for (const one of queue.removeWhere((other) => other.isBody && other.holder === holder)) this.#wait(one);
    }
    // Holders that are throttled at the same time share the time of one.
    const ms = Math.min(limits.throttleMsMax, excessMs * limits.throttleFactor * this.#throttled.size);
    this.time.after(ms, () => {
      if (this.#throttled.get(holder) === throttled) this.#release(holder, throttled);
    });
  }

  #release(holder: Holder, { waiting }: Throttled): void {
    this.#throttled.delete(holder);
    for (const one of waiting) this.#wait(one);
    if (waiting.length > 0) this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#turnSince = this.time.now();
    this.time.nextTurn(() => {
      this.#isScheduled = false;
      this.#turnSince = this.time.now();
      this.#isYielding = this.#yieldsToConnections();
      this.#goOn();
    });
  }

  /** Begins the next work, if none runs. Small and large work alternate. */
  #goOn(): void {
    if (this.#running !== null || (this.#small.empty && this.#large.empty)) return;
    const isSmallNext = this.#large.empty || this.#isYielding || (this.#wasLarge && !this.#small.empty);
    const one = this.#hasTime() ? (isSmallNext ? this.#small : this.#large).takeOne() : undefined;
    if (one === undefined) {
      this.#schedule();
      return;
    }
    this.#begin(one);
    one.go();
  }

  #hasTime(): boolean {
    return this.time.now() - this.#turnSince < limits.workTurnMs;
  }

  /** Updates the connection count. While connections arrive, large work waits in three of four periods. */
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

function isSmall({ events }: Work): boolean {
  return events < limits.fairShareEvents;
}

/** Returns the number of small events that are as large together. */
export function eventsWithin(bytes: number): number {
  return Math.min(limits.batchEventsMax, 1 + Math.floor(bytes / limits.batchEventBytesMin));
}
