/** A group that is drawn, as the computation of peer trust sees it, without the tables behind. */
import { writeVote } from '../../../src/core/evidence/evidence.js';
import type { EvidenceSubjects } from '../../../src/core/tables/evidence-view.js';
import { computedColumns } from '../../../src/core/tables/peer-weights.js';
import { HOME_BITS } from '../../../src/core/tables/subject-index.js';
import type { GatheredView } from '../../../src/core/trust/sums/gather.js';
import { Random } from '../../support/random.js';
import { weightsOf } from '../../support/weights.js';

/** The bits of a row's hash. */
export const homeOf = (row: number): number => Math.imul(row + 1, 0x9e3779b1) >>> (32 - HOME_BITS);

/**
 * Every player has one to three entries, some of them without mass; every fifth player is bad, and all peers agree.
 * Peer 2 is revoked, peer 0 pre-trusted.
 */
export function drawnView(players: number, peers: number): GatheredView {
  const random = new Random(11);
  const first = new Uint32Array(players + 1);
  const peer: number[] = [];
  const mass: number[] = [];
  for (let row = 0; row < players; row++) {
    const count = Math.min(peers, 1 + Math.floor(random.next() * 3));
    const from = Math.floor(random.next() * peers);
    const voters = Array.from({ length: count }, (_, i) => (from + i) % peers).sort((j, k) => j - k);
    for (const voter of voters) {
      peer.push(voter);
      mass.push(random.next() < 0.1 ? 0 : (row % 5 === 0 ? 1 : -1) * random.next() * 4);
    }
    first[row + 1] = peer.length;
  }
  const lowering = (entry: number) => Math.max(0, mass[entry]!);
  const raising = (entry: number) => Math.max(0, -mass[entry]!);
  const subjects: EvidenceSubjects = {
    rows: players,
    size: players,
    firstEntry: (row) => first[row]!,
    peerCount: (row) => first[row + 1]! - first[row]!,
    evidenceAt: () => 0,
    updatedAt: () => 0,
    readRows(from, end, into) {
      for (let row = from; row < end; row++) {
        into.count[row - from] = subjects.peerCount(row);
        into.first[row - from] = first[row]!;
        into.evidenceAt[row - from] = 0;
        into.home[row - from] = homeOf(row);
      }
    },
    entries: {
      size: peer.length,
      prefetch: () => 0,
      peer: (entry) => peer[entry]!,
      count: () => 1,
      isVoid: () => false,
      lowering,
      raising,
      measure: () => 0,
      follows: () => 0,
      putVotes: (from, count, factors, _measureFactors, at, votes, to) => {
        const factor = factors[at]!;
        let put = to;
        for (let e = from; e < from + count; e++) {
          const sums = { lowering: lowering(e) * factor, raising: raising(e) * factor, measure: 0 };
          put = writeVote(votes, put, peer[e]!, sums, 0);
        }
        return put;
      },
    },
  };
  const flag = (of: number) => Uint8Array.from({ length: peers }, (_, j) => (j === of ? 1 : 0));
  const peerWeights = {
    ...computedColumns({ ...weightsOf(peers), weight: new Float64Array(peers) }),
    sender: Uint16Array.from({ length: peers }, (_, j) => j),
    preTrusted: flag(0),
    excluded: flag(2),
  };
  return {
    subjects,
    peers: { seniority: () => new Float64Array(peers).fill(1), joined: () => null },
    origins: { list: [], carriers: [] },
    numbers: peers,
    peerWeights,
    epoch: 0,
    halfLifeDays: 30,
    measureScale: { epoch: 0, halfLifeDays: 180 },
  };
}

/** The peers with a vote on a row. */
export function votesOn({ subjects, peerWeights }: GatheredView, row: number): number[] {
  const { entries } = subjects;
  const first = subjects.firstEntry(row);
  return Array.from({ length: subjects.peerCount(row) }, (_, n) => first + n)
    .filter((entry) => entries.lowering(entry) + entries.raising(entry) > 0)
    .map((entry) => entries.peer(entry))
    .filter((peer) => peerWeights.excluded[peer] === 0);
}
