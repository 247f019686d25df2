/**
 * Seeded random numbers for the bench: the same seed gives the same stream on every machine. The generator is sfc32
 * (Doty-Humphrey, PractRand); SHA-256 of the seed's words gives its 128 bits of state.
 */
import { createHash } from 'node:crypto';

/** Returns a uniform number in [0, 1) with 53 bits. */
export type Random = () => number;

export function randomFrom(...seed: readonly (number | string)[]): Random {
  const digest = createHash('sha256').update(JSON.stringify(seed)).digest();
  let a = digest.readInt32LE(0);
  let b = digest.readInt32LE(4);
  let c = digest.readInt32LE(8);
  let counter = digest.readInt32LE(12);
  const next32 = (): number => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return sum >>> 0;
  };
  return () => ((next32() >>> 5) * 67_108_864 + (next32() >>> 6)) / 9_007_199_254_740_992;
}

/** Returns a whole number from `low` up to and without `high`. */
export function integer(random: Random, low: number, high: number): number {
  return Math.floor(uniform(random, low, high));
}

export function uniform(random: Random, low: number, high: number): number {
  return low + (high - low) * random();
}

/** Returns a standard normal number by Box and Muller's transform. */
export function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

export function exponential(random: Random, mean: number): number {
  return -mean * Math.log(1 - random());
}

/** Returns a Lomax number, the form of the Pareto distribution that starts at 0 and has the scale 1. */
export function pareto(random: Random, shape: number): number {
  return (1 - random()) ** (-1 / shape) - 1;
}

/** Returns a gamma number of scale 1 by Marsaglia and Tsang's rejection; only for shapes of at least 1. */
function gamma(random: Random, shape: number): number {
  const d = shape - 1 / 3;
  for (;;) {
    const x = normal(random);
    const v = (1 + x / Math.sqrt(9 * d)) ** 3;
    if (v > 0 && Math.log(1 - random()) < x ** 2 / 2 + d * (1 - v + Math.log(v))) return d * v;
  }
}

/** Returns a beta number; only for parameters of at least 1. */
export function beta(random: Random, a: number, b: number): number {
  const part = gamma(random, a);
  return part / (part + gamma(random, b));
}

/** Returns a Poisson count by Knuth's product of uniforms; only for means below 700, where the product has a number. */
export function poisson(random: Random, mean: number): number {
  const bound = Math.exp(-mean);
  let count = 0;
  for (let product = random(); product > bound; product *= random()) count++;
  return count;
}

/** Shuffles in place (Fisher-Yates). */
export function shuffle<T>(items: T[], random: Random): void {
  for (let i = items.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [items[i], items[j]] = [items[j]!, items[i]!];
  }
}

/** Returns `count` different items; all sets of items are equally likely. */
export function sample<T>(items: readonly T[], count: number, random: Random): T[] {
  const pool = [...items];
  shuffle(pool, random);
  return pool.slice(0, count);
}

/** Returns an index with a probability in proportion to its weight. */
export function weightedIndex(weights: readonly number[], random: Random): number {
  let rest = random() * weights.reduce((sum, weight) => sum + weight, 0);
  for (let i = 0; i < weights.length; i++) {
    rest -= weights[i]!;
    if (rest < 0) return i;
  }
  // Rounding can leave a remainder of 0 after the last weight.
  return weights.findLastIndex((weight) => weight > 0);
}

/** Returns `count` different indexes, each drawn by the remaining weights. */
export function weightedSample(weights: readonly number[], count: number, random: Random): number[] {
  const left = [...weights];
  return Array.from({ length: count }, () => {
    const index = weightedIndex(left, random);
    left[index] = 0;
    return index;
  });
}
