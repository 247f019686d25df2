/**
 * Queues reads of the log for the thread that executes them. A listing reads up to a thousand batches, and any caller
 * may request one. Requests without a key therefore wait behind all others, and no request waits for longer than a
 * bound.
 */
import { PoolBusyError } from '../../group/ports/pool.js';
import { limits } from '../../limits.js';

/**
 * Classes in the order of their turns: single records (a withdrawal, the audit), listings with a key and the log for a
 * joining node, public listings.
 */
export type ReadClass = 'records' | 'own' | 'public';

interface Waiting {
  readonly begin: () => void;
  readonly refuse: () => void;
}

export class ReadQueue {
  readonly #threads: number;
  readonly #waitMs: number;
  readonly #waiting: Readonly<Record<ReadClass, Set<Waiting>>> = {
    records: new Set(),
    own: new Set(),
    public: new Set(),
  };
  #running = 0;

  /** Runs at most `threads` reads at a time. A read that has not begun within `waitMs` is refused. */
  constructor(threads: number = limits.readerThreads, waitMs: number = limits.readerWaitMs) {
    this.#threads = threads;
    this.#waitMs = waitMs;
  }

  /** Runs `read` in its turn. Rejects with `PoolBusyError` if too many reads wait, or this one too long. */
  async run<R>(readClass: ReadClass, read: () => Promise<R>): Promise<R> {
    await this.#turn(this.#waiting[readClass]);
    try {
      return await read();
    } finally {
      this.#running--;
      this.#beginNext();
    }
  }

  refuseAll(): void {
    for (const waiting of Object.values(this.#waiting)) for (const one of waiting) one.refuse();
  }

  #turn(waiting: Set<Waiting>): Promise<void> {
    if (this.#running < this.#threads) {
      this.#running++;
      return Promise.resolve();
    }
    if (waiting.size >= limits.readersQueueMax) return Promise.reject(busy());
    return new Promise((resolve, reject) => {
      const one: Waiting = {
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
      const late = setTimeout(one.refuse, this.#waitMs);
      waiting.add(one);
    });
  }

  #beginNext(): void {
    for (const waiting of Object.values(this.#waiting)) {
      const [next] = waiting;
      if (next === undefined) continue;
      waiting.delete(next);
      this.#running++;
      next.begin();
      return;
    }
  }
}

function busy(): PoolBusyError {
  return new PoolBusyError('too many reads of the log are waiting');
}
