/**
 * Measures windows in moments in which a rented machine is its own, where its neighbours leave any: what stands around a window is looked at, never
 * what the window found, so none is chosen for its figure.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type CoreTime, coreTime, isOwn, sharedCacheReadNs, shareTaken } from './neighbours.js';

/** What neighbours took around windows that were kept. */
export interface Surroundings {
  /** The longest. */
  readonly cacheReadNs: number;
  /** Of all of them together; undefined where it is not known. */
  readonly taken: number | undefined;
}

/** Where patience looks; times in ms. */
export interface Machine {
  readonly cacheReadNs: () => number;
  readonly coreTime: () => CoreTime | null;
  readonly now: () => number;
  readonly rest: () => Promise<unknown>;
}

/** Between two looks at a machine that is not its own. */
const restMs = 250;

const thisMachine: Machine = {
  cacheReadNs: sharedCacheReadNs,
  coreTime,
  now: () => performance.now(),
  rest: () => delay(restMs),
};

export class Patience {
  readonly #machine: Machine;
  /** Of the time that may go without a window that is kept. */
  #leftMs: number;
  #waitedMs = 0;
  #again = 0;
  #cacheReadNs = 0;
  readonly #before = { worked: 0, taken: 0 };
  readonly #after = { worked: 0, taken: 0 };

  constructor(seconds: number, machine = thisMachine) {
    this.#leftMs = seconds * 1000;
    this.#machine = machine;
  }

  /** The first window of `measure` that the machine was its own for; once patience is at its end, whichever comes next. */
  async measure<W>(measure: () => Promise<W>): Promise<W> {
    for (;;) {
      const startedMs = this.#machine.now();
      const isLast = this.#leftMs <= 0;
      const before = this.#machine.cacheReadNs();
      if (isOwn(before) || isLast) {
        const timeBefore = this.#machine.coreTime();
        const window = await measure();
        const timeAfter = this.#machine.coreTime();
        const cacheReadNs = Math.max(before, this.#machine.cacheReadNs());
        if (isOwn(cacheReadNs, shareTaken(timeBefore, timeAfter)) || isLast) {
          this.#keep(cacheReadNs, timeBefore, timeAfter);
          return window;
        }
        this.#again++;
      } else {
        await this.#machine.rest();
      }
      const waitedMs = this.#machine.now() - startedMs;
      this.#waitedMs += waitedMs;
      this.#leftMs -= waitedMs;
    }
  }

  #keep(cacheReadNs: number, before: CoreTime | null, after: CoreTime | null): void {
    this.#cacheReadNs = Math.max(this.#cacheReadNs, cacheReadNs);
    if (before === null || after === null) return;
    for (const key of ['worked', 'taken'] as const) {
      this.#before[key] += before[key];
      this.#after[key] += after[key];
    }
  }

  get surroundings(): Surroundings {
    return { cacheReadNs: this.#cacheReadNs, taken: shareTaken(this.#before, this.#after) };
  }

  /** For people. */
  get note(): string {
    const waitedS = Math.round(this.#waitedMs / 1000);
    return `waited ${waitedS} s for the machine to be its own, and measured ${this.#again} windows again`;
  }
}

/** That of this run; null where its windows are measured as they come. */
let ofRun: Patience | null = null;

/** From here on windows wait, so many seconds in all. */
export function bePatient(seconds: number): void {
  ofRun = new Patience(seconds);
}

export function patience(): Patience | null {
  return ofRun;
}

/** Measures a window, at once or when the machine is its own. */
export function inItsMoment<W>(measure: () => Promise<W>): Promise<W> {
  return ofRun === null ? measure() : ofRun.measure(measure);
}
