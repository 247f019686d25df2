/**
 * What the gates are settled from in a very large group (decision 209): two peers are held against each other on about so many of the players that they
 * share, and the votes of one are counted on about so many of its players; on all where there are no more. Players are chosen by their seeded mix, which
 * falls below a threshold of the pair, or of the peer: the same ones each time, and none that a peer can choose.
 */
import type { EvidenceSubjects } from '../evidence-view.js';
import { HOME_BITS } from '../subject-index.js';
import type { TrustConstants } from '../trust-constants.js';
import { pairOf } from './pair-number.js';
import { BLOCK_ROWS, RowBlock } from './row-block.js';
import type { VoteColumns } from './votes.js';

/** One more than the highest mix of a player. */
export const WHOLE = 1 << HOME_BITS;

/** Of so many blocks of rows one is looked at, to see how many players peers have and share. */
const BLOCKS = 16;

export class GateSample {
  /** Per peer: the mix below which its players are looked at, from 1 to `WHOLE`; 0 for one that is excluded. */
  readonly own: Uint32Array;
  /** The same per pair, of the players that both reported. */
  readonly pairs: Uint32Array;
  /** Players below this mix are looked at by whoever reported them; those from `most` on by nobody. */
  readonly #least: number;
  readonly most: number;

  /** `excluded`: one byte per peer. Calls `pause` as a `Scratch` does. */
  constructor(subjects: EvidenceSubjects, excluded: Uint8Array, c: TrustConstants, pause: () => void) {
    const peers = excluded.length;
    this.own = new Uint32Array(peers);
    this.pairs = new Uint32Array(pairOf(0, peers));
    this.#count(subjects, pause);
    let least = WHOLE;
    let most = 0;
    const settle = (of: Uint32Array, at: number, isExcluded: boolean, players: number) => {
      // Of whom more was seen than chance brings, less is looked at: whom a peer reports, and when, is its own choice.
      const below = Math.min(WHOLE, Math.ceil((players / (of[at]! * BLOCKS)) * WHOLE));
      of[at] = isExcluded ? 0 : below;
      if (isExcluded) return;
      least = Math.min(least, below);
      most = Math.max(most, below);
    };
    for (let k = 0; k < peers; k++) {
      settle(this.own, k, excluded[k] !== 0, c.gatePlayersPerPeer);
      for (let j = 0; j < k; j++) {
        settle(this.pairs, pairOf(j, k), (excluded[j]! | excluded[k]!) !== 0, c.gatePlayersPerPair);
      }
    }
    this.#least = least;
    this.most = most;
  }

  /** Whether anybody looks at the player with this mix, and with the `count` entries from `first` on. */
  has({ entries }: EvidenceSubjects, first: number, count: number, mix: number): boolean {
    if (mix < this.#least) return true;
    if (mix >= this.most) return false;
    return entries.isBelow(mix, first, count, this.own, this.pairs);
  }

  /** Of the votes on the next player, up to `end`, leaves those out that are not counted for their peers. */
  leaveOut(votes: VoteColumns, end: number, mix: number): void {
    if (mix < this.#least) return;
    for (let e = votes.end; e < end; e++) if (mix >= this.own[votes.peer[e]!]!) votes.leaveOut(e);
  }

  /** Counts, in the players of each sixteenth block of rows, those of each peer and of each pair. */
  #count(subjects: EvidenceSubjects, pause: () => void): void {
    const { entries } = subjects;
    const rows = new RowBlock();
    for (let from = 0; from < subjects.rows; from += BLOCK_ROWS * BLOCKS) {
      rows.read(subjects, from, WHOLE);
      for (let i = 0; i < rows.size; i++) {
        const first = rows.first[i]!;
        for (let e = first; e < first + rows.count[i]!; e++) {
          const k = entries.peer(e);
          this.own[k]!++;
          for (let f = first; f < e; f++) this.pairs[pairOf(entries.peer(f), k)]!++;
        }
      }
      pause();
    }
  }
}
