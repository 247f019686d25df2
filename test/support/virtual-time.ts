/**
 * Virtual time: timers that act in the order of their times, as fast as the machine can. Between two of them, every
 * promise that can settle settles.
 */
import type { Timers } from '../../src/group/ports/clock.js';

interface Planned {
  readonly at: number;
  readonly order: number;
  act: (() => void) | null;
}

export class VirtualTime implements Timers {
  #now = 0;
  #order = 0;
  /** A binary heap: the first act is the next one. */
  readonly #heap: Planned[] = [];

  elapsed(): number {
    return this.#now;
  }

  soon(act: () => void): void {
    this.later(act, 0);
  }

  later(act: () => void, ms: number): () => void {
    const planned: Planned = { at: this.#now + Math.max(0, ms), order: this.#order++, act };
    this.#push(planned);
    return () => {
      planned.act = null;
    };
  }

  /** Runs the next act and lets promises settle. Resolves to false if none is planned. */
  async step(): Promise<boolean> {
    await settled();
    for (let next = this.#pop(); next !== null; next = this.#pop()) {
      if (next.act === null) continue;
      this.#now = next.at;
      next.act();
      await settled();
      return true;
    }
    return false;
  }

  /** Lets time pass until `holds`. Rejects if it does not within `maxMs`. */
  async until(holds: () => boolean, maxMs = 120_000): Promise<void> {
    const endAt = this.#now + maxMs;
    await settled();
    while (!holds()) {
      if (this.#now > endAt || !(await this.step())) throw new Error(`not within ${maxMs} virtual ms: ${holds}`);
    }
  }

  /** Lets time pass until the promise settles. Rejects if it does not within `maxMs`. */
  async wait<T>(promise: Promise<T>, maxMs?: number): Promise<T> {
    let isSettled = false;
    const done = () => {
      isSettled = true;
    };
    promise.then(done, done);
    await this.until(() => isSettled, maxMs);
    return promise;
  }

  #push(planned: Planned): void {
    const heap = this.#heap;
    let at = heap.push(planned) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(planned, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = planned;
  }

  #pop(): Planned | null {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined) return null;
    if (heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1;
      if (!isBefore(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

function isBefore(one: Planned, other: Planned): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}

/** Resolves once every promise that can settle now has settled. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
