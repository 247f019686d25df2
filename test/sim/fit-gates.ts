/** Stage 1 of the fit of peer weights, a second time: the gate of each peer. */
import type { FitNumbers } from './fit-numbers.js';
import { clip, type FittedGroup, least, shared, sumBy, total, type Vote } from './fit-votes.js';

/**
 * Stands for the last digits of what stage 1 decides by, where there is another way to add it up. `terms` is the size
 * of the terms of a sum that may cancel out; without it, the value is as large as its terms.
 */
export type Rounded = (value: number, terms?: number) => number;

/** The least value up to which half of all weight lies, equal values in the order of their peers. */
function medianOf(of: readonly { readonly value: number; readonly weight: number }[], rounded: Rounded): number {
  const sorted = [...of].sort((p, q) => p.value - q.value);
  let sum = 0;
  const below = sorted.map(({ weight }) => {
    sum += weight;
    return sum;
  });
  // Capped weights may lie half on either side.
  const at = below.findIndex((weight) => rounded(weight - sum / 2, sum) >= 0);
  return sorted[at]!.value;
}

/** Peer `j`'s comparison with another peer: the agreement and its weight; 0 for both if they share no player. */
interface Agreement {
  readonly a: number;
  readonly w: number;
  /** As how much of a peer the other counts. */
  readonly part: number;
}

/** Stage 1: without the new peers that those before them contradict, where there are any. */
export function gates(
  votes: readonly Vote[],
  witness: readonly number[],
  group: FittedGroup,
  k: FitNumbers,
  rounded: Rounded,
): number[] {
  const { agreement, settle } = stage1(votes, witness, group, k, rounded);
  const out = contradicted(agreement, group, k, rounded);
  if (out.size === 0) return settle();
  const seniority = witness.map((_, j) => (out.has(j) ? 0 : (group.seniority?.[j] ?? 1)));
  return stage1(votes, witness, { ...group, seniority }, k, rounded).settle();
}

/** Finds the new peers whose reputation with at least three elders is gone; such a peer is no elder itself. */
function contradicted(
  agreement: readonly (readonly Agreement[])[],
  { joined, preTrusted, origins = new Set() }: FittedGroup,
  k: FitNumbers,
  rounded: Rounded,
): Set<number> {
  let out = new Set<number>();
  if (joined === undefined) return out;
  const isNew = (j: number) => joined.at[j]! > joined.newSince && !preTrusted.has(j) && !origins.has(j);
  for (let round = 0; round < k.gateRounds; round++) {
    const next = new Set<number>();
    agreement.forEach((row, j) => {
      const elders = row.filter(
        ({ w }, other) => w > 0 && !out.has(other) && joined.at[other]! + k.elder <= joined.at[j]!,
      );
      const earned = total(elders.map(({ a, w }) => a * w));
      const size = total(elders.map(({ a, w }) => Math.abs(a * w)));
      const gone = rounded(k.gatePrior * k.gateAtFirst + earned, size) <= 0;
      if (isNew(j) && gone && total(elders.map(({ part }) => part)) >= k.eldersMin) next.add(j);
    });
    const isSettled = next.size === out.size && [...next].every((j) => out.has(j));
    out = next;
    if (isSettled) break;
  }
  return out;
}

