/**
 * The world that a simulated node lives in: two clocks, timers, chance, and lanes of work that is under way. Nothing
 * happens by itself: the run says which lane goes on, and when time passes.
 */
import { hash } from 'node:crypto';
import type { Clock, RandomSource, Timers } from '../../src/group/ports/clock.js';
import { Random } from '../support/random.js';

/** One piece of work under way, done when its lane is let on. */
interface Work {
  readonly name: string;
  readonly act: () => void | Promise<void>;
  /** The effects that may have happened when the process dies before it is done; absent if there are none. */
  readonly dying?: () => void;
}

interface Timer {
  readonly at: number;
  readonly act: () => void;
}

export const threads = ['soon', 'timer', 'log', 'scrub', 'snapshots', 'replica', 'reader'] as const;
export type Thread = (typeof threads)[number];

/** The world that outlives a process: the wall clock and the random source. */
export class World implements Clock, RandomSource {
  wall: number;
  readonly #random: Random;
  #uuid = 'no-uuid';

  constructor(seed: number, start: number) {
    this.wall = start;
    this.#random = new Random(hash('sha256', `world ${seed}`, 'buffer').readUInt32LE(0));
  }

  now(): number {
    return this.wall;
  }

  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.#random.below(256));
  }

  /** The id that the step at hand names: so that a list of steps means the same with some of them left out. */
  uuid(): string {
    return this.#uuid;
  }

  nameNext(uuid: string): void {
    this.#uuid = uuid;
  }
}

/** A process, with which its timers and its pending work end. */
export class Process implements Timers {
  readonly #threads = new Map<Thread, Work[]>(threads.map((thread) => [thread, []]));
  readonly #busy = new Set<Thread>();
  #timers: Timer[] = [];
  #elapsed = 0;

  elapsed(): number {
    return this.#elapsed;
  }

  soon(act: () => void): void {
    this.queue('soon', { name: 'soon', act });
  }

  later(act: () => void, ms: number): () => void {
    const timer = { at: this.#elapsed + ms, act };
    const place = this.#timers.findIndex(({ at }) => at > timer.at);
    this.#timers.splice(place < 0 ? this.#timers.length : place, 0, timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  pass(ms: number): void {
    this.#elapsed += ms;
  }

  /** ms until the next timer is due; null: there is none. */
  get untilTimer(): number | null {
    const next = this.#timers[0];
    return next === undefined ? null : Math.max(0, next.at - this.#elapsed);
  }

  queue(thread: Thread, work: Work): void {
    this.#threads.get(thread)!.push(work);
  }

  waiting(thread: Thread): number {
    return this.#threads.get(thread)!.length;
  }

  /** Work in a lane that resolves, or rejects, when it is its turn. */
  work<R>(thread: Thread, name: string, act: () => R | Promise<R>, dying?: () => void): Promise<R> {
    return new Promise((resolve, reject) => {
      const settle = async () => {
        try {
          resolve(await act());
        } catch (error) {
          reject(error);
        }
      };
      this.queue(thread, { name, act: settle, ...(dying === undefined ? {} : { dying }) });
    });
  }

  /** Lanes that could go on now. */
  get ready(): Thread[] {
    return threads.filter((thread) => {
      if (thread === 'timer') return this.untilTimer === 0;
      return !this.#busy.has(thread) && this.#threads.get(thread)!.length > 0;
    });
  }

  /** Lets a lane do its next piece of work; returns what it was. */
  go(thread: Thread): string {
    if (thread === 'timer') {
      this.#timers.shift()!.act();
      return 'timer';
    }
    const work = this.#threads.get(thread)!.shift()!;
    const doing = work.act();
    if (doing instanceof Promise) {
      this.#busy.add(thread);
      void doing.then(() => this.#busy.delete(thread));
    }
    return work.name;
  }

  /** The process dies: of the first work of each lane that `chance` picks, what may have happened has happened. */
  die(chance: () => boolean): void {
    for (const work of this.#threads.values()) {
      if (work[0]?.dying !== undefined && chance()) work[0].dying();
      work.length = 0;
    }
    this.#timers = [];
  }
}
