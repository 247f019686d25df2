/**
 * Chooses the players for the gates of a very large group (decision 209): a bounded number per pair of peers and per
 * peer, by a seeded hash below the threshold of either, which no peer can influence.
 */

import type { AsOf } from '../../evidence/decay.js';
import type { TrustConstants } from '../../evidence/trust-constants.js';
import type { EvidenceSubjects, EvidenceView } from '../../tables/evidence-view.js';
import { pairOf } from '../../tables/pair-number.js';
import { HOME_BITS } from '../../tables/subject-index.js';
import type { OriginVotes } from '../votes/origin-votes.js';
import { BLOCK_ROWS, putRow, RowBlock } from '../votes/row-block.js';
import type { Scratch } from '../votes/scratch.js';
import type { VoteColumns } from '../votes/votes.js';

/** One more than the highest hash value of a player. */
export const WHOLE = 1 << HOME_BITS;

/** One of this many blocks of rows is examined to estimate how many players peers have and share. */
const BLOCKS = 16;

export class GateSample {
  /** Per peer: the hash value below which its votes are counted, from 1 to `WHOLE`; 0 for an excluded peer. */
  readonly own: Uint32Array;
  /** Per pair: the threshold for players that both reported. The array belongs to the scratch memory. */
  readonly pairs: Uint32Array;
  /** Players with a hash below this are examined for every peer that reported them. */
  readonly #least: number;

  /** `part`: empty columns to use, empty afterwards. `floor`: players with a hash below it are always examined. */
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
      // More players in the examined blocks than chance would bring reduce the sample, down to `floor`: a peer chooses
      // the players that it reports, and when.
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

  /** True if the player with this hash is examined for any of the `count` entries, or for a pair of them. */
  has({ entries }: EvidenceSubjects, first: number, count: number, mix: number): boolean {
    return mix < this.#least || entries.isBelow(mix, first, count, this.own, this.pairs);
  }

  /** Marks those votes on the next player, up to `end`, that are not counted for their peers. */
  leaveOut(votes: VoteColumns, end: number, mix: number): void {
    if (mix < this.#least) return;
    for (let e = votes.end; e < end; e++) if (mix >= this.own[votes.peer[e]!]!) votes.excludeVote(e);
  }

  /** Counts the players of peers and pairs in one block of sixteen, chosen by the seeded hash of a row. */
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
        part.close(putRow(entries, rows, i, part, origins), 0);
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
