/** Reads a list that is no plain file at intervals, behind the interface of `ListFile`. */
import { bounds } from '../../client/for-peer.js';
import type { Source } from '../sources/source.js';
import type { ListText } from './list-file.js';

export interface PolledListOptions {
  readonly source: Source;
  /** How often to read it, in ms. */
  readonly every?: number | undefined;
  readonly elapsedMs: () => number;
  readonly signal: AbortSignal;
}

export class PolledList {
  #nextMs = 0;
  #reading: Promise<Buffer> | undefined;
  #bytes: Buffer | undefined;

  constructor(private readonly options: PolledListOptions) {}

  /** Returns the list as last read. Rejects if the last read failed. */
  async look(): Promise<ListText> {
    const { source, every = bounds.sourcePollMs, elapsedMs, signal } = this.options;
    if (elapsedMs() >= this.#nextMs) {
      this.#reading = source.read(signal);
      await this.#reading.catch(() => undefined);
      this.#nextMs = elapsedMs() + every;
    }
    const bytes = await this.#reading!;
    // The same buffer means that nothing is left to decide.
    if (this.#bytes?.equals(bytes) !== true) this.#bytes = bytes;
    return { bytes: this.#bytes, stillMs: Number.POSITIVE_INFINITY, isRotated: false };
  }

  accept(): void {}
}
