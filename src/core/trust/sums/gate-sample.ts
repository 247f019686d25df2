/**
 * What the gates are settled from in a very large group (decision 209): two peers are held against each other on about
 * so many of the players that they share, and the votes of one are counted on about so many of its players; on all
 * where there are no more. Players are chosen by their seeded mix, which falls below a threshold of the pair, or of the
 * peer: none that a peer can choose.
 */

import type { AsOf } from '../../evidence/decay.js';
import type { TrustConstants } from '../../evidence/trust-constants.js';
import type { EvidenceSubjects, EvidenceView } from '../../tables/evidence-view.js';
import { pairOf } from '../../tables/pair-number.js';
import { HOME_BITS } from '../../tables/subject-index.js';
import type { OriginVotes } from '../votes/origin-votes.js';
import { BLOCK_ROWS, RowBlock } from '../votes/row-block.js';
import type { Scratch } from '../votes/scratch.js';
import type { VoteColumns } from '../votes/votes.js';

/** One more than the highest mix of a player. */
export const WHOLE = 1 << HOME_BITS;

/** Of so many blocks of rows one is looked at, to see how many players peers have and share. */
const BLOCKS = 16;

export class GateSample {
  /** Per peer: the mix below which its votes are counted, from 1 to `WHOLE`; 0 for one that is excluded. */
  readonly own: Uint32Array;
  /** The same per pair, of the players that both reported. The scratch's. */
  readonly pairs: Uint32Array;
  /** Players below this mix are looked at by whoever reported them. */
  readonly #least: number;

  /**
   * `part`: empty columns to read votes into, which it leaves empty. `floor`: the mix below which players are looked at
   * in any case. Its large columns are the scratch's.
   */
  constructor(
    state: EvidenceView,
    asOf: AsOf,
    part: VoteColumns,
    floor: number,
    c: TrustConstants,
    scratch: Scratch,
    origins: OriginVotes | null = null,
  ) {
    const { peers, excluded } = part;
    this.own = new Uint32Array(peers);
    this.pairs = scratch.uint32(pairOf(0, peers)).fill(0);
    this.#countSome(state, asOf, part, origins, scratch.yieldCore);
    let least = WHOLE;
    const below = (seen: number, players: number, isExcluded: boolean) => {
      if (isExcluded) return 0;
      // Of whom more was seen than chance brings, less is looked at: whom a peer reports, and when, is its own choice.
      const wanted = Math.max(floor, Math.ceil((players / (seen * BLOCKS)) * WHOLE));
      least = Math.min(least, wanted);
      return Math.min(WHOLE, wanted);
    };
    for (let k = 0; k < peers; k++) {
      this.own[k] = below(this.own[k]!, c.gatePlayersPerPeer, excluded[k] !== 0);
      for (let j = 0; j < k; j++) {
        const pair = pairOf(j, k);
        this.pairs[pair] = below(this.pairs[pair]!, c.gatePlayersPerPair, (excluded[j]! | excluded[k]!) !== 0);
      }
    }
    this.#least = least;
    if (origins !== null) this.#lookAsOrigins(origins);
  }

  /** A player's entries are those of carriers, so that each of these is looked at as its origin is. */
  #lookAsOrigins(origins: OriginVotes): void {
    for (const { index, origin } of origins.carriers) {
      this.own[index] = this.own[origin]!;
      for (let k = 0; k < this.own.length; k++) {
        if (k === index) continue;
        const other = origins.countedAs(k);
        const wanted = other === origin ? 0 : this.pairs[pairOf(Math.min(other, origin), Math.max(other, origin))]!;
        this.pairs[pairOf(Math.min(k, index), Math.max(k, index))] = wanted;
      }
    }
  }

  /** Whether anybody looks at the player with this mix, and with the `count` entries from `first` on. */
  has({ entries }: EvidenceSubjects, first: number, count: number, mix: number): boolean {
    return mix < this.#least || entries.isBelow(mix, first, count, this.own, this.pairs);
  }

  /** Of the votes on the next player, up to `end`, leaves those out that are not counted for their peers. */
  leaveOut(votes: VoteColumns, end: number, mix: number): void {
    if (mix < this.#least) return;
    for (let e = votes.end; e < end; e++) if (mix >= this.own[votes.peer[e]!]!) votes.leaveOut(e);
  }

  /**
   * Counts the players of each peer and of each pair in one block of every sixteen, which the seeded mix of a row
   * chooses.
   */
  #countSome(
    state: EvidenceView,
    asOf: AsOf,
    part: VoteColumns,
    origins: OriginVotes | null,
    yieldCore: () => void,
  ): void {
    const { subjects } = state;
    const { entries } = subjects;
    const rows = new RowBlock();
    for (let from = 0; from < subjects.rows; from += BLOCK_ROWS * BLOCKS) {
      subjects.readRows(from, from + 1, rows);
      rows.read(state, from + BLOCK_ROWS * (rows.home[0]! % BLOCKS), asOf);
      for (let i = 0; i < rows.size; i++) {
        const count = rows.count[i]!;
        if (!part.hasRoom(count)) this.#count(part);
        const end = entries.putVotes(rows.first[i]!, count, rows.decayFactor, i, part, part.end);
        part.close(origins === null ? end : origins.merge(part, part.end, end), 0);
      }
      this.#count(part);
      yieldCore();
    }
  }

  #count(part: VoteColumns): void {
    const { offsets, peer } = part;
    for (let i = 0; i < part.players; i++) {
      for (let e = offsets[i]!; e < offsets[i + 1]!; e++) {
        const k = peer[e]!;
        this.own[k]!++;
        for (let f = offsets[i]!; f < e; f++) this.pairs[pairOf(peer[f]!, k)]!++;
      }
    }
    part.clear();
  }
}
