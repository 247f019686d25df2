/**
 * Expected figures of the simulator's groups: means over 40 groups of each kind, drawn by another implementation
 * (numpy) of the same distributions, with the standard deviation of one group.
 */
import type { GroupSize } from '../../bench/quality/scene.js';
import type { KindName } from '../../bench/quality/simulator.js';

export const referenceSize: GroupSize = { peers: 10, players: 2000 };

/** Number of groups behind each mean. */
export const referenceGroups = 40;

type Figures = readonly [entries: number, deviation: number, majorityAuc: number, deviationOfAuc: number];

/** Entries are pairs of a player and a peer that reported it. The AUC of the majority is in [0, 1]. */
export const attackReference: Partial<Readonly<Record<KindName, Figures>>> = {
  none: [3662.6, 85.7, 0.8671, 0.0222],
  invert1: [4193.1, 70.9, 0.7369, 0.0293],
  flood1: [3885, 62.1, 0.7919, 0.0265],
  badmouth1: [4072, 83.2, 0.8662, 0.0238],
  ballot1: [4044.9, 70.9, 0.8381, 0.0212],
  camo1: [4001.2, 70.3, 0.876, 0.0239],
  sleeper1: [4038.6, 63.8, 0.8401, 0.0238],
  collude2: [6791.9, 55.5, 0.7476, 0.0232],
  collude3: [8352.2, 65.3, 0.7139, 0.0268],
  sybil60_pre1: [22396, 108.9, 0.664, 0.0273],
  sybil60_pre3: [22411.7, 111.8, 0.6615, 0.0291],
  sybil60camo_pre3: [24294.5, 113, 0.6442, 0.0255],
  collude2_pre1: [6801.3, 72.7, 0.7463, 0.0231],
  collude3_pre2: [8353.2, 60.2, 0.7204, 0.0224],
  colludebad3: [8346, 47.4, 0.8141, 0.0289],
  reportonly: [1205.8, 46.2, 0.5, 0],
  reportonly_flood1: [1557.6, 40.7, 0.3885, 0.0041],
  copied3: [3936.6, 109, 0.8645, 0.0219],
  copied3own: [5136.9, 108.9, 0.9105, 0.0167],
  reportonly_copied3: [1659.9, 78.5, 0.5, 0],
  reportonly_copied3own: [1808.9, 76.8, 0.5, 0],
  reportonly_clean: [707.8, 46.3, 0.5, 0],
  reportonly_mid: [1241.6, 64.9, 0.5, 0],
  reportonly_mid_liar1: [1555.9, 78.5, 0.5, 0],
  reportonly_mid_liar2: [1830.3, 76.9, 0.5, 0],
  colludecamo2: [7063.6, 59.9, 0.7449, 0.0292],
  colludecamo3: [8738.7, 71.8, 0.7207, 0.0271],
  colludecamo3_pre2: [8741.4, 63.3, 0.7225, 0.0283],
  sybil60: [22396.7, 109.8, 0.6604, 0.0212],
  sybil60camo_pre1: [24310.8, 116, 0.649, 0.0187],
};
