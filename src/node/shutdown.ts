/** Closes a node's parts in reverse order of opening, within a time limit, and writes a last snapshot. */
import type { Logger } from 'pino';
import type { CurrentLoop } from '../group/calls.js';
import type { Group } from '../group/group.js';
import { limits } from '../limits.js';
import { within } from '../workers/within.js';
import { writeHead } from './upkeep.js';

type Closer = () => Promise<void>;

export class Closers {
  readonly #closers: Closer[] = [];
  /** Time, by `performance.now()`, by which all parts except the threads must be closed. */
  #partsDeadline = Number.POSITIVE_INFINITY;

  add(closer: Closer): void {
    this.#closers.push(closer);
  }

  /** Returns `atMost` ms, or less if the time limit of a stop in progress leaves less. */
  msLeft(atMost: number): number {
    return Math.max(0, Math.min(atMost, this.#partsDeadline - performance.now()));
  }

  /** If a part cannot be closed, the others still are, to release the folder. Rejects with the first failure. */
  async close(): Promise<void> {
    this.#partsDeadline = performance.now() + limits.shutdownMs - limits.shutdownPoolMs - limits.shutdownLastMs;
    const failures: unknown[] = [];
    for (const closer of this.#closers.splice(0).reverse()) {
      await closer().catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  }
}

export interface WindingDown {
  readonly group: Group;
  readonly current: CurrentLoop;
  readonly dir: string;
  readonly log: Logger;
  readonly snapshotMs: () => number;
}

export async function windDown({ group, current, dir, log, snapshotMs }: WindingDown): Promise<void> {
  await group.drain();
  const { loop } = current;
  if (loop.failed) return;
  let isSkipped = false;
  const made = loop.snapshotNow(snapshotMs).catch((error: unknown) => {
    if (!isSkipped) log.warn({ err: error }, 'the last snapshot failed');
  });
  isSkipped = !(await within(snapshotMs(), made));
  if (isSkipped) log.warn('the last snapshot takes too long and is skipped');
  // The log alone decides what is durable; on a full disk, the folder must be released nevertheless.
  await writeHead(loop, dir, true).catch((error: unknown) => log.warn({ err: error }, 'head.json was not written'));
}
