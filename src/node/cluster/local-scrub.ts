/**
 * Overwrites the free space of this node's log after an erasure. A file in the data folder marks a due scrub, so that a
 * node that crashed, or that joined after the leader's request, scrubs by itself.
 */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { limits } from '../../limits.js';

export class LocalScrub {
  readonly #file: string;
  /** Overwrites the free space until the signal aborts. */
  readonly #overwrite: (signal: AbortSignal) => Promise<void>;
  readonly #onFailure: (what: string, error: unknown) => void;
  readonly #ending = new AbortController();
  /** The last run; the next one starts after it. */
  #runs: Promise<unknown> = Promise.resolve();
  #timer: NodeJS.Timeout | null = null;

  constructor(
    dir: string,
    overwrite: (signal: AbortSignal) => Promise<void>,
    onFailure: (what: string, error: unknown) => void,
  ) {
    this.#file = join(dir, 'scrub-due');
    this.#overwrite = overwrite;
    this.#onFailure = onFailure;
  }

  start(): void {
    this.#runIfDue();
    this.#timer = setInterval(() => this.#runIfDue(), limits.scrubOwnEveryMs);
    this.#timer.unref();
  }

  /** Aborts a running scrub. Resolves once it has ended. */
  async stop(): Promise<void> {
    this.#ending.abort();
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#runs;
  }

  /** Marks a scrub as due, because replaced records are left in the free space. */
  markDue(): void {
    writeFileSync(this.#file, '');
  }

  run(): Promise<void> {
    const { signal } = this.#ending;
    const done = this.#runs.then(async () => {
      signal.throwIfAborted();
      await this.#overwrite(signal);
      rmSync(this.#file, { force: true });
    });
    this.#runs = done.catch(() => undefined);
    return done;
  }

  #runIfDue(): void {
    if (!existsSync(this.#file)) return;
    this.run().catch((error: unknown) => {
      if (!this.#ending.signal.aborted) this.#onFailure('overwriting free space', error);
    });
  }
}
