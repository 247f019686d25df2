/**
 * How hard the attackers of the simulator should be: the mean AUC of P(bad) on the same kinds of group, drawn by another
 * implementation (numpy) of the same distributions, 447 groups a kind; standard error at most 0.2 AUC points.
 */
import type { GroupSize } from './scene.js';

export const referenceSize: GroupSize = { peers: 10, players: 2000 };

/** By kind; `auc` in [0, 1]. */
export const attackReference: Readonly<Record<string, { readonly auc: number }>> = {
  none: { auc: 0.906 },
  invert1: { auc: 0.8969 },
  flood1: { auc: 0.8973 },
  badmouth1: { auc: 0.9047 },
  ballot1: { auc: 0.8909 },
  camo1: { auc: 0.9091 },
  sleeper1: { auc: 0.8929 },
  collude2: { auc: 0.8937 },
  collude3: { auc: 0.8924 },
  sybil60_pre1: { auc: 0.8934 },
  sybil60_pre3: { auc: 0.8933 },
  sybil60camo_pre3: { auc: 0.8882 },
  collude2_pre1: { auc: 0.8895 },
  collude3_pre2: { auc: 0.8839 },
  colludebad3: { auc: 0.8922 },
  reportonly: { auc: 0.6893 },
  reportonly_flood1: { auc: 0.7062 },
};
