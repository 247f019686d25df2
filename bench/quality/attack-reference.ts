/**
 * How hard the attackers of the simulator should be: the mean AUC of P(bad) on the same kinds of group, drawn by another
 * implementation (numpy) of the same distributions, 600 groups a kind; standard error at most 0.2 AUC points.
 */
import type { GroupSize } from './scene.js';

export const referenceSize: GroupSize = { peers: 10, players: 2000 };

/** By kind; `auc` in [0, 1]. */
export const attackReference: Readonly<Record<string, { readonly auc: number }>> = {
  none: { auc: 0.9052 },
  invert1: { auc: 0.8971 },
  flood1: { auc: 0.8976 },
  badmouth1: { auc: 0.9041 },
  ballot1: { auc: 0.8905 },
  camo1: { auc: 0.9086 },
  sleeper1: { auc: 0.8939 },
  collude2: { auc: 0.8954 },
  collude3: { auc: 0.8925 },
  sybil60_pre1: { auc: 0.8942 },
  sybil60_pre3: { auc: 0.8935 },
  sybil60camo_pre3: { auc: 0.8885 },
  collude2_pre1: { auc: 0.8891 },
  collude3_pre2: { auc: 0.8851 },
  colludebad3: { auc: 0.8923 },
  reportonly: { auc: 0.6901 },
  reportonly_flood1: { auc: 0.7054 },
};
