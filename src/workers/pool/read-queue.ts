/**
 * What waits for the thread that reads the log. A listing walks up to a thousand batches, and anybody may ask for one:
 * so those of callers without a key wait behind all others, and nobody waits for longer than is worth the wait.
 */
import { PoolBusyError } from '../../group/ports/pool.js';
import { limits } from '../../limits.js';

/** In the order of their turns: single records (a withdrawal, the audit), listings by key, listings for anybody. */
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

  /** As many reads as there are `threads` run at a time; one that has not begun within `waitMs` never does. */
  constructor(threads: number = limits.readerThreads, waitMs: number = limits.readerWaitMs) {
    this.#threads = threads;
    this.#waitMs = waitMs;
  }

  /**
   * Does `read` in its turn. Rejects as that does, or with `PoolBusyError` where too many wait, or this one waited too
   * long.
   */
  async run<R>(readClass: ReadClass, read: () => Promise<R>): Promise<R> {
    await this.#turn(this.#waiting[readClass]);
    try {
      return await read();
    } finally {
      this.#running--;
      this.#beginNext();
    }
  }

  /** Nothing that waits now will begin. */
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
  return new PoolBusyError('too much is to be read');
}
