/** Overwrites free space after an erasure, also on a node that crashed or joined late: a file marks it as due. */
import { existsSync, fsyncSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { every, type Timers } from '../../group/ports/clock.js';
import { ScrubDeferredError, StoreEndedError } from '../../group/ports/storage.js';
import { limits } from '../../limits.js';
import { withFile } from '../../store/files/lmdb-file.js';
import { acquireFolder } from '../../store/ownership/owner.js';

function fileOf(dir: string): string {
  return join(dir, 'scrub-due');
}

/** Marks a scrub as due in a data folder, because replaced records are left in the free space. */
export function markScrubDue(dir: string): void {
  // Empty, because the disk may be full. After a power cut, no replaced record may be left without the mark.
  writeFileSync(fileOf(dir), '', { flush: true });
  withFile(dir, fsyncSync);
}

/** Overwrites free space if that is due. No node may run on the folder: one without a cluster ignores the mark. */
export async function scrubIfDue(dir: string): Promise<void> {
  if (!existsSync(fileOf(dir))) return;
  const writer = await acquireFolder(dir);
  await writer.scrub().finally(() => writer.close());
  rmSync(fileOf(dir));
}

export class LocalScrub {
  readonly #ending = new AbortController();
  #runs: Promise<unknown> = Promise.resolve();
  #stopTimer: () => void = () => undefined;
  #marks = 0;

  constructor(
    private readonly dir: string,
    private readonly overwrite: (signal: AbortSignal) => Promise<void>,
    private readonly timers: Pick<Timers, 'later'>,
    private readonly onFailure: (what: string, error: unknown) => void,
  ) {}

  start(): void {
    this.#runIfDue();
    this.#stopTimer = every(this.timers, limits.scrubOwnEveryMs, () => this.#runIfDue());
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    this.#stopTimer();
    await this.#runs;
  }

  mark(): void {
    this.#marks += 1;
    markScrubDue(this.dir);
  }

  /** `stopping`: aborted once the node stops, which then waits for no earlier run. */
  run(overwrite = this.overwrite, stopping?: AbortSignal): Promise<void> {
    const { signal } = this.#ending;
    const end = () => this.#ending.abort();
    if (stopping?.aborted) end();
    else stopping?.addEventListener('abort', end, { once: true });
    const done = this.#runs.then(async () => {
      if (signal.aborted) throw new ScrubDeferredError('the node is shutting down');
      const marks = this.#marks;
      await overwrite(signal);
      // This run may have passed the records that a later mark stands for.
      if (this.#marks === marks) rmSync(fileOf(this.dir), { force: true });
    });
    this.#runs = done.catch(() => undefined).then(() => stopping?.removeEventListener('abort', end));
    return done;
  }

  #runIfDue(): void {
    if (!existsSync(fileOf(this.dir))) return;
    this.run().catch((error: unknown) => {
      const hasEnded = this.#ending.signal.aborted || error instanceof StoreEndedError;
      if (!hasEnded) this.onFailure('overwriting free space', error);
    });
  }
}
