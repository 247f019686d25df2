/** Reads a list that is no plain file at intervals, behind the interface of `ListFile`. */
import { bounds } from '../../client/bounds.js';
import { problemLog } from '../node/problem-log.js';
import { PeerError } from '../peer-error.js';
import type { Source } from '../sources/source.js';
import type { ListText } from './list-file.js';

export interface PolledListOptions {
  readonly source: Source;
  /** How often to read it, in ms. */
  readonly every?: number | undefined;
  readonly elapsedMs: () => number;
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
}

export class PolledList {
  readonly #setProblem: ReturnType<typeof problemLog>;
  #nextMs = 0;
  #bytes: Buffer | null = null;

  constructor(private readonly options: PolledListOptions) {
    this.#setProblem = problemLog(options.log, 'the list can be read again');
  }

  /** Returns the list as last read; null until there is one. A source that cannot be read changes nothing. */
  async look(): Promise<ListText | null> {
    const { source, every = bounds.sourcePollMs, elapsedMs, signal } = this.options;
    if (elapsedMs() >= this.#nextMs) {
      try {
        const bytes = await source.read(signal);
        // The same buffer means that nothing is left to decide.
        if (this.#bytes?.equals(bytes) !== true) this.#bytes = bytes;
        this.#setProblem(null);
      } catch (error) {
        if (signal.aborted) return null;
        if (!(error instanceof PeerError) || error.exitCode === 2) throw error;
        this.#setProblem(`${error.message}; nothing is withdrawn`);
      }
      this.#nextMs = elapsedMs() + every;
    }
    return this.#bytes === null ? null : { bytes: this.#bytes, stillMs: Number.POSITIVE_INFINITY, isRotated: false };
  }

  accept(): void {}
}
