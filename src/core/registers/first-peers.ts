/**
 * Finds peers that are first about nearly every player that the others lower: a key that bans everybody, whom a later
 * peer does not follow. Serves decisions since the start of this process; no replay restores it.
 */
import { getOrMake } from '../get-or-make.js';

/** Beginnings of a peer: pairs that it began to lower, and how many of them each other peer had lowered before. */
interface Beginnings {
  total: number;
  count: number;
  readonly after: Map<number, number>;
}

/** Beginnings from which a peer is asked, and at which the counts of a peer are halved, so that old ones fade. */
const COUNT_MIN = 8;
const COUNT_MAX = 64;
/** Share of a peer's beginnings from which another peer is always before it. */
const ALWAYS = 0.7;
/** Least number of peers, and share of those that are asked, that another peer is always before. */
const PEERS_MIN = 3;
const PEERS_SHARE = 0.5;
/** Beginnings between two examinations. */
const EXAMINE_EVERY = 16;

export class FirstPeers {
  readonly #peers = new Map<number, Beginnings>();
  #total = 0;
  #first: ReadonlySet<number> = new Set();
  #noted = 0;

  /** True if the peer is first about nearly everybody. */
  has(peer: number): boolean {
    return this.#first.has(peer);
  }

  /** True if the peer, moreover, begins more often than all others together: it says nothing of its own. */
  saysNothing(peer: number): boolean {
    return this.#first.has(peer) && 2 * (this.#peers.get(peer)?.total ?? 0) > this.#total;
  }

  /** Notes that a peer began to lower a player whom the `others` lowered before. */
  note(peer: number, others: readonly number[]): void {
    const known = getOrMake(this.#peers, peer, () => ({ total: 0, count: 0, after: new Map() }));
    known.count++;
    known.total++;
    this.#total++;
    for (const other of others) known.after.set(other, (known.after.get(other) ?? 0) + 1);
    if (known.count >= COUNT_MAX) {
      known.count /= 2;
      for (const [other, count] of known.after) {
        if (count < 1) known.after.delete(other);
        else known.after.set(other, count / 2);
      }
    }
    if (++this.#noted % EXAMINE_EVERY === 0) this.#examine();
  }

  #examine(): void {
    const asked = [...this.#peers.values()].filter(({ count }) => count >= COUNT_MIN);
    const before = new Map<number, number>();
    for (const { count, after } of asked) {
      for (const [other, times] of after) if (times >= ALWAYS * count) before.set(other, (before.get(other) ?? 0) + 1);
    }
    const isFirst = ([peer, peers]: [number, number]) => {
      const others = asked.length - ((this.#peers.get(peer)?.count ?? 0) >= COUNT_MIN ? 1 : 0);
      return peers >= PEERS_MIN && peers >= PEERS_SHARE * others;
    };
    this.#first = new Set([...before].filter(isFirst).map(([peer]) => peer));
  }
}
