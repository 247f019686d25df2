/** The process of a simulated node on virtual time: it may be paused, as by SIGSTOP, and it may die. */
import type { Timers } from '../../../src/group/ports/clock.js';
import type { Random } from '../../support/random.js';
import type { VirtualTime } from '../../support/virtual-time.js';

export class NodeProcess implements Timers {
  readonly #time: VirtualTime;
  readonly #random: Random;
  isDead = false;
  readonly #deathWatches = new Set<() => void>();
  #isPaused = false;
  /** Timers and answers that came while the process was paused. */
  #held: (() => void)[] = [];

  constructor(time: VirtualTime, random: Random) {
    this.#time = time;
    this.#random = random;
  }

  get isRunning(): boolean {
    return !this.isDead && !this.#isPaused;
  }

  elapsed(): number {
    return this.#time.elapsed();
  }

  soon(act: () => void): void {
    this.later(act, 0);
  }

  later(act: () => void, ms: number): () => void {
    let isCancelled = false;
    const run = (): void => {
      if (this.isDead || isCancelled) return;
      if (this.#isPaused) this.#held.push(run);
      else act();
    };
    const cancel = this.#time.later(run, ms);
    return () => {
      isCancelled = true;
      cancel();
    };
  }

  /** Ends the process, and with it its timers. */
  die(): void {
    this.isDead = true;
    for (const act of this.#deathWatches) act();
    this.#deathWatches.clear();
  }

  /** Calls `act` once the process dies. The returned function cancels the call. */
  onDeath(act: () => void): () => void {
    this.#deathWatches.add(act);
    return () => this.#deathWatches.delete(act);
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    for (const run of this.#held.splice(0)) this.#time.later(run, 0);
  }

  /** Resolves to the result of work that takes some ms and is lost if the process dies. */
  work<R>(_thread: unknown, _name: string, act: () => R | Promise<R>): Promise<R> {
    return new Promise((resolve, reject) => {
      this.later(() => {
        Promise.resolve().then(act).then(resolve, reject);
      }, 1 + this.#random.below(4));
    });
  }
}
