/** Overwrites free space after an erasure, also on a node that crashed or joined late: a file marks it as due. */
import { randomUUID } from 'node:crypto';
import { existsSync, fsyncSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ScrubDeferredError, StoreEndedError } from '../../group/ports/storage.js';
import { limits } from '../../limits.js';
import { withFile } from '../../store/files/lmdb-file.js';
import { readIfThere } from '../../store/files/small-file.js';
import { claimFolder } from '../../store/ownership/owner.js';

function fileOf(dir: string): string {
  return join(dir, 'scrub-due');
}

/**
 * Marks a scrub as due in a data folder, because replaced records are left in the free space. A scrub that runs already
 * may have passed them, so each mark differs from the one before.
 */
export function markScrubDue(dir: string): void {
  // After a power cut, no replaced record may be left without the mark.
  writeFileSync(fileOf(dir), randomUUID(), { flush: true });
  withFile(dir, fsyncSync);
}

/** Overwrites free space if that is due. No node may run on the folder: one without a cluster ignores the mark. */
export async function scrubIfDue(dir: string): Promise<void> {
  if (!existsSync(fileOf(dir))) return;
  const writer = await claimFolder(dir);
  await writer.scrub().finally(() => writer.close());
  rmSync(fileOf(dir));
}

export class LocalScrub {
  readonly #ending = new AbortController();
  #runs: Promise<unknown> = Promise.resolve();
  #timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly dir: string,
    private readonly overwrite: (signal: AbortSignal) => Promise<void>,
    private readonly onFailure: (what: string, error: unknown) => void,
  ) {}

  start(): void {
    this.#runIfDue();
    this.#timer = setInterval(() => this.#runIfDue(), limits.scrubOwnEveryMs);
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#runs;
  }

  /** `stopping`: aborted once the node stops, which then waits for no earlier run. */
  run(overwrite = this.overwrite, stopping?: AbortSignal): Promise<void> {
    const { signal } = this.#ending;
    const end = () => this.#ending.abort();
    if (stopping?.aborted) end();
    else stopping?.addEventListener('abort', end, { once: true });
    const done = this.#runs.then(async () => {
      if (signal.aborted) throw new ScrubDeferredError('the node is shutting down');
      const mark = readIfThere(fileOf(this.dir));
      await overwrite(signal);
      if (readIfThere(fileOf(this.dir)) === mark) rmSync(fileOf(this.dir), { force: true });
    });
    this.#runs = done.catch(() => undefined);
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
