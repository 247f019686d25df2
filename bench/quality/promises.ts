/**
 * Tests the promises about single events and single peers on a group. For each peer, `probesOf` makes unknown players
 * that only this peer reports, and `promisesOf` judges their scores.
 */
import type { Verdict } from '../../src/core/vocabulary.js';
import type { Observation, TrustSet } from '../data/trust-set.js';

/** Larger groups are not probed. */
const peersMax = 200;
const manyEvents = 1000;
const probesPerPeer = 3;

export interface Promises {
  /** The most points by which one event moved an unknown player. */
  readonly lowered: number;
  readonly raised: number;
  /** Players whose verdict left `neutral` after one event. */
  readonly leftNeutral: number;
  /**
   * The lowest score after a thousand reports of one peer that is not pre-trusted, and the number of players that these
   * reports made `suspicious` or worse.
   */
  readonly lowestOfMany: number;
  readonly manyLeftNeutral: number;
}

/**
 * Returns the group's peers with three new players each, in the order of the peers: one lowering event, one raising
 * event, a thousand lowering events. Null for a group of more than 200 peers.
 */
export function probesOf(set: TrustSet): TrustSet | null {
  if (set.peers.length > peersMax) return null;
  const players: string[] = [];
  const observations: Observation[] = [];
  set.peers.forEach((name, peer) => {
    const add = (what: string, polarity: -1 | 1, count: number): void => {
      const player = players.push(`${name} ${what}`) - 1;
      for (let k = 0; k < count; k++) observations.push({ peer, player, polarity, severity: 1, timestampMs: null });
    };
    add('lowers', -1, 1);
    add('raises', 1, 1);
    add('floods', -1, manyEvents);
  });
  return { ...set, name: `${set.name} probes`, players, observations, truth: new Map(), targets: [] };
}

export function promisesOf(
  { peers, preTrusted }: TrustSet,
  { score, verdict }: { readonly score: ArrayLike<number>; readonly verdict: readonly Verdict[] },
): Promises {
  return worstPromises(
    peers.map((_, peer) => {
      const lowers = peer * probesPerPeer;
      const [raises, floods] = [lowers + 1, lowers + 2];
      const left = (player: number) => (verdict[player] === 'neutral' ? 0 : 1);
      const isTrusted = preTrusted.includes(peer);
      return {
        lowered: Math.max(0, 50 - score[lowers]!),
        raised: Math.max(0, score[raises]! - 50),
        leftNeutral: left(lowers) + left(raises),
        lowestOfMany: isTrusted ? 100 : score[floods]!,
        manyLeftNeutral: isTrusted ? 0 : left(floods),
      };
    }),
  );
}

export function worstPromises(groups: readonly Promises[]): Promises {
  return groups.reduce((worst, group) => ({
    lowered: Math.max(worst.lowered, group.lowered),
    raised: Math.max(worst.raised, group.raised),
    leftNeutral: worst.leftNeutral + group.leftNeutral,
    lowestOfMany: Math.min(worst.lowestOfMany, group.lowestOfMany),
    manyLeftNeutral: worst.manyLeftNeutral + group.manyLeftNeutral,
  }));
}
