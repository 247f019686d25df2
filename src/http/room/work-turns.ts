/**
 * Lets long work of callers run by holder in turn, for a bounded time in each turn of the event loop, since a turn
 * accepts one connection, and all callers wait for its end. Bodies of one size may take 100 times as long as others, so
 * one that takes long for the valid events in it makes its holder rest several times as long.
 */
import { nextTick } from 'node:process';
import { FairQueue } from '../../core/fair-queue.js';
import { getOrMake } from '../../core/get-or-make.js';
import type { Holder } from '../../group/ports/pool.js';
import { limits } from '../../limits.js';

/** Work of the size of so many small events. */
interface Waiting {
  readonly holder: Holder;
  readonly events: number;
  readonly isBody: boolean;
  readonly go: () => void;
}

interface Resting {
  readonly waiting: Waiting[];
  events: number;
}

/** `soon` calls a function after all that follows at once from the present call. */
export interface TurnTime {
  readonly now: () => number;
  readonly soon: (run: () => void) => void;
  readonly nextTurn: (run: () => void) => void;
  readonly after: (ms: number, run: () => void) => void;
}

const systemTime: TurnTime = {
  now: () => performance.now(),
  // Microtasks run before the next tick that is set in one.
  soon: (run) => queueMicrotask(() => nextTick(run)),
  nextTurn: setImmediate,
  after: (ms, run) => void setTimeout(run, ms).unref(),
};

export class WorkTurns {
  readonly #queue = new FairQueue<Holder, Waiting>(limits.fairShareEvents, ({ events }) => events);
  readonly #resting = new Map<Holder, Resting>();
  #mayRest = true;
  #running: { readonly holder: Holder; readonly since: number } | null = null;
  #acceptedBefore = 0;
  /** When connections began to arrive, in ms of a monotonic clock; null if none arrive. */
  #acceptingSince: number | null = null;
  #isScheduled = false;
  #turnSince = 0;

  /** `accepted`: number of connections so far. */
  constructor(
    private readonly accepted: () => number,
    private readonly time: TurnTime = systemTime,
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
  nextBody(holder: Holder, events: number): Promise<void> | undefined {
    return this.#next(holder, events, true);
  }

  /** Resolves when an answer may be made that takes as long as so many events; undefined if that is now. */
  nextRead(holder: Holder, events: number): Promise<void> | undefined {
    return this.#next(holder, events, false);
  }

  #next(holder: Holder, events: number, isBody: boolean): Promise<void> | undefined {
    const isFirst = this.#queue.empty && !this.#resting.has(holder);
    this.#schedule();
    const isSmall = events < limits.fairShareEvents;
    if (isFirst && this.#hasTime() && (isSmall || this.accepted() === this.#acceptedBefore)) {
      this.#begin(holder, isBody);
      return undefined;
    }
    return new Promise((go) => this.#wait({ holder, events, isBody, go }));
  }

  /** Notes that the body has been parsed and checked, with so many valid events. Without this call it had none. */
  parsed(validEvents: number): void {
    const running = this.#running;
    this.#running = null;
    if (running === null) return;
    const usualMs = validEvents > 0 ? limits.parseUsualMs + validEvents * limits.parseUsualMsPerEvent : 0;
    const excessMs = this.time.now() - running.since - usualMs;
    if (excessMs > limits.parseExcessMs && this.#mayRest) this.#rest(running.holder, excessMs);
  }

  /** Lets nobody rest any more, so that a node that stops answers everybody. */
  endRests(): void {
    this.#mayRest = false;
    for (const [holder, resting] of this.#resting) this.#wake(holder, resting);
  }

  #begin(holder: Holder, isBody: boolean): void {
    this.parsed(0);
    this.#running = isBody ? { holder, since: this.time.now() } : null;
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
      if (this.#resting.get(holder) === resting) this.#wake(holder, resting);
    });
  }

  #wake(holder: Holder, { waiting }: Resting): void {
    this.#resting.delete(holder);
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
        this.#begin(one.holder, one.isBody);
        one.go();
        return;
      }
    }
  }

  #hasTime(): boolean {
    return this.time.now() - this.#turnSince < limits.workTurnMs;
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
