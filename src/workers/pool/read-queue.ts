/**
 * Queues reads of the log for the thread that executes them. A read may take a fifth of a second, so each holder is
 * charged with the time from the begin of its reads, and the one that has used the least is next.
 */
import { type Holder, PoolBusyError } from '../../group/ports/pool.js';
import { limits } from '../../limits.js';

/**
 * In the order of their turns where holders are charged the same: single records (a withdrawal, the audit), listings
 * with a key and the log for a joining node, public listings.
 */
export type ReadClass = 'records' | 'own' | 'public';

/** With more holders, the one whose last read is the longest ago is forgotten. */
const HOLDERS_MAX = 1_024;

interface Waiting {
  readonly holder: Holder | null;
  readonly begin: () => void;
  readonly refuse: () => void;
}

export class ReadQueue {
  readonly #waiting: Readonly<Record<ReadClass, Set<Waiting>>> = {
    records: new Set(),
    own: new Set(),
    public: new Set(),
  };
  /** Time of each holder's reads in ms, since the thread was last idle; a holder begins with that of the last turn. */
  readonly #usedMs = new Map<Holder | null, number>();
  #turnMs = 0;
  #running = 0;

  /** Runs at most `threads` reads at a time. A read that has not begun within `waitMs` is refused. */
  constructor(
    private readonly threads: number = limits.readerThreads,
    private readonly waitMs: number = limits.readerWaitMs,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Rejects with `PoolBusyError` if too many reads wait, or this one too long. `holder`: null for the node itself. */
  async run<R>(readClass: ReadClass, holder: Holder | null, read: () => Promise<R>): Promise<R> {
    await this.#turn(this.#waiting[readClass], holder);
    this.#turnMs = this.#usedBy(holder);
    const beganMs = this.now();
    try {
      return await read();
    } finally {
      this.#charge(holder, this.now() - beganMs);
      this.#running--;
      this.#beginNext();
    }
  }

  get holders(): number {
    return this.#usedMs.size;
  }

  refuseAll(): void {
    for (const waiting of Object.values(this.#waiting)) for (const one of waiting) one.refuse();
  }

  #charge(holder: Holder | null, ms: number): void {
    const usedMs = this.#usedBy(holder) + ms;
    // The map is in the order of the last charge.
    this.#usedMs.delete(holder);
    this.#usedMs.set(holder, usedMs);
    if (this.#usedMs.size <= HOLDERS_MAX) return;
    const [oldest] = this.#usedMs.keys();
    this.#usedMs.delete(oldest!);
  }

  #usedBy(holder: Holder | null): number {
    return Math.max(this.#turnMs, this.#usedMs.get(holder) ?? 0);
  }

  #turn(waiting: Set<Waiting>, holder: Holder | null): Promise<void> {
    if (this.#running < this.threads) {
      this.#running++;
      return Promise.resolve();
    }
    if (waiting.size >= limits.readersQueueMax && !makesRoom(waiting, holder)) return Promise.reject(busy());
    return new Promise((resolve, reject) => {
      const one: Waiting = {
        holder,
        begin: () => {
          clearTimeout(late);
          resolve();
        },
        refuse: () => {
          clearTimeout(late);
          waiting.delete(one);
          reject(busy());
        },
      };
      const late = setTimeout(one.refuse, this.waitMs);
      waiting.add(one);
    });
  }

  #beginNext(): void {
    let next: Waiting | undefined;
    for (const waiting of Object.values(this.#waiting)) {
      for (const one of waiting) {
        if (next === undefined || this.#usedBy(one.holder) < this.#usedBy(next.holder)) next = one;
      }
    }
    if (next === undefined) {
      if (this.#running > 0) return;
      this.#usedMs.clear();
      this.#turnMs = 0;
      return;
    }
    for (const waiting of Object.values(this.#waiting)) waiting.delete(next);
    this.#running++;
    next.begin();
  }
}

/** Refuses the newest read of the holder with the most, if that is more than `holder` would have. */
function makesRoom(waiting: ReadonlySet<Waiting>, holder: Holder | null): boolean {
  const counts = new Map<Holder | null, number>();
  for (const one of waiting) counts.set(one.holder, (counts.get(one.holder) ?? 0) + 1);
  const [largest, most] = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a));
  if (most <= (counts.get(holder) ?? 0) + 1) return false;
  [...waiting].findLast((one) => one.holder === largest)?.refuse();
  return true;
}

function busy(): PoolBusyError {
  return new PoolBusyError('too many reads of the log are waiting');
}
