/**
 * Expected figures of the simulator's groups: means over 40 groups of each kind, drawn by another implementation
 * (numpy) of the same distributions, with the standard deviation of one group.
 */
import type { GroupSize } from '../../bench/quality/scene.js';
import type { KindName } from '../../bench/quality/simulator.js';

export const referenceSize: GroupSize = { peers: 10, players: 2000 };

export interface Spread {
  readonly mean: number;
  readonly deviation: number;
}

export interface ReferenceGroup {
  /** Pairs of a player and a peer that reported it. */
  readonly entries: Spread;
  /** AUC of the majority, in [0, 1]. */
  readonly majorityAuc: Spread;
}

/** Number of groups behind each mean. */
export const referenceGroups = 40;

export const attackReference: Partial<Readonly<Record<KindName, ReferenceGroup>>> = {
  none: { entries: { mean: 3662.6, deviation: 85.7 }, majorityAuc: { mean: 0.8671, deviation: 0.0222 } },
  invert1: { entries: { mean: 4193.1, deviation: 70.9 }, majorityAuc: { mean: 0.7369, deviation: 0.0293 } },
  flood1: { entries: { mean: 3885.0, deviation: 62.1 }, majorityAuc: { mean: 0.7919, deviation: 0.0265 } },
  badmouth1: { entries: { mean: 4072.0, deviation: 83.2 }, majorityAuc: { mean: 0.8662, deviation: 0.0238 } },
  ballot1: { entries: { mean: 4044.9, deviation: 70.9 }, majorityAuc: { mean: 0.8381, deviation: 0.0212 } },
  camo1: { entries: { mean: 4001.2, deviation: 70.3 }, majorityAuc: { mean: 0.876, deviation: 0.0239 } },
  sleeper1: { entries: { mean: 4038.6, deviation: 63.8 }, majorityAuc: { mean: 0.8401, deviation: 0.0238 } },
  collude2: { entries: { mean: 6791.9, deviation: 55.5 }, majorityAuc: { mean: 0.7476, deviation: 0.0232 } },
  collude3: { entries: { mean: 8352.2, deviation: 65.3 }, majorityAuc: { mean: 0.7139, deviation: 0.0268 } },
  sybil60_pre1: { entries: { mean: 22396.0, deviation: 108.9 }, majorityAuc: { mean: 0.664, deviation: 0.0273 } },
  sybil60_pre3: { entries: { mean: 22411.7, deviation: 111.8 }, majorityAuc: { mean: 0.6615, deviation: 0.0291 } },
  sybil60camo_pre3: { entries: { mean: 24294.5, deviation: 113.0 }, majorityAuc: { mean: 0.6442, deviation: 0.0255 } },
  collude2_pre1: { entries: { mean: 6801.3, deviation: 72.7 }, majorityAuc: { mean: 0.7463, deviation: 0.0231 } },
  collude3_pre2: { entries: { mean: 8353.2, deviation: 60.2 }, majorityAuc: { mean: 0.7204, deviation: 0.0224 } },
  colludebad3: { entries: { mean: 8346.0, deviation: 47.4 }, majorityAuc: { mean: 0.8141, deviation: 0.0289 } },
  reportonly: { entries: { mean: 1205.8, deviation: 46.2 }, majorityAuc: { mean: 0.5, deviation: 0.0 } },
  reportonly_flood1: { entries: { mean: 1557.6, deviation: 40.7 }, majorityAuc: { mean: 0.3885, deviation: 0.0041 } },
  copied3: { entries: { mean: 3936.6, deviation: 109.0 }, majorityAuc: { mean: 0.8645, deviation: 0.0219 } },
  copied3own: { entries: { mean: 5136.9, deviation: 108.9 }, majorityAuc: { mean: 0.9105, deviation: 0.0167 } },
  reportonly_copied3: { entries: { mean: 1659.9, deviation: 78.5 }, majorityAuc: { mean: 0.5, deviation: 0.0 } },
  reportonly_copied3own: { entries: { mean: 1808.9, deviation: 76.8 }, majorityAuc: { mean: 0.5, deviation: 0.0 } },
  reportonly_clean: { entries: { mean: 707.8, deviation: 46.3 }, majorityAuc: { mean: 0.5, deviation: 0.0 } },
  reportonly_mid: { entries: { mean: 1241.6, deviation: 64.9 }, majorityAuc: { mean: 0.5, deviation: 0.0 } },
  reportonly_mid_liar1: { entries: { mean: 1555.9, deviation: 78.5 }, majorityAuc: { mean: 0.5, deviation: 0.0 } },
  reportonly_mid_liar2: { entries: { mean: 1830.3, deviation: 76.9 }, majorityAuc: { mean: 0.5, deviation: 0.0 } },
  colludecamo2: { entries: { mean: 7063.6, deviation: 59.9 }, majorityAuc: { mean: 0.7449, deviation: 0.0292 } },
  colludecamo3: { entries: { mean: 8738.7, deviation: 71.8 }, majorityAuc: { mean: 0.7207, deviation: 0.0271 } },
  colludecamo3_pre2: { entries: { mean: 8741.4, deviation: 63.3 }, majorityAuc: { mean: 0.7225, deviation: 0.0283 } },
  sybil60: { entries: { mean: 22396.7, deviation: 109.8 }, majorityAuc: { mean: 0.6604, deviation: 0.0212 } },
  sybil60camo_pre1: { entries: { mean: 24310.8, deviation: 116.0 }, majorityAuc: { mean: 0.649, deviation: 0.0187 } },
};
