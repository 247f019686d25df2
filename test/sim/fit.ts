/**
 * The fit of peer weights, a second time: written from the scoring page and its reference in numpy, and from none of
 * the service's code. It is the shortest way from the page's formulas to numbers, matrices and all: a group here is
 * small.
 */
import { gates, type Rounded } from './fit-gates.js';
import type { FitNumbers } from './fit-numbers.js';
import {
  type Columns,
  clip,
  columns,
  type FittedGroup,
  heaviness,
  least,
  logit,
  massOf,
  type Reported,
  sigmoid,
  strengthOf,
  sumBy,
  total,
  type Vote,
  votesOf,
  zeros,
} from './fit-votes.js';
import { alliedAndClones, copiedLists } from './fit-witnesses.js';

/** `witness` is the lowest peer of the witness group of each peer, `pi` the share of bad players. */
export interface Fitted extends Columns<readonly number[]> {
  readonly witness: readonly number[];
  readonly pi: number;
}

export function fit(
  reported: readonly Reported[],
  group: FittedGroup,
  k: FitNumbers,
  rounded: Rounded = (value) => value,
): Fitted {
  const { revoked, preTrusted, carriers = [] } = group;
  const own = votesOf(reported, group, null, k);
  // Which carrier speaks for an origin is decided by gates that no carried vote moves.
  const votes =
    carriers.length === 0
      ? own
      : votesOf(reported, group, gates(own, alliedAndClones(own, group, k), group, k, rounded), k);
  const single = alliedAndClones(votes, group, k);
  const first = logOdds(votes, single, group, k, rounded);
  const witness = copiedLists(votes, first, single, group, k);
  const last = witness.join() === single.join() ? first : logOdds(votes, witness, group, k, rounded);
  const spoke = new Set(votes.map(({ peer }) => peer));
  for (const { number, peer } of carriers) {
    // A peer that only carries something is known, and agrees with nobody.
    if (!revoked.has(number) && reported.some((one) => one.peer === number && massOf(one) > 0)) spoke.add(peer);
  }
  const heard = last.tau.map((gate, j) => (spoke.has(j) || preTrusted.has(j) ? gate : 0));
  const counted = { ...last, tau: heard, judged: heard.map((_, j) => (spoke.has(j) ? 1 : 0)) };
  const names = columns.map((name) => [name, counted[name].map((value, j) => (revoked.has(j) ? 0 : value))] as const);
  return carried({ ...(Object.fromEntries(names) as Columns<number[]>), witness, pi: last.pi }, group);
}

/** Carried evidence counts with what the origin is worth, and with no more than what the peer that carries it is. */
function carried(fitted: Fitted, { origins = new Set(), carriers = [], revoked }: FittedGroup): Fitted {
  const to = Object.fromEntries(columns.map((name) => [name, [...fitted[name]]])) as Columns<number[]>;
  const witness = [...fitted.witness];
  const { tau, a, b, m } = fitted;
  const best = new Map<number, number>();
  for (const { number, peer, origin } of carriers) {
    witness[number] = witness[origin]!;
    if (revoked.has(number)) continue;
    for (const name of columns) to[name][number] = fitted[name][name === 'judged' ? peer : origin]!;
    const parts = [(j: number) => tau[j]! * (a[j]! + b[j]!), (j: number) => tau[j]! * m[j]!].map((worth) =>
      worth(origin) <= worth(peer) ? 1 : worth(peer) / worth(origin),
    );
    to.tau[number] = tau[origin]! * Math.min(...parts);
    best.set(origin, Math.max(best.get(origin) ?? 0, to.tau[number]!));
  }
  for (const origin of origins) to.tau[origin] = best.get(origin) ?? 0;
  return { ...to, witness, pi: fitted.pi };
}

interface Stage2 extends Omit<Fitted, 'witness' | 'judged'> {
  /** Per vote, in the last round: what it adds to the log-odds of its player. */
  readonly l: readonly number[];
}

/** 0 to 1 per peer: the share of its evidence that did not follow another's, between the two bounds. */
function ownShare(all: readonly number[], own: readonly number[], k: FitNumbers): number[] {
  return all.map((sum, j) => {
    const found = (own[j]! + k.ownPrior * k.own0) / (sum + k.ownPrior);
    return clip((found - k.ownNone) / (k.ownFull - k.ownNone), 0, 1);
  });
}

