/** Work that comes for many connections in one moment, a few pieces in each turn of the event loop: requests of others come between. */
import { limits } from '../limits.js';

export class FewAtATime {
  #waiting: (() => void)[] = [];

  add(work: () => void): void {
    if (this.#waiting.push(work) === 1) setImmediate(() => this.#turn());
  }

  #turn(): void {
    const now = this.#waiting.slice(0, limits.connectionsEndedPerTurn);
    // Before they run: one that throws leaves the others.
    this.#waiting = this.#waiting.slice(limits.connectionsEndedPerTurn);
    if (this.#waiting.length > 0) setImmediate(() => this.#turn());
    for (const work of now) work();
  }
}
