/** Stores the newest change of each player in memory, for readers that resume after a short disconnection. */
import type { ChangeRow, PublishedPlayer } from '../verdict-changes.js';

export class ChangeRing {
  /** The oldest change first. */
  readonly #changes = new Map<string, { readonly position: number; readonly player: PublishedPlayer }>();
  /** Visits each entry once, since a new iterator would skip the places of all deleted ones. */
  #oldest = this.#changes.entries();
  /** All changes after this position are in the ring. */
  #from = 0;

  constructor(private readonly playersMax: number) {}

  get size(): number {
    return this.#changes.size;
  }

  /** `position` is not below earlier ones. */
  add(position: number, rows: readonly ChangeRow[]): void {
    for (const { subject, player } of rows) {
      this.#changes.delete(subject);
      if (player === null) continue;
      this.#changes.set(subject, { position, player });
      if (this.#changes.size > this.playersMax) this.#dropOldest();
    }
  }

  /** Oldest first; null if the ring does not reach back that far. */
  after(position: number): PublishedPlayer[] | null {
    if (position < this.#from) return null;
    const players: PublishedPlayer[] = [];
    for (const change of this.#changes.values()) if (change.position > position) players.push(change.player);
    return players;
  }

  clear(position: number): void {
    this.#changes.clear();
    this.#oldest = this.#changes.entries();
    this.#from = position;
  }

  #dropOldest(): void {
    const [subject, { position }] = this.#oldest.next().value!;
    this.#from = position;
    this.#changes.delete(subject);
  }
}
