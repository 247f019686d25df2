/** Evidence read as votes: one per entry with mass, of a peer that is not excluded. */
import type { SumColumns } from '../peer-entries.js';
import { inBlocks } from './blocks.js';
import type { EvidenceColumns, PeerFacts } from './columns.js';
import type { Scratch } from './scratch.js';

/** Player `i` has the votes from `offsets[i]` up to `offsets[i + 1]`, one at least. */
export interface Votes {
  readonly peers: number;
  readonly players: number;
  readonly offsets: Uint32Array;
  readonly peer: Uint16Array;
  /** `m = b + g`, above 0. */
  readonly mass: Float64Array;
  /** `x = b / m`, in [0, 1]: 1 is a bad vote. */
  readonly x: Float64Array;
}

/** Columns for so many entries, filled player by player with evidence, all of which then becomes votes in its own place. */
export class VoteColumns implements Votes {
  readonly peers: number;
  players = 0;
  readonly offsets: Uint32Array;
  readonly peer: Uint16Array;
  readonly mass: Float64Array;
  readonly x: Float64Array;
  /** Where evidence is written, at its worth; that of the next player from `end` on. */
  readonly evidence: SumColumns;
  readonly #excluded: Uint8Array;

  /** The columns are the scratch's. `excluded`: one byte per peer. */
  constructor(excluded: Uint8Array, entries: number, scratch: Scratch) {
    this.peers = excluded.length;
    // No player is without an entry.
    this.offsets = scratch.uint32(entries + 1);
    this.peer = scratch.uint16(entries);
    this.mass = scratch.float64(entries);
    this.x = scratch.float64(entries);
    this.evidence = { peer: this.peer, lowering: this.mass, raising: this.x };
    this.#excluded = excluded;
    this.clear();
  }

  clear(): void {
    this.players = 0;
    this.offsets[0] = 0;
  }

  /** Where the entries of the next player begin. */
  get end(): number {
    return this.offsets[this.players]!;
  }

  hasRoom(entries: number): boolean {
    return this.end + entries <= this.peer.length;
  }

  /** Adds the player whose `count` entries were written at the end; none where there are none. */
  add(count: number): void {
    if (count === 0) return;
    const end = this.end + count;
    this.offsets[++this.players] = end;
  }

  /** Makes votes of the evidence. */
  cast(): this {
    let votes = 0;
    inBlocks(this.end, (from, to) => {
      votes += this.#cast(from, to);
    });
    if (votes < this.end) this.#drop();
    return this;
  }

  /** Of the entries from `from` up to `to`; returns how many are votes. */
  #cast(from: number, to: number): number {
    const { peer, mass, x } = this;
    const excluded = this.#excluded;
    let votes = 0;
    for (let e = from; e < to; e++) {
      const lowering = mass[e]!;
      const m = excluded[peer[e]!] === 0 ? lowering + x[e]! : 0;
      mass[e] = m;
      x[e] = lowering / m;
      if (m > 0) votes++;
    }
    return votes;
  }

  /** Closes up over what has no mass. */
  #drop(): void {
    const { offsets, peer, mass, x, players } = this;
    this.players = 0;
    let to = 0;
    let start = 0;
    for (let i = 0; i < players; i++) {
      const end = offsets[i + 1]!;
      for (let e = start; e < end; e++) {
        if (mass[e] === 0) continue;
        peer[to] = peer[e]!;
        mass[to] = mass[e]!;
        x[to] = x[e]!;
        to++;
      }
      start = end;
      if (to > this.end) offsets[++this.players] = to;
    }
  }
}

/** The votes of evidence that stands in columns. */
export function readVotes(evidence: EvidenceColumns, { excluded }: PeerFacts, scratch: Scratch): Votes {
  const { players, offsets, peer, lowering, raising } = evidence;
  const entries = offsets[players]!;
  const votes = new VoteColumns(excluded, entries, scratch);
  votes.evidence.peer.set(peer.subarray(0, entries));
  votes.evidence.lowering.set(lowering.subarray(0, entries));
  votes.evidence.raising.set(raising.subarray(0, entries));
  for (let i = 0; i < players; i++) votes.add(offsets[i + 1]! - offsets[i]!);
  return votes.cast();
}