function stage1(
  votes: readonly Vote[],
  witness: readonly number[],
  { peers, preTrusted, seniority, origins = new Set() }: FittedGroup,
  k: FitNumbers,
  rounded: Rounded,
): { readonly agreement: Agreement[][]; readonly settle: () => number[] } {
  const volume = sumBy(votes, 'peer', peers, ({ n1 }) => n1);
  const senior = witness.map((_, j) => (preTrusted.has(j) ? 1 : (seniority?.[j] ?? 1)));
  // A member of a witness group is a part of a peer, and a newcomer likewise; one that says nothing takes no part.
  const voters = witness.map(
    (one) => witness.filter((other, l) => other === one && volume[l]! > 0 && !origins.has(l)).length,
  );
  // An origin is judged by peers, and judges nobody.
  const size = voters.map((count, j) => (origins.has(j) ? Number.POSITIVE_INFINITY : Math.max(1, count) / senior[j]!));
  const anchored = preTrusted.size > 0;
  const agreement = agreements(votes, volume, witness, size, k, rounded);
  return { agreement, settle: () => settled() };

  function settled(): number[] {
    const partners = agreement.map((row) => rounded(total(row.map(({ w }) => w))));
    if (!anchored && partners.filter((mass, j) => mass > 0 && !origins.has(j)).length <= 2) return senior;
    let t: number[] = volume.map((_, j) => (anchored && !preTrusted.has(j) ? 0 : 1));
    for (let round = 1; ; round++) {
      const rho = agreement.map((row) => {
        const earned = row.map(({ a, w }, other) => w * t[other]! * a);
        const mass = total(row.map(({ w }, other) => w * t[other]!));
        const first = k.gatePrior * (anchored ? 0 : k.gateAtFirst);
        // Whether a peer has a reputation at all may be a matter of the last digit.
        return Math.max(0, rounded(first + total(earned), total(earned.map(Math.abs))) / (k.gatePrior + mass));
      });
      const seen = rho.flatMap((value, j) =>
        value > 0 && partners[j]! > 0 ? [{ value, weight: Math.min(partners[j]!, k.gateMass) / size[j]! }] : [],
      );
      const half = k.gateHalf * (seen.length > 0 ? medianOf(seen, rounded) : 1);
      const ref = Math.max(half, anchored ? k.gateReferenceAnchored : k.gateReference);
      const next = rho.map((value, j) => (preTrusted.has(j) ? 1 : Math.min(1, value / ref)));
      // Peers without evidence are not among those that are judged.
      const moved = next.map((gate, j) => (volume[j]! > 0 && !origins.has(j) ? Math.abs(gate - t[j]!) : 0));
      if (Math.max(...moved) < k.gateSettled || round === k.gateRounds) return next.map((gate, j) => gate * senior[j]!);
      t = t.map((gate, j) => (gate + next[j]!) / 2);
    }
  }
}

/** Every peer against every other of another witness group, from the votes on the players that both reported. */
function agreements(
  votes: readonly Vote[],
  volume: readonly number[],
  witness: readonly number[],
  size: readonly number[],
  k: FitNumbers,
  rounded: Rounded,
): Agreement[][] {
  const peers = volume.length;
  const bad = sumBy(votes, 'peer', peers, ({ n1, x }) => n1 * x);
  const means = volume.flatMap((mass, j) =>
    mass > 0 ? [{ value: bad[j]! / Math.max(mass, least), weight: Math.min(mass, k.muMass) / size[j]! }] : [],
  );
  const mu = means.length === 0 ? k.muLeast : clip(medianOf(means, rounded), k.muLeast, k.muMost);
  const own = volume.map((mass, j) => (bad[j]! + k.ownMass * mu) / (mass + k.ownMass));
  const both = shared(votes, peers);
  const table = volume.map(() => new Array<Agreement>(peers).fill({ a: 0, w: 0, part: 0 }));
  for (let j = 0; j < peers; j++) {
    for (let other = 0; other < j; other++) {
      const pairs = both(j, other);
      if (pairs.length === 0 || witness[j] === witness[other]) continue;
      const { a, w } = agreementOf(pairs, mu, own[j]!, own[other]!, k, rounded);
      table[j]![other] = { a, w: w / size[other]!, part: 1 / size[other]! };
      table[other]![j] = { a, w: w / size[j]!, part: 1 / size[j]! };
    }
  }
  return table;
}

/** Computes the agreement of two peers from their votes on the same players and the mean of each. */
function agreementOf(
  pairs: readonly (readonly [number, number])[],
  mu: number,
  xMean: number,
  yMean: number,
  k: FitNumbers,
  rounded: Rounded,
): Omit<Agreement, 'part'> {
  const n = pairs.length;
  const around = (centre: number, otherCentre: number) => {
    const u = pairs.map(([x]) => x - centre);
    const v = pairs.map(([, y]) => y - otherCentre);
    const sum = (of: readonly number[]) => rounded(total(of), n);
    const together = sum(u.map((one, i) => one * v[i]!));
    const spread = sum(u.map((one) => one * one)) * sum(v.map((one) => one * one));
    return { together, spread: Math.sqrt(Math.max(spread, k.leastSpread)) };
  };
  const group = around(mu, mu);
  const own = around(xMean, yMean);
  const isTwoSided = own.spread > k.twoSidedSpread * n;
  const correlation = group.together / group.spread;
  const lesser = isTwoSided ? Math.min(correlation, own.together / own.spread) : correlation;
  const a = (clip(lesser / k.gateSaturation, -1, 1) * n) / (n + k.gateShrink);
  return { a, w: Math.min(n, k.gateCap) * (isTwoSided ? 1 : k.gateOneSided) };
}
