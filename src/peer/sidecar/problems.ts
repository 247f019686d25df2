/** Keeps the present problems of a sidecar and logs when one begins and ends. No text contains a secret or an id. */

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
  readonly #open = new Map<ProblemPart, Problem>();

  constructor(private readonly log: (line: string) => void) {}

  get open(): readonly Problem[] {
    return [...this.#open.values()];
  }

  get last(): Problem | null {
    return this.open.toSorted((one, other) => one.since - other.since).at(-1) ?? null;
  }

  /** Sets the present problem of a part; null if there is none. A lasting problem is logged once. */
  set(part: ProblemPart, found: { readonly code: string; readonly text: string } | null): void {
    if (found?.code === this.#open.get(part)?.code) return;
    if (found === null) this.#open.delete(part);
    else this.#open.set(part, { part, ...found, since: Date.now() });
    this.log(`${part}: ${found === null ? 'works again' : `${found.text} (${found.code})`}`);
  }
}
