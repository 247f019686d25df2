/** Computes peer trust from evidence in columns, for tests and benches; the service reads its votes from its tables. */
import { writeVote } from '../../src/core/evidence/evidence.js';
import { type TrustConstants, trustConstants } from '../../src/core/evidence/trust-constants.js';
import { computePeerTrust, type PeerTrust } from '../../src/core/trust/peer-trust.js';
import { VoteSums } from '../../src/core/trust/sums/vote-sums.js';
import type { PeerFacts } from '../../src/core/trust/votes/origin-votes.js';
import { Scratch } from '../../src/core/trust/votes/scratch.js';
import { VoteColumns, type Votes } from '../../src/core/trust/votes/votes.js';
import type { PeerRelation } from '../../src/core/vocabulary.js';

/**
 * Decayed evidence, one entry per (player, peer); a player's entries are contiguous (CSR) and sorted by peer. Every sum
 * follows the order of players: the same order gives the same bits, another order the same values up to rounding.
 */
export interface EvidenceColumns {
  /** Number of peers, `P`. */
  readonly peers: number;
  /** Number of players, `N`. */
  readonly players: number;
  /** `N + 1` offsets: player `i` has the entries from `offsets[i]` up to `offsets[i + 1]`. */
  readonly offsets: Uint32Array;
  /** Per entry: its peer, below `peers`; a peer occurs at most once per player. */
  readonly peer: Uint32Array | Uint16Array;
  /** Per entry: the decayed mass that lowers trust, `b >= 0`. */
  readonly lowering: Float64Array;
  /** Per entry: the decayed mass that raises trust, `g >= 0`. */
  readonly raising: Float64Array;
  /** Per entry: standing measures, `a >= 0`, and the bits of `VoteSpace.follows`; absent if there are none. */
  readonly measure?: Float64Array;
  readonly follows?: Uint8Array;
}

/** Reads evidence in columns as votes. Throws if the entries of a player are not sorted by peer. */
export function readVotes(evidence: EvidenceColumns, { excluded }: PeerFacts, scratch: Scratch): Votes {
  const { players, offsets, peer, lowering, raising, measure, follows } = evidence;
  const votes = new VoteColumns(excluded, offsets[players]!, scratch);
  for (let i = 0; i < players; i++) {
    let end = votes.end;
    for (let e = offsets[i]!; e < offsets[i + 1]!; e++) {
      if (e > offsets[i]! && peer[e]! <= peer[e - 1]!)
        throw new Error('evidence: the entries of a player are not sorted by peer');
      const sums = { lowering: lowering[e]!, raising: raising[e]!, measure: measure?.[e] ?? 0 };
      end = writeVote(votes, end, peer[e]!, sums, follows?.[e] ?? 0);
    }
    votes.close(end);
  }
  return votes;
}

export function peerTrustOf(
  evidence: EvidenceColumns,
  facts: PeerFacts,
  constants: TrustConstants = trustConstants,
  relations: readonly PeerRelation[] = [],
): PeerTrust {
  const scratch = new Scratch();
  const sums = new VoteSums(evidence.peers, constants, scratch);
  const judged = readVotes(evidence, facts, scratch);
  sums.add(judged);
  return computePeerTrust({ sums, judged, part: 1, facts }, constants, scratch, relations);
}
