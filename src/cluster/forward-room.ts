/**
 * Bounds the commands that this node has sent to the leader, so that no holder takes all connections: a holder may have
 * twice as many commands in progress as there are places free (dynamic thresholds, Choudhury and Hahne 1998).
 */
import { getOrMake } from '../core/get-or-make.js';
import { limits } from '../limits.js';
import { LinkError } from './link-client.js';

interface Line {
  running: number;
  readonly waiting: Set<() => void>;
}

export class ForwardRoom {
  readonly #lines = new Map<string, Line>();
  #running = 0;

  /** Sends a command once its holder has room. Rejects with `LinkError` if that takes longer than `waitMs`. */
  async run<T>(holder: string, waitMs: number, send: () => Promise<T>): Promise<T> {
    await this.#turn(holder, waitMs);
    try {
      return await send();
    } finally {
      this.#lines.get(holder)!.running -= 1;
      this.#running -= 1;
      this.#forget(holder);
      this.#beginNext();
    }
  }

  #turn(holder: string, waitMs: number): Promise<void> {
    const line = getOrMake(this.#lines, holder, () => ({ running: 0, waiting: new Set<() => void>() }));
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        clearTimeout(late);
        resolve();
      };
      const late = setTimeout(() => {
        line.waiting.delete(begin);
        this.#forget(holder);
        reject(new LinkError(`no room on the link within ${waitMs} ms`, true));
      }, waitMs).unref();
      line.waiting.add(begin);
      this.#beginNext();
    });
  }

  /** Begins the commands of the holders with the fewest in progress first. */
  #beginNext(): void {
    for (;;) {
      const shareMax = 2 * (limits.linkForwardsMax - this.#running);
      let next: [holder: string, line: Line] | undefined;
      for (const [holder, line] of this.#lines) {
        const isNext = line.waiting.size > 0 && line.running < (next?.[1].running ?? shareMax);
        if (isNext) next = [holder, line];
      }
      if (next === undefined) return;
      const [holder, line] = next;
      const [begin] = line.waiting;
      line.waiting.delete(begin!);
      line.running += 1;
      this.#running += 1;
      // The holder is behind the others that have as many commands in progress.
      this.#lines.delete(holder);
      this.#lines.set(holder, line);
      begin!();
    }
  }

  #forget(holder: string): void {
    const { running, waiting } = this.#lines.get(holder)!;
    if (running === 0 && waiting.size === 0) this.#lines.delete(holder);
  }
}
