/** Statistics of all measurements: medians, means, ratios, and the fit of probabilities of "bad" to a known truth. */

export interface Quality {
  /** Area under the ROC curve, 0 to 1; ties count half. NaN if the truth has only one class. */
  readonly auc: number;
  /** Share on the right side of 0.5; exactly 0.5 counts half. */
  readonly accuracy: number;
  /** Mean squared error. */
  readonly brier: number;
}

/** Judges `badness[player]`, each in [0, 1], on the players that `truth` covers. */
export function quality(badness: ArrayLike<number>, truth: ReadonlyMap<number, 0 | 1>): Quality {
  const labels: (0 | 1)[] = [];
  const scores: number[] = [];
  let right = 0;
  let squares = 0;
  for (const [player, bad] of truth) {
    const p = badness[player]!;
    labels.push(bad);
    scores.push(p);
    const judged = p > 0.5 ? 1 : p < 0.5 ? 0 : 0.5;
    right += 1 - Math.abs(judged - bad);
    squares += (p - bad) ** 2;
  }
  return { auc: auc(labels, scores), accuracy: right / labels.length, brier: squares / labels.length };
}

/**
 * Returns the area under the ROC curve in its Mann-Whitney form: ranks start at 1, and tied scores share their mean
 * rank. NaN if the labels are of one class.
 */
export function auc(labels: readonly (0 | 1)[], scores: readonly number[]): number {
  const order = scores.map((_, i) => i).sort((i, j) => scores[i]! - scores[j]!);
  let positives = 0;
  let rankSum = 0;
  for (let start = 0; start < order.length; ) {
    let end = start + 1;
    while (end < order.length && scores[order[end]!] === scores[order[start]!]) end++;
    const rank = (start + 1 + end) / 2;
    for (let k = start; k < end; k++) {
      if (labels[order[k]!] === 0) continue;
      positives++;
      rankSum += rank;
    }
    start = end;
  }
  const negatives = order.length - positives;
  return (rankSum - (positives * (positives + 1)) / 2) / (positives * negatives);
}

/** Returns the mean distance from the truth over those of `players` whose truth is known; NaN for none. */
export function meanError(
  badness: ArrayLike<number>,
  truth: ReadonlyMap<number, 0 | 1>,
  players: readonly number[],
): number {
  const judged = players.filter((player) => truth.has(player));
  return judged.reduce((sum, player) => sum + Math.abs(badness[player]! - truth.get(player)!), 0) / judged.length;
}

/**
 * Returns the share of bad players whose risk exceeds that of every good player except the riskiest ones; NaN without
 * bad players. `hitsOf` chooses their numbers by the number of good players.
 */
export function sharesCaught(
  risks: ArrayLike<number>,
  truth: ReadonlyMap<number, 0 | 1>,
  hitsOf: (good: number) => readonly number[],
): number[] {
  const risksOf = (label: 0 | 1) =>
    Float64Array.from([...truth].filter(([, bad]) => bad === label).map(([player]) => risks[player]!)).sort();
  const good = risksOf(0);
  const bad = risksOf(1);
  return hitsOf(good.length).map((hits) => {
    const bound = hits < good.length ? good[good.length - 1 - hits]! : Number.NEGATIVE_INFINITY;
    return bad.filter((risk) => risk > bound).length / bad.length;
  });
}

/** Returns the median; NaN if one of the values is NaN, which has no place in the order. */
export function median(values: readonly number[]): number {
  if (values.some(Number.isNaN)) return Number.NaN;
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Returns the mean of the values that are numbers; NaN for none. */
export function average(values: readonly number[]): number {
  const numbers = values.filter((value) => !Number.isNaN(value));
  return numbers.reduce((sum, value) => sum + value, 0) / numbers.length;
}

/** Returns the minimum of the values that are numbers; NaN for none. */
export function least(values: readonly number[]): number {
  const numbers = values.filter((value) => !Number.isNaN(value));
  return numbers.length === 0 ? Number.NaN : Math.min(...numbers);
}

/** Returns the maximum of any number of values. A day of samples does not fit into the arguments of `Math.max`. */
export function greatest(values: readonly number[]): number {
  return values.reduce((found, value) => Math.max(found, value), Number.NEGATIVE_INFINITY);
}

/** Returns the ratio of two series, window by window, without ratios that are not finite. */
export function ratios(numerators: readonly number[], denominators: readonly number[]): number[] {
  return numerators.map((value, i) => value / denominators[i]!).filter((ratio) => Number.isFinite(ratio));
}
