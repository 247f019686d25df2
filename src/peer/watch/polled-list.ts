/** Reads a list that is no plain file at intervals, behind the interface of `ListFile`. */
import { bounds } from '../../client/bounds.js';
import { PeerError } from '../peer-error.js';
import type { Source } from '../sources/source.js';
import type { ListText } from './list-file.js';

export class PolledList {
  readonly #source: Source;
  readonly #everyMs: number;
  readonly #elapsedMs: () => number;
  readonly #log: (line: string) => void;
  readonly #signal: AbortSignal;
  #nextMs = 0;
  #bytes: Buffer | null = null;
  #problem: string | null = null;

  constructor(
    source: Source,
    everyMs: number | undefined,
    elapsedMs: () => number,
    log: (line: string) => void,
    signal: AbortSignal,
  ) {
    this.#source = source;
    this.#everyMs = everyMs ?? bounds.sourcePollMs;
    this.#elapsedMs = elapsedMs;
    this.#log = log;
    this.#signal = signal;
  }

  /** Returns the list as last read; null until there is one. A source that cannot be read changes nothing. */
  async look(): Promise<ListText | null> {
    if (this.#elapsedMs() >= this.#nextMs) {
      try {
        const bytes = await this.#source.read(this.#signal);
        // The same buffer means that nothing is left to decide.
        if (this.#bytes?.equals(bytes) !== true) this.#bytes = bytes;
        this.#say(null);
      } catch (error) {
        if (!(error instanceof PeerError) || error.exitCode === 2) throw error;
        this.#say(error.message);
      }
      this.#nextMs = this.#elapsedMs() + this.#everyMs;
    }
    // Each read is the whole list.
    return this.#bytes === null ? null : { bytes: this.#bytes, stillMs: Number.POSITIVE_INFINITY, isRotated: false };
  }

  accept(): void {}

  #say(problem: string | null): void {
    if (problem === this.#problem) return;
    this.#log(problem === null ? 'the list can be read again' : `${problem}; nothing is withdrawn`);
    this.#problem = problem;
  }
}
