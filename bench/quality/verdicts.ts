/**
 * Measures the verdicts of one group: bad players caught, good players hit, the effect on the targets of an attack, and
 * the calibration of the predicted probabilities.
 */
import type { Verdict } from '../../src/core/vocabulary.js';
import type { TrustSet } from '../data/trust-set.js';

/** Labelled players of a group with a verdict or a worse one. */
export interface VerdictCount {
  /** Bad players with the verdict, and all bad ones. */
  readonly caught: number;
  readonly bad: number;
  /** Good players with the verdict, and all good ones. */
  readonly hit: number;
  readonly good: number;
}

export interface VerdictCounts {
  readonly untrusted: VerdictCount;
  /** `suspicious` or worse. */
  readonly suspicious: VerdictCount;
}

export function countVerdicts(verdicts: readonly Verdict[], truth: ReadonlyMap<number, 0 | 1>): VerdictCounts {
  return {
    untrusted: countPlayers(truth, (player) => isUntrusted(verdicts[player]!)),
    suspicious: countPlayers(truth, (player) => isSuspicious(verdicts[player]!)),
  };
}

/** Counts the good players among the targets of an attack, and those of them that read `suspicious` or worse. */
export function countVictims(
  verdicts: readonly Verdict[],
  { truth, targets }: Pick<TrustSet, 'truth' | 'targets'>,
): VerdictCount {
  return countPlayers(goodTargets({ truth, targets }), (player) => isSuspicious(verdicts[player]!));
}

export function goodTargets({ truth, targets }: Pick<TrustSet, 'truth' | 'targets'>): Map<number, 0> {
  return new Map(targets.filter((player) => truth.get(player) === 0).map((player) => [player, 0]));
}

export function countPlayers(
  truth: ReadonlyMap<number, 0 | 1>,
  isCondemned: (player: number) => boolean,
): VerdictCount {
  const condemned = (label: 0 | 1) => {
    const players = [...truth.keys()].filter((player) => truth.get(player) === label);
    return [players.filter(isCondemned).length, players.length] as const;
  };
  const [[hit, good], [caught, bad]] = [condemned(0), condemned(1)];
  return { caught, bad, hit, good };
}

export function isUntrusted(verdict: Verdict): boolean {
  return verdict === 'untrusted';
}

export function isSuspicious(verdict: Verdict): boolean {
  return verdict === 'untrusted' || verdict === 'suspicious';
}

export function sumEach<T extends { readonly [K in keyof T]: number }>(parts: readonly T[]): T {
  const keys = Object.keys(parts[0]!) as (keyof T)[];
  return Object.fromEntries(keys.map((key) => [key, parts.reduce((sum, part) => sum + part[key], 0)])) as T;
}

/** Returns the share of bad players among those with the verdict; NaN if no player has it. */
export function precisionOf({ caught, hit }: VerdictCount): number {
  return caught / (caught + hit);
}

/** Effect of an attack on a group, against the same group without the attackers. Counts labelled players. */
export interface Damage {
  readonly targets: number;
  /** Good players that are `untrusted`, or `suspicious` or worse, only because of the attack. */
  readonly goodUntrusted: number;
  readonly goodSuspicious: number;
  /**
   * Bad players that are `suspicious` or worse without the attack, and those of them that the attack makes neutral or
   * better.
   */
  readonly badCaught: number;
  readonly badLost: number;
  /** Bad players that are `trusted` only because of the attack. */
  readonly badTrusted: number;
  /** Bad players that are `suspicious` or worse only with the attackers in the group. */
  readonly badGained: number;
}

export function damageOf(
  verdicts: readonly Verdict[],
  without: readonly Verdict[],
  { truth, targets }: Pick<TrustSet, 'truth' | 'targets'>,
): Damage {
  const count = (label: 0 | 1, changed: (now: Verdict, before: Verdict) => boolean) =>
    [...truth].filter(([player, bad]) => bad === label && changed(verdicts[player]!, without[player]!)).length;
  return {
    targets: targets.length,
    goodUntrusted: count(0, (now, before) => isUntrusted(now) && !isUntrusted(before)),
    goodSuspicious: count(0, (now, before) => isSuspicious(now) && !isSuspicious(before)),
    badCaught: count(1, (_, before) => isSuspicious(before)),
    badLost: count(1, (now, before) => !isSuspicious(now) && isSuspicious(before)),
    badTrusted: count(1, (now, before) => now === 'trusted' && before !== 'trusted'),
    badGained: count(1, (now, before) => isSuspicious(now) && !isSuspicious(before)),
  };
}

/** Labelled players whose predicted P(bad) lies in one tenth of [0, 1]. */
export interface CalibrationBin {
  readonly players: number;
  readonly bad: number;
  /** Sum of the predicted probabilities. */
  readonly predicted: number;
}

const binCount = 10;

export function calibrationOf(pBad: ArrayLike<number>, truth: ReadonlyMap<number, 0 | 1>): CalibrationBin[] {
  const bins = Array.from({ length: binCount }, () => ({ players: 0, bad: 0, predicted: 0 }));
  for (const [player, label] of truth) {
    const p = pBad[player]!;
    const bin = bins[Math.min(binCount - 1, Math.floor(p * binCount))]!;
    bin.players++;
    bin.bad += label;
    bin.predicted += p;
  }
  return bins;
}

export function sumCalibrations(groups: readonly (readonly CalibrationBin[])[]): CalibrationBin[] {
  return Array.from({ length: binCount }, (_, i) => sumEach(groups.map((bins) => bins[i]!)));
}
