/** Evidence read as votes: one per entry with mass, of a peer that is not excluded. */
import { putVote, type VoteSpace } from '../../evidence/evidence.js';
import type { EvidenceColumns, PeerFacts } from './columns.js';
import type { Scratch } from './scratch.js';

/** Player `i` has the votes from `offsets[i]` up to `offsets[i + 1]`, one at least, in the order of their peers. */
export interface Votes extends Pick<VoteSpace, 'peer' | 'mass' | 'x'> {
  readonly peers: number;
  readonly players: number;
  readonly offsets: Uint32Array;
  /**
   * Per player the seeded mix that decides, in a very large group, which pairs of peers are held against each other on
   * it.
   */
  readonly mix: Uint16Array;
  /** Per vote 1 where it is counted for its peer, else 0. */
  readonly counted: Uint8Array;
}

/** Columns for so many votes, filled player by player. */
export class VoteColumns implements Votes, VoteSpace {
  readonly peers: number;
  players = 0;
  readonly offsets: Uint32Array;
  readonly peer: Uint16Array;
  readonly mass: Float64Array;
  readonly x: Float64Array;
  readonly mix: Uint16Array;
  readonly counted: Uint8Array;
  readonly excluded: Uint8Array;
  #allCounted = true;

  /** The columns are the scratch's. `excluded`: one byte per peer. */
  constructor(excluded: Uint8Array, votes: number, scratch: Scratch) {
    this.peers = excluded.length;
    // No player is without a vote.
    this.offsets = scratch.uint32(votes + 1);
    this.peer = scratch.uint16(votes);
    this.mass = scratch.float64(votes);
    this.x = scratch.float64(votes);
    this.mix = scratch.uint16(votes);
    this.counted = scratch.uint8(votes).fill(1);
    this.excluded = excluded;
    this.clear();
  }

  clear(): void {
    this.players = 0;
    this.offsets[0] = 0;
    if (!this.#allCounted) this.counted.fill(1);
    this.#allCounted = true;
  }

  /** Does not count a vote on the next player for its peer. */
  leaveOut(vote: number): void {
    this.counted[vote] = 0;
    this.#allCounted = false;
  }

  /** Where the votes on the next player begin. */
  get end(): number {
    return this.offsets[this.players]!;
  }

  hasRoom(votes: number): boolean {
    return this.end + votes <= this.peer.length;
  }

  /** Adds the player whose votes were put from the end up to `end`; none where there are none. */
  close(end: number, mix: number): void {
    if (end === this.end) return;
    this.mix[this.players] = mix;
    this.offsets[++this.players] = end;
  }
}

/**
 * The votes of evidence that stands in columns. Throws where the entries of a player are in another order than that of
 * their peers.
 */
export function readVotes(evidence: EvidenceColumns, { excluded }: PeerFacts, scratch: Scratch): Votes {
  const { players, offsets, peer, lowering, raising } = evidence;
  const votes = new VoteColumns(excluded, offsets[players]!, scratch);
  for (let i = 0; i < players; i++) {
    let end = votes.end;
    for (let e = offsets[i]!; e < offsets[i + 1]!; e++) {
      if (e > offsets[i]! && peer[e]! <= peer[e - 1]!)
        throw new Error('evidence: entries are not in the order of their peers');
      end = putVote(votes, end, peer[e]!, lowering[e]!, raising[e]!);
    }
    votes.close(end, 0);
  }
  return votes;
}
