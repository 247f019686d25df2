/**
 * Overwrites the free space of a node's own log after an erasure. A mark in the folder says that this is due, so that a
 * node that died, or that joined too late to be asked, does it by itself.
 */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { limits } from '../../limits.js';

export class LocalScrub {
  readonly #file: string;
  /** Overwrites; the signal ends that. */
  readonly #overwrite: (signal: AbortSignal) => Promise<void>;
  readonly #onFailure: (what: string, error: unknown) => void;
  readonly #ending = new AbortController();
  /** One after the other. */
  #line: Promise<unknown> = Promise.resolve();
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
    this.#ifDue();
    this.#timer = setInterval(() => this.#ifDue(), limits.scrubOwnEveryMs);
    this.#timer.unref();
  }

  /** Ends what is under way, and resolves once nothing is. */
  async stop(): Promise<void> {
    this.#ending.abort();
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#line;
  }

  /** Records were replaced: the free space holds them from here on. */
  due(): void {
    writeFileSync(this.#file, '');
  }

  run(): Promise<void> {
    const { signal } = this.#ending;
    const done = this.#line.then(async () => {
      signal.throwIfAborted();
      await this.#overwrite(signal);
      rmSync(this.#file, { force: true });
    });
    this.#line = done.catch(() => undefined);
    return done;
  }

  #ifDue(): void {
    if (!existsSync(this.#file)) return;
    this.run().catch((error: unknown) => {
      if (!this.#ending.signal.aborted) this.#onFailure('overwriting free space', error);
    });
  }
}
