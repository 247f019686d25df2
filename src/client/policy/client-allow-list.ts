/** Keeps the list of players that a studio lets pass. The list is local and is never sent anywhere. */
import { bounds } from '../bounds.js';
import { type Runtime, systemRuntime } from '../transport/time.js';
import { invalidArgument } from '../trust-error.js';

/** One player of an {@link AllowList}; plain data, to be stored as JSON. @public */
export interface AllowListEntry {
  /** The player, by the id that the game uses. */
  readonly playerId: string;
  /** When the entry expires, in ms since 1970. */
  readonly until: number;
  /** The reason for the entry, for people. */
  readonly note: string;
}

/**
 * At most 10,000 players that pass whatever their score, each until its entry expires. The list is kept in memory:
 * store the result of `entries`, and pass it to the constructor later. @public
 */
export class AllowList {
  readonly #runtime: Runtime;
  readonly #entries = new Map<string, AllowListEntry>();

  /**
   * @param entries - stored entries; expired ones are dropped.
   * @param runtime - the clock. Default: that of the system.
   */
  constructor(entries: Iterable<AllowListEntry> = [], runtime: Runtime = systemRuntime) {
    this.#runtime = runtime;
    for (const { playerId, until, note } of entries) if (this.#isInFuture(until)) this.add(playerId, until, note);
  }

  /** Lets a player pass until a date, which must be in the future. Replaces an earlier entry. */
  add(playerId: string, until: Date | number, note = ''): void {
    if (typeof playerId !== 'string' || playerId === '') throw invalidArgument('playerId must be a non-empty string');
    const at = Number(until);
    if (!this.#isInFuture(at)) throw invalidArgument('an entry of an allow list must end in the future');
    const isFull = () => !this.#entries.has(playerId) && this.#entries.size >= bounds.allowListEntries;
    if (isFull()) this.#sweep();
    if (isFull()) throw invalidArgument(`an allow list holds at most ${bounds.allowListEntries} players`);
    this.#entries.set(playerId, { playerId, until: at, note });
  }

  /** Removes a player from the list. */
  remove(playerId: string): void {
    this.#entries.delete(playerId);
  }

  /** True if a player passes now. */
  has(playerId: string): boolean {
    const entry = this.#entries.get(playerId);
    return entry !== undefined && this.#isInFuture(entry.until);
  }

  /** The entries that have not expired, in the order in which they were made. */
  entries(): AllowListEntry[] {
    this.#sweep();
    return [...this.#entries.values()];
  }

  #isInFuture(until: number): boolean {
    return Number.isFinite(until) && until > this.#runtime.now();
  }

  #sweep(): void {
    for (const { playerId, until } of this.#entries.values())
      if (!this.#isInFuture(until)) this.#entries.delete(playerId);
  }
}
