/**
 * Stores the group's allow list: players that read as neutral until a date, whatever was reported about them. Also
 * stores which records name such a player, so that an erasure can remove those records from the log.
 */

export interface AllowEntry {
  /** Id of the entry in the audit log, which never holds a player's hash. */
  readonly id: string;
  /** End of the entry in ms since 1970, at the end of a minute; the entry counts up to and including this time. */
  readonly until: number;
  /** Shown to the operator only. */
  readonly note: string;
}

/** An allow-list player: the entry, which is null once it was removed, and the records that name the player. */
export interface AllowedSubject {
  readonly entry: AllowEntry | null;
  readonly seqs: readonly number[];
}

export class AllowList {
  /** Indexed by subject, hex. */
  readonly #subjects = new Map<string, AllowedSubject>();
  /** Subjects with an entry, by the first three bytes of their hash. The prefix alone rules out most players. */
  readonly #prefixes = new Map<number, string[]>();

  get size(): number {
    return this.#subjects.size;
  }

  /** Returns the data about a subject (hex). */
  of(subject: string): AllowedSubject | undefined {
    return this.#subjects.get(subject);
  }

  all(): (readonly [subject: string, allowed: AllowedSubject])[] {
    return [...this.#subjects].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  allows(subject: Uint8Array, at: number): boolean {
    const { entry } = this.#entryOf(subject) ?? noEntry;
    return entry !== null && at <= entry.until;
  }

  set(subject: string, entry: AllowEntry, seq: number): void {
    this.#put(subject, entry, seq);
  }

  remove(subject: string, seq: number): void {
    this.#put(subject, null, seq);
  }

  erase(subject: string): void {
    if (this.#subjects.delete(subject)) this.#index(subject, false);
  }

  restore(subject: string, allowed: AllowedSubject): void {
    this.#subjects.set(subject, allowed);
    this.#index(subject, allowed.entry !== null);
  }

  #put(subject: string, entry: AllowEntry | null, seq: number): void {
    const { seqs } = this.#subjects.get(subject) ?? noEntry;
    this.#subjects.set(subject, { entry, seqs: [...seqs, seq] });
    this.#index(subject, entry !== null);
  }

  #entryOf(subject: Uint8Array): AllowedSubject | undefined {
    if (this.#prefixes.size === 0) return undefined;
    const prefix = subject[0]! | (subject[1]! << 8) | (subject[2]! << 16);
    if (!this.#prefixes.has(prefix)) return undefined;
    return this.#subjects.get(Buffer.from(subject.buffer, subject.byteOffset, subject.length).toString('hex'));
  }

  #index(subject: string, isListed: boolean): void {
    const [a, b, c] = Buffer.from(subject.slice(0, 6), 'hex') as unknown as [number, number, number];
    const prefix = a | (b << 8) | (c << 16);
    const others = (this.#prefixes.get(prefix) ?? []).filter((other) => other !== subject);
    if (isListed) others.push(subject);
    if (others.length === 0) this.#prefixes.delete(prefix);
    else this.#prefixes.set(prefix, others);
  }
}

const noEntry: AllowedSubject = { entry: null, seqs: [] };
