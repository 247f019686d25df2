/** Small groups for tests, stated vote by vote or drawn from a seeded generator. */
import type { EvidenceColumns } from '../../../bench/quality/evidence-columns.js';
import type { PeerFacts } from '../../../src/core/trust/votes/origin-votes.js';

/** One entry: the peer, its lowering and its raising claims, its standing measure, and the bits of what it follows. */
export type Entry = readonly [peer: number, lowering: number, raising: number, measure?: number, follows?: number];

export const bad = (peer: number): Entry => [peer, 1, 0];
export const good = (peer: number): Entry => [peer, 0, 1];
export const banned = (peer: number, follows = 0): Entry => [peer, 0, 0, 1, follows];

/** One row of entries per player, in any order. */
export function evidenceOf(peers: number, rows: readonly (readonly Entry[])[]): EvidenceColumns {
  const entries = rows.flatMap((row) => row.toSorted(([j], [k]) => j - k));
  const offsets = new Uint32Array(rows.length + 1);
  rows.forEach((row, i) => {
    offsets[i + 1] = offsets[i]! + row.length;
  });
  return {
    peers,
    players: rows.length,
    offsets,
    peer: Uint32Array.from(entries, ([peer]) => peer),
    lowering: Float64Array.from(entries, ([, b]) => b),
    raising: Float64Array.from(entries, ([, , g]) => g),
    measure: Float64Array.from(entries, ([, , , a = 0]) => a),
    follows: Uint8Array.from(entries, ([, , , , bits = 0]) => bits),
  };
}

export function factsOf(
  peers: number,
  preTrusted: readonly number[] = [],
  excluded: readonly number[] = [],
): PeerFacts {
  const flags = (list: readonly number[]) => Uint8Array.from({ length: peers }, (_, j) => (list.includes(j) ? 1 : 0));
  return { preTrusted: flags(preTrusted), excluded: flags(excluded) };
}

/** Uniform in [0, 1): a linear congruential generator with the constants of Numerical Recipes. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/**
 * Every fifth player is bad; honest peers `0..honest-1` each see it with probability .7 and are right in nine of ten.
 */
export function honestGroup(honest: number, players: number, seed = 1): { rows: Entry[][]; isBad: boolean[] } {
  const random = seeded(seed);
  const isBad = Array.from({ length: players }, (_, i) => i % 5 === 0);
  const rows = isBad.map((truth) => {
    const row: Entry[] = [];
    for (let j = 0; j < honest; j++) {
      const sees = random() < 0.7;
      const right = random() < 0.9;
      if (sees) row.push(truth === right ? bad(j) : good(j));
    }
    return row;
  });
  return { rows, isBad };
}
