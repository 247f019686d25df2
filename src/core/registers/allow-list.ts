/** Stores the allow list: players that read as neutral until a date, and the records that name them, for erasures. */
import { subjectBytes, subjectHex } from '../hashing/pseudonym.js';

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
  /**
   * First three bytes of the hashes of all players that had an entry in this process: they rule out most others, and
   * identify nobody, so those of an erased player stay.
   */
  readonly #prefixes = new Set<number>();

  /** Number of players that have an entry, or had one. */
  get size(): number {
    return this.#subjects.size;
  }

  /** Number of players whose entry counts at a time. */
  countAt(at: number): number {
    return [...this.#subjects.values()].filter(({ entry }) => entry !== null && at <= entry.until).length;
  }

  of(subject: string): AllowedSubject | undefined {
    return this.#subjects.get(subject);
  }

  all(): (readonly [subject: string, allowed: AllowedSubject])[] {
    return [...this.#subjects].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  allows(subject: Uint8Array, at: number): boolean {
    if (!this.#prefixes.has(prefixOf(subject))) return false;
    const entry = this.#subjects.get(subjectHex(subject))?.entry ?? null;
    return entry !== null && at <= entry.until;
  }

  /** Replaces the entry of a subject; null ends it. */
  set(subject: string, entry: AllowEntry | null, seq: number): void {
    this.restore(subject, { entry, seqs: [...(this.of(subject)?.seqs ?? []), seq] });
  }

  erase(subject: string): void {
    this.#subjects.delete(subject);
  }

  restore(subject: string, allowed: AllowedSubject): void {
    this.#subjects.set(subject, allowed);
    if (allowed.entry !== null) this.#prefixes.add(prefixOf(subjectBytes(subject)));
  }
}

function prefixOf(subject: Uint8Array): number {
  return subject[0]! | (subject[1]! << 8) | (subject[2]! << 16);
}
