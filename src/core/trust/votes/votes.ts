/** Stores evidence as votes in columns: each entry with evidence is one vote unless its peer is excluded. */
import type { VoteSpace } from '../../evidence/evidence.js';
import type { Scratch } from './scratch.js';

/** Player `i` has the votes from `offsets[i]` up to `offsets[i + 1]`, at least one, sorted by peer. */
export interface Votes extends Omit<VoteSpace, 'excluded'> {
  readonly peers: number;
  readonly players: number;
  readonly offsets: Uint32Array;
}

/** Columns with a fixed capacity of votes, filled player by player. */
export class VoteColumns implements Votes, VoteSpace {
  readonly peers: number;
  players = 0;
  readonly offsets: Uint32Array;
  readonly peer: Uint16Array;
  readonly claims: Float64Array;
  readonly x: Float64Array;
  readonly measure: Float64Array;
  readonly follows: Uint8Array;
  readonly excluded: Uint8Array;

  /** The columns belong to the scratch memory. `excluded`: one byte per peer. */
  constructor(excluded: Uint8Array, votes: number, scratch: Scratch) {
    this.peers = excluded.length;
    // The number of votes bounds the number of players, because each player has at least one.
    this.offsets = scratch.uint32(votes + 1);
    this.peer = scratch.uint16(votes);
    this.claims = scratch.float64(votes);
    this.x = scratch.float64(votes);
    this.measure = scratch.float64(votes);
    this.follows = scratch.uint8(votes);
    this.excluded = excluded;
    this.clear();
  }

  clear(): void {
    this.players = 0;
    this.offsets[0] = 0;
  }

  get end(): number {
    return this.offsets[this.players]!;
  }

  hasRoom(votes: number): boolean {
    return this.end + votes <= this.peer.length;
  }

  /** Closes the player whose votes were written up to `end`; a player without votes is not added. */
  close(end: number): void {
    if (end > this.end) this.offsets[++this.players] = end;
  }
}
