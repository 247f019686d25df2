/** Evidence read as votes: one per entry with mass, of a peer that is not excluded. */
import { unit } from '../evidence.js';
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
  /** `x = b / m`, in [0, 1]: 1 is a bad vote. 0 where there is no vote. */
  readonly x: Float64Array;
  /** Per peer `sum n1`, and `sum n1 x`. A peer with volume 0 has no votes. */
  readonly volume: Float64Array;
  readonly badVolume: Float64Array;
}

export function readVotes(evidence: EvidenceColumns, facts: PeerFacts, scratch: Scratch): Votes {
  const { peers, players, offsets, peer, lowering, raising } = evidence;
  const entries = offsets[players]!;
  const mass = scratch.float64(entries);
  const x = scratch.float64(entries);
  const volume = new Float64Array(peers);
  const badVolume = new Float64Array(peers);
  for (let e = 0; e < entries; e++) {
    const j = peer[e]!;
    const m = lowering[e]! + raising[e]!;
    if (m === 0 || facts.excluded[j] !== 0) {
      mass[e] = 0;
      x[e] = 0;
      continue;
    }
    const share = lowering[e]! / m;
    const n1 = unit(m);
    mass[e] = m;
    x[e] = share;
    volume[j]! += n1;
    badVolume[j]! += n1 * share;
  }
  return { peers, players, offsets, peer, mass, x, volume, badVolume };
}
