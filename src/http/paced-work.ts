/**
 * Work that comes for many connections in one moment, a few pieces each millisecond: requests of others come between, and find the
 * event loop at rest more often than not.
 */
import { limits } from '../limits.js';

export class PacedWork {
  #waiting: (() => void)[] = [];

  add(work: () => void): void {
    if (this.#waiting.push(work) === 1) setTimeout(() => this.#turn(), 1);
  }

  #turn(): void {
    const count = Math.max(
      limits.connectionsEndedPerMs,
      Math.ceil(this.#waiting.length / limits.connectionsEndedTurns),
    );
    const now = this.#waiting.splice(0, count);
    // Before they run: what they add counts on a turn that is planned.
    if (this.#waiting.length > 0) setTimeout(() => this.#turn(), 1);
    for (const work of now) work();
  }
}
