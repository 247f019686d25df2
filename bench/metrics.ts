/** How well probabilities of "bad" match a known truth: AUC, accuracy and Brier score. */

export interface Quality {
  /** Area under the ROC curve, 0 to 1, ties at half; NaN where the truth has one class only. */
  readonly auc: number;
  /** Share on the right side of 0.5, where exactly 0.5 counts half. */
  readonly accuracy: number;
  /** Mean squared error. */
  readonly brier: number;
}

/** Judges `badness[player]`, each in [0,1], on the players that `truth` covers. */
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

/** Mann-Whitney form of the area under the ROC curve: ranks from 1, tied scores share their mean rank. */
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
  if (positives === 0 || negatives === 0) return Number.NaN;
  return (rankSum - (positives * (positives + 1)) / 2) / (positives * negatives);
}

/** Mean distance from the truth over `players`; NaN for none. */
export function meanError(
  badness: ArrayLike<number>,
  truth: ReadonlyMap<number, 0 | 1>,
  players: readonly number[],
): number {
  let sum = 0;
  let judged = 0;
  for (const player of players) {
    const bad = truth.get(player);
    if (bad === undefined) continue;
    sum += Math.abs(badness[player]! - bad);
    judged++;
  }
  return judged === 0 ? Number.NaN : sum / judged;
}

/** Share of bad players whose risk is above that of every good player but the `hits` riskiest ones; NaN without a bad player. */
export function shareCaught(risks: ArrayLike<number>, truth: ReadonlyMap<number, 0 | 1>, hits: number): number {
  return sharesCaught(risks, truth, () => [hits])[0]!;
}

/** The same for several numbers of good players hit, which `hitsOf` chooses by the number of good players. */
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
