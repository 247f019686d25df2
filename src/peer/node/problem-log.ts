/** Logs a lasting problem once when it begins, and once when it ends. */
export class ProblemLog {
  readonly #log: (line: string) => void;
  readonly #recovered: string;
  #present: string | null = null;

  constructor(log: (line: string) => void, recovered: string) {
    this.#log = log;
    this.#recovered = recovered;
  }

  /** Sets the present problem; null if there is none. `key`: by which it is known to be the same. */
  set(text: string | null, key = text): void {
    if (key === this.#present) return;
    this.#present = key;
    this.#log(text ?? this.#recovered);
  }
}
