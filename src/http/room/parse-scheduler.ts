/** Limits the batch events parsed in a turn of the loop, with fair shares; parses less while connections arrive. */
import { FairQueue } from '../../core/fair-queue.js';
import type { Holder } from '../../group/ports/pool.js';
import { limits } from '../../limits.js';

interface Waiting {
  readonly events: number;
  readonly go: () => void;
}

export class ParseScheduler {
  readonly #queue = new FairQueue<Holder, Waiting>(limits.fairShareEvents, ({ events }) => events);
  #acceptedBefore = 0;
  /** When connections began to arrive, in ms of a monotonic clock; null if none arrive. */
  #acceptingSince: number | null = null;
  /** Events that may still be parsed in this turn of the loop. */
  #left: number = limits.parsedEventsPerLoop;
  #scheduled = false;
  #scheduledAt = 0;

  /** `accepted`: number of connections so far. `nextTurn` calls a function in the loop's next turn. */
  constructor(
    private readonly accepted: () => number,
    private readonly nextTurn: (run: () => void) => void = setImmediate,
    private readonly now: () => number = () => performance.now(),
  ) {}

  eventsOf(holder: Holder): number {
    return this.#queue.sizeOf(holder);
  }

  hasRoomFor(events: number): boolean {
    return this.#queue.size + events <= limits.parsingEventsMax;
  }

  eventsBefore(holder: Holder, more: number): number {
    return this.#queue.sizeBefore(holder, more);
  }

  /** Resolves when a batch of `events` may be parsed; undefined if that is now. */
  next(holder: Holder, events: number): Promise<void> | undefined {
    if (this.#queue.empty && this.#left > 0 && this.accepted() === this.#acceptedBefore) {
      this.#left -= events;
      this.#schedule();
      return undefined;
    }
    this.#schedule();
    return new Promise((go) => this.#queue.push(holder, { events, go }));
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#scheduledAt = this.now();
    this.nextTurn(() => this.#begin());
  }

  #begin(): void {
    this.#scheduled = false;
    // After a long turn, more events are parsed; otherwise a slow machine would parse too few.
    const byTime = (this.now() - this.#scheduledAt) * limits.parsedEventsPerMs;
    this.#left = Math.min(limits.parsedEventsMax, Math.max(limits.parsedEventsPerLoop, byTime));
    if (this.#yieldsToConnections()) {
      this.#schedule();
      return;
    }
    const turn = this.#queue.take(({ events }) => {
      if (this.#left <= 0) return false;
      this.#left -= events;
      return true;
    });
    if (turn.length > 0) this.#schedule();
    for (const { go } of turn) go();
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
    this.#acceptingSince ??= this.now();
    return Math.floor((this.now() - this.#acceptingSince) / limits.acceptPeriodMs) % 4 < 3;
  }
}
