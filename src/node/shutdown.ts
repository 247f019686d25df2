/**
 * How a node stops: what it opened is closed from the last to the first, within the time that a stop has, and a last
 * snapshot made.
 */
import type { Logger } from 'pino';
import type { GroupLoop } from '../group/actor/loop.js';
import type { Group } from '../group/group.js';
import { limits } from '../limits.js';
import { writeHead } from './upkeep.js';

type Closer = () => Promise<void>;

/** What ends the parts of a node, in the order in which they were opened. */
export class Closers {
  readonly #closers: Closer[] = [];
  /** By `performance.now()`: when a stop that began must be done but for its threads. */
  #threadsEndAt = Number.POSITIVE_INFINITY;

  add(closer: Closer): void {
    this.#closers.push(closer);
  }

  /** Keeps this place in the order for a closer that the result is told later; nothing is closed here until then. */
  reserve(): (closer: Closer) => void {
    let late: Closer = async () => undefined;
    this.add(() => late());
    return (closer) => {
      late = closer;
    };
  }

  /** Of `atMost` ms what a stop that began leaves. */
  msLeft(atMost: number): number {
    return Math.max(0, Math.min(atMost, this.#threadsEndAt - performance.now()));
  }

  /**
   * Closes from the last part to the first. A part that cannot be closed does not keep the others open: the data folder
   * is released in any case. Rejects afterwards with the first failure.
   */
  async close(): Promise<void> {
    this.#threadsEndAt = performance.now() + limits.shutdownMs - limits.shutdownPoolMs - limits.shutdownLastMs;
    const failures: unknown[] = [];
    for (const closer of this.#closers.splice(0).reverse()) {
      await closer().catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  }
}

export interface WindingDown {
  readonly group: Group;
  /** As it is when the node stops. */
  readonly loop: () => GroupLoop;
  readonly dir: string;
  readonly log: Logger;
  /** What is left for a last snapshot. */
  readonly snapshotMs: () => number;
}

/** Everything accepted is durable, and a last snapshot is made where it fits in its time. */
export async function windDown({ group, loop: current, dir, log, snapshotMs }: WindingDown): Promise<void> {
  await group.drain();
  const loop = current();
  if (loop.failed) return;
  let isLeft = false;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), snapshotMs());
  });
  const made = loop.snapshotNow(snapshotMs).catch((error: unknown) => {
    if (!isLeft) log.warn({ err: error }, 'the last snapshot failed');
  });
  isLeft = (await Promise.race([made, late])) === false;
  if (isLeft) log.warn('the last snapshot takes too long and is left');
  clearTimeout(timer);
  // The log alone says what is durable; where the disk is full, the folder must still be released.
  await writeHead(loop, dir, true).catch((error: unknown) => log.warn({ err: error }, 'head.json was not written'));
}