/** Stage 2. */
function logOdds(
  votes: readonly Vote[],
  witness: readonly number[],
  group: FittedGroup,
  k: FitNumbers,
  rounded: Rounded,
): Stage2 {
  const { peers, preTrusted, origins } = group;
  const gate = gates(votes, witness, group, k, rounded);
  // An origin is judged, and judges nobody.
  const tau = gate.map((open, j) => (origins?.has(j) ? 0 : open));
  const players = votes.reduce((most, { player }) => Math.max(most, player + 1), 0);
  const byPeer = (figure: (vote: Vote, i: number) => number) => sumBy(votes, 'peer', peers, figure);
  const byPlayer = (figure: (vote: Vote, i: number) => number) => sumBy(votes, 'player', players, figure);
  const finds = ownShare(
    byPeer(({ peer, a }) => gate[peer]! * a),
    byPeer(({ peer, a, follows }) => (follows ? 0 : gate[peer]! * a)),
    k,
  );
  const findsClaim = ownShare(
    byPeer(({ peer, c1, cx }) => gate[peer]! * c1 * cx),
    byPeer(({ peer, c1, cx, followsClaim }) => (followsClaim ? 0 : gate[peer]! * c1 * cx)),
    k,
  );
  const said = votes.map(({ peer, a, cx }) => (a > 0 ? finds[peer]! : cx * findsClaim[peer]! + 1 - cx));
  const lead = leads(
    votes,
    witness,
    votes.map(({ peer, n1 }, i) => tau[peer]! * n1 * said[i]!),
  );
  const t = votes.map(({ peer }, i) => tau[peer]! * lead[i]!);
  const ta = votes.map(({ peer, a }, i) => gate[peer]! * lead[i]! * a);
  const low = byPeer(({ c1, cx }) => c1 * cx);
  const high = byPeer(({ c1, cx }) => c1 * (1 - cx));
  const sided = (lowering: readonly number[], raising: readonly number[]) =>
    lowering.map((one, j) => Math.min(one, raising[j]!) / (Math.min(one, raising[j]!) + k.twoSided));

  /** Per vote how much the others say of its player, with its sums per peer over lowering and raising votes. */
  const judgedBy = (v: readonly number[]) => {
    const all = byPlayer((_, i) => v[i]!);
    const om = votes.map(({ player, c1 }, i) => {
      const other = Math.max(0, all[player]! - v[i]!);
      return (c1 * other) / (other + k.kappa);
    });
    return { om, lowers: byPeer(({ cx }, i) => om[i]! * cx), raises: byPeer(({ cx }, i) => om[i]! * (1 - cx)) };
  };

  let z = sided(low, high);
  let om = zeros(votes.length);
  const sidedVoice = () => votes.map(({ peer, c1 }, i) => t[i]! * said[i]! * c1 * z[peer]!);
  for (let pass = 0; pass < 3; pass++) {
    const judged = judgedBy(sidedVoice());
    om = judged.om;
    z = sided(judged.lowers, judged.raises);
  }
  const volume = low.map((one, j) => tau[j]! * Math.min(one + high[j]!, k.twoSidedMass));
  const share = total(volume.map((mass, j) => mass * z[j]!)) / Math.max(total(volume), least);
  const scale = Math.min(1, share / k.twoSidedShare);
  z = z.map((one) => one * scale);
  om = om.map((one) => one * scale);
  const any = judgedBy(votes.map(({ n1 }, i) => t[i]! * said[i]! * n1));
  const sides = sidedVoice();
  const known = byPlayer((_, i) => sides[i]!).map((sum) => sum / (sum + 1));
  const strength = votes.map(({ peer, n }) => strengthOf(n, z[peer]!, k));

  let pi = k.prevalence;
  const mixed = (j: number, two: number, one: number) => z[j]! * two + (1 - z[j]!) * one;
  let a = tau.map((_, j) => mixed(j, Math.log(k.recall / (1 - k.specificity)), k.reportOdds) * findsClaim[j]!);
  let b = tau.map((_, j) => mixed(j, Math.log(k.specificity / (1 - k.recall)), k.praiseOdds));
  let m = finds.map((own) => k.measureOdds * own);
  let l = zeros(votes.length);
  const measures = byPeer((_, i) => ta[i]!);
  const inside = (p: number) => clip(p, k.inside, 1 - k.inside);
  /** How much the log-odds of a peer's right votes are above those of the group's mean. */
  const above = (mean: number, prior: number, hits: number, of: number) =>
    logit(inside((prior * mean + hits) / (prior + of))) - logit(mean);
  for (let round = 0; round < k.rounds; round++) {
    l = votes.map((vote, i) => {
      const { peer, cx } = vote;
      const claims = t[i]! * strength[i]! * (cx * a[peer]! - (1 - cx) * b[peer]!);
      return vote.a > 0 ? Math.max(claims, t[i]! * vote.a * m[peer]!) : claims;
    });
    const before = pi;
    const sums = byPlayer((_, i) => l[i]!);
    const q = sums.map((sum) => sigmoid(logit(before) + sum));
    const seenBad = total(q.map((p, i) => known[i]! * p)) + k.prevalencePrior * k.prevalence;
    pi = clip(seenBad / (total(known) + k.prevalencePrior), k.prevalenceMin, k.prevalenceMax);
    const hitsOf = (weights: readonly number[], figure: (x: number, q: number) => number) =>
      byPeer(({ player, cx }, i) => weights[i]! * figure(cx, q[player]!));
    const bad = hitsOf(om, (_, p) => p);
    const good = hitsOf(om, (_, p) => 1 - p);
    const badLow = hitsOf(om, (x, p) => x * p);
    const goodHigh = hitsOf(om, (x, p) => (1 - x) * (1 - p));
    const pooled = (hits: readonly number[], of: readonly number[], prior: number) => {
      const weighed = (values: readonly number[]) => total(values.map((value, j) => z[j]! * tau[j]! * value));
      return (k.poolPrior * prior + weighed(hits)) / (k.poolPrior + weighed(of));
    };
    const recall = pooled(badLow, bad, k.recall);
    const specificity = pooled(goodHigh, good, k.specificity);
    const low1 = hitsOf(any.om, (x, p) => x * p);
    const high1 = hitsOf(any.om, (x, p) => (1 - x) * (1 - p));
    const gated = (values: readonly number[], own: readonly number[] = []) =>
      total(values.map((value, j) => tau[j]! * (own[j] ?? 1) * value));
    const lowMean = (gated(low1, findsClaim) + 1) / (gated(any.lowers, findsClaim) + 1 / Math.max(pi, 0.02));
    const highMean = (gated(high1) + 9) / (gated(any.raises) + 10);
    const better = (mean: number, hits: number, of: number) =>
      clip(above(mean, k.relativePrior, hits, of), -k.relativeDown, k.relativeUp);
    const odds = logit(pi);
    const others = byPeer(({ player }, i) => {
      return ta[i]! * sigmoid(odds + clip(sums[player]! - l[i]!, -k.measureOthers, k.measureOthers));
    });
    const mean = clip(
      (gated(others, finds) + k.mean0 * k.meanPrior) / (gated(measures, finds) + k.meanPrior),
      k.meanMin,
      k.meanMax,
    );
    const fitted = tau.map((_, j) => {
      const prior = k.peerPrior * (preTrusted.has(j) ? 2 : 1);
      const s = inside((prior * recall + badLow[j]!) / (prior + bad[j]!));
      const c = inside((prior * specificity + goodHigh[j]!) / (prior + good[j]!));
      const report = Math.max(0, k.reportOdds + better(lowMean, low1[j]!, any.lowers[j]!));
      const praise = Math.max(0, k.praiseOdds + better(highMean, high1[j]!, any.raises[j]!));
      const measure =
        k.measureOdds + clip(above(mean, k.measurePrior, others[j]!, measures[j]!), -k.measureDown, k.measureUp);
      const floors = [mixed(j, k.floor, k.reportOdds), mixed(j, k.floor, k.praiseOdds), k.measureOdds];
      const [lowest, lowestB, lowestM] = preTrusted.has(j) ? floors : [0, 0, 0];
      return {
        a: Math.max(lowest!, clip(mixed(j, Math.log(s / (1 - c)), report), 0, k.oddsMax) * findsClaim[j]!),
        b: Math.max(lowestB!, clip(mixed(j, Math.log(c / (1 - s)), praise), 0, k.oddsMax)),
        m: Math.max(lowestM!, clip(measure, 0, k.measureMax) * finds[j]!),
      };
    });
    a = fitted.map((one) => one.a);
    b = fitted.map((one) => one.b);
    m = fitted.map((one) => one.m);
  }
  return { tau: gate, a, b, z, m, finds, findsClaim, measured: measures.map((sum) => (sum > 0 ? 1 : 0)), pi, l };
}

/**
 * 1 for the vote that speaks for its witness about its player, else 0: the heaviest, of equal ones that of the lowest
 * peer.
 */
function leads(votes: readonly Vote[], witness: readonly number[], weights: readonly number[]): number[] {
  const best = new Map<string, number>();
  const keys = votes.map(({ player, peer }) => `${player} ${witness[peer]}`);
  keys.forEach((key, i) => {
    const other = best.get(key);
    if (other === undefined || heaviness(weights[i]!) > heaviness(weights[other]!)) best.set(key, i);
  });
  return keys.map((key, i) => (best.get(key) === i ? 1 : 0));
}
