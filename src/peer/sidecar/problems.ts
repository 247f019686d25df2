/**
 * Keeps the present problems of a sidecar in plain words, and logs one line when a problem begins and one when it ends.
 * No text contains a key, a salt, a token or a player id.
 */

export type ProblemPart = 'stream' | 'spool' | 'reports';

export interface Problem {
  readonly part: ProblemPart;
  /** The code of the client or the service. */
  readonly code: string;
  readonly text: string;
  /** Time at which the problem was first seen, in ms since 1970. */
  readonly since: number;
}

export class Problems {
  readonly #log: (line: string) => void;
  readonly #now: () => number;
  readonly #open = new Map<ProblemPart, Problem>();

  constructor(log: (line: string) => void, now: () => number) {
    this.#log = log;
    this.#now = now;
  }

  get open(): readonly Problem[] {
    return [...this.#open.values()];
  }

  /** The newest of the present problems. */
  get last(): Problem | null {
    return this.open.reduce<Problem | null>(
      (last, one) => (last === null || one.since >= last.since ? one : last),
      null,
    );
  }

  /** Sets the present problem of a part; null if there is none. A lasting problem is logged once. */
  set(part: ProblemPart, found: { readonly code: string; readonly text: string } | null): void {
    const before = this.#open.get(part);
    if (found === null) {
      if (this.#open.delete(part)) this.#log(`${part}: works again`);
      return;
    }
    if (before?.code === found.code) return;
    const problem: Problem = { part, ...found, since: this.#now() };
    this.#open.set(part, problem);
    this.#log(`${part}: ${found.text} (${found.code})`);
  }
}
