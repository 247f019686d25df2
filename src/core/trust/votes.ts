/** Evidence read as votes: one per entry with mass, of a peer that is not excluded. */
import type { EvidenceColumns, PeerFacts } from './columns.js';
import type { Scratch } from './scratch.js';

/** Entries as in the evidence they were read from; what is no vote has mass 0 and adds nothing to any sum. */
export interface Votes {
  readonly peers: number;
  readonly players: number;
  readonly offsets: Uint32Array;
  readonly peer: Uint32Array | Uint16Array;
  /** `m = b + g`. */
  readonly mass: Float64Array;
  /** See `badShare`. */
  readonly x: Float64Array;
}

/** `x = b / m`, in [0, 1]: 1 is a bad vote. 0 where there is no vote. */
export function badShare(lowering: number, mass: number): number {
  return mass === 0 ? 0 : lowering / mass;
}

export function readVotes(evidence: EvidenceColumns, { excluded }: PeerFacts, scratch: Scratch): Votes {
  const { peers, players, offsets, peer, lowering, raising } = evidence;
  const entries = offsets[players]!;
  const mass = scratch.float64(entries);
  const x = scratch.float64(entries);
  for (let e = 0; e < entries; e++) {
    const m = excluded[peer[e]!] === 0 ? lowering[e]! + raising[e]! : 0;
    mass[e] = m;
    x[e] = badShare(lowering[e]!, m);
  }
  return { peers, players, offsets, peer, mass, x };
}
