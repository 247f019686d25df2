/**
 * The fit of peer weights, a second time: written from the scoring page, its reference in numpy and decisions 100 to 106, and from
 * none of the service's code. It is the shortest way from the page's formulas to numbers, matrices and all: a group here is small.
 */
import type { FitNumbers } from './fit-numbers.js';

/** One peer's evidence on one player, decayed; `player` and `peer` are numbers from 0. */
export interface Reported {
  readonly player: number;
  readonly peer: number;
  readonly lowering: number;
  readonly raising: number;
}

export interface FittedGroup {
  readonly peers: number;
  readonly preTrusted: ReadonlySet<number>;
  /** Peers whose evidence counts for nothing. */
  readonly revoked: ReadonlySet<number>;
}

/** Per peer, 0 for a revoked one; `pi` is the share of bad players. */
export interface Fitted {
  readonly tau: readonly number[];
  readonly a: readonly number[];
  readonly b: readonly number[];
  readonly pi: number;
}

/** What one peer says of one player: `x` is the share of lowering evidence, `n` and `n1` what the vote counts. */
interface Vote {
  readonly player: number;
  readonly peer: number;
  readonly x: number;
  readonly n: number;
  readonly n1: number;
}

const least = 1e-9;
const clip = (value: number, low: number, high: number) => Math.max(low, Math.min(high, value));
const logit = (p: number) => Math.log(p) - Math.log1p(-p);
const sigmoid = (odds: number) => 1 / (1 + Math.exp(-clip(odds, -60, 60)));
const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);
const zeros = (length: number) => new Array<number>(length).fill(0);

/** Sums of a figure of the votes by peer, or by player. */
function sumBy(
  votes: readonly Vote[],
  by: 'peer' | 'player',
  length: number,
  figure: (vote: Vote) => number,
): number[] {
  const sums = zeros(length);
  for (const vote of votes) sums[vote[by]]! += figure(vote);
  return sums;
}

/** Stands for the last digits of what stage 1 decides by, where there is another way to add it up. */
export type Rounded = (value: number) => number;

export function fit(
  reported: readonly Reported[],
  group: FittedGroup,
  k: FitNumbers,
  rounded: Rounded = (value) => value,
): Fitted {
  const votes = votesOf(reported, group, k);
  const tau = gates(votes, group, k, rounded);
  const { a, b, pi } = logOdds(votes, tau, group, k);
  const counted = (values: readonly number[]) => values.map((value, j) => (group.revoked.has(j) ? 0 : value));
  return { tau: counted(tau), a: counted(a), b: counted(b), pi };
}

function votesOf(reported: readonly Reported[], { revoked }: FittedGroup, k: FitNumbers): Vote[] {
  return reported.flatMap(({ player, peer, lowering, raising }) => {
    const m = lowering + raising;
    if (m === 0 || revoked.has(peer)) return [];
    const n = (k.saturation * m) / (m + k.halfSaturation);
    return [{ player, peer, x: lowering / m, n, n1: Math.min(m, 1) }];
  });
}

/** The least value up to which half of all weight lies, equal values in the order of their peers. */
function medianOf(of: readonly { readonly value: number; readonly weight: number }[]): number {
  const sorted = [...of].sort((p, q) => p.value - q.value);
  let sum = 0;
  const below = sorted.map(({ weight }) => {
    sum += weight;
    return sum;
  });
  return sorted[below.findIndex((weight) => weight >= sum / 2)]!.value;
}

/** Whether two peers agree, and what that counts; 0 for both where they share no player. */
interface Agreement {
  readonly a: number;
  readonly w: number;
}

/** Stage 1. */
function gates(votes: readonly Vote[], { peers, preTrusted }: FittedGroup, k: FitNumbers, rounded: Rounded): number[] {
  const volume = sumBy(votes, 'peer', peers, ({ n1 }) => n1);
  const anchored = preTrusted.size > 0;
  const agreement = agreements(votes, volume, k, rounded);
  const partners = agreement.map((row) => rounded(total(row.map(({ w }) => w))));
  if (!anchored && partners.filter((mass) => mass > 0).length <= 2) return volume.map(() => 1);
  let t: number[] = volume.map((_, j) => (anchored && !preTrusted.has(j) ? 0 : 1));
  for (let round = 1; ; round++) {
    const vouched = t.map((gate) => Math.max(0, (gate - k.vouchesFrom) / (1 - k.vouchesFrom)));
    const rho = agreement.map((row) => {
      const earned = total(row.map(({ a, w }, other) => w * vouched[other]! * a));
      const mass = total(row.map(({ w }, other) => w * vouched[other]!));
      return Math.max(0, (k.rhoMass * (anchored ? 0 : k.rhoAtFirst) + earned) / (k.rhoMass + mass));
    });
    const seen = rho.flatMap((value, j) =>
      value > 0 && partners[j]! > 0 ? [{ value, weight: Math.min(partners[j]!, k.refMass) }] : [],
    );
    const half = k.refPart * (seen.length > 0 ? medianOf(seen) : 1);
    const ref = Math.max(half, anchored ? k.refLeastPreTrusted : k.refLeast);
    const next = rho.map((value, j) => (preTrusted.has(j) ? 1 : Math.min(1, value / ref)));
    // Peers without evidence are not among those that are judged.
    const moved = next.map((gate, j) => (volume[j]! > 0 ? Math.abs(gate - t[j]!) : 0));
    if (Math.max(...moved) < k.gateSettled || round === k.gateRounds) return next;
    t = t.map((gate, j) => (gate + next[j]!) / 2);
  }
}

/** Every peer against every other, from the votes on the players that both reported. */
function agreements(votes: readonly Vote[], volume: readonly number[], k: FitNumbers, rounded: Rounded): Agreement[][] {
  const peers = volume.length;
  const bad = sumBy(votes, 'peer', peers, ({ n1, x }) => n1 * x);
  const means = volume.flatMap((mass, j) =>
    mass > 0 ? [{ value: bad[j]! / Math.max(mass, least), weight: Math.min(mass, k.muMass) }] : [],
  );
  const mu = means.length === 0 ? k.muLeast : clip(medianOf(means), k.muLeast, k.muMost);
  const own = volume.map((mass, j) => (bad[j]! + k.ownMass * mu) / (mass + k.ownMass));
  const votesBy = volume.map(() => new Map<number, number>());
  for (const { player, peer, x } of votes) votesBy[peer]!.set(player, x);
  const table = volume.map(() => new Array<Agreement>(peers).fill({ a: 0, w: 0 }));
  for (let j = 0; j < peers; j++) {
    for (let other = 0; other < j; other++) {
      const both = [...votesBy[j]!].filter(([player]) => votesBy[other]!.has(player));
      if (both.length === 0) continue;
      const x = both.map(([, vote]) => vote);
      const y = both.map(([player]) => votesBy[other]!.get(player)!);
      const { a, w } = agreementOf(x, y, mu, own[j]!, own[other]!, k, rounded);
      table[j]![other] = { a: rounded(a), w };
      table[other]![j] = { a: rounded(a), w };
    }
  }
  return table;
}

/** Of two peers' votes on the same players: `x` of one with its mean, `y` of the other with its. */
function agreementOf(
  x: readonly number[],
  y: readonly number[],
  mu: number,
  xMean: number,
  yMean: number,
  k: FitNumbers,
  rounded: Rounded,
): Agreement {
  const n = x.length;
  const around = (centre: number, otherCentre: number) => {
    const u = x.map((vote) => vote - centre);
    const v = y.map((vote) => vote - otherCentre);
    const together = total(u.map((one, i) => one * v[i]!));
    const spread = total(u.map((one) => one * one)) * total(v.map((one) => one * one));
    return { together, spread: Math.sqrt(Math.max(spread, k.leastSpread)) };
  };
  const group = around(mu, mu);
  const own = around(xMean, yMean);
  const isTwoSided = rounded(own.spread) > k.twoSided * Math.max(n, 1);
  const correlation = group.together / group.spread;
  const lesser = isTwoSided ? Math.min(correlation, own.together / own.spread) : correlation;
  const shrunk = (lesser * n) / (n + k.shrunkBefore);
  const a = (clip(shrunk / k.fullAgreement, -1, 1) * n) / (n + k.shrunkAfter);
  return { a, w: Math.min(n, k.pairMass) * (isTwoSided ? 1 : k.oneSidedPart) };
}

/** Stage 2. */
function logOdds(
  votes: readonly Vote[],
  tau: readonly number[],
  { peers, preTrusted }: FittedGroup,
  k: FitNumbers,
): { a: number[]; b: number[]; pi: number } {
  const players = votes.reduce((most, { player }) => Math.max(most, player + 1), 0);
  const mass = sumBy(votes, 'player', players, ({ peer, n1 }) => tau[peer]! * n1);
  const damped = mass.map((m) => Math.max(m / k.repeatsFrom, 1) ** 0.25);
  const greatest = zeros(players);
  for (const { player, peer, n1 } of votes) greatest[player] = Math.max(greatest[player]!, tau[peer]! * n1);
  const known = mass.map((m, i) => {
    const counted = Math.max(0, m - k.leftOut * greatest[i]!);
    return counted / (counted + 1);
  });
  const uncorroborated = new Set(votes.map(({ peer }) => peer)).size > 2 ? k.uncorroborated : 0;
  const judged = votes.map((vote) => {
    const others = Math.max(0, mass[vote.player]! - tau[vote.peer]! * vote.n1);
    const half = others + k.halfCorroborated;
    return { ...vote, om: (vote.n1 * (others + uncorroborated)) / half, seen: (vote.n1 * others) / half };
  });
  const seen = zeros(peers);
  for (const vote of judged) seen[vote.peer]! += vote.seen;
  const byPeer = (figure: (vote: Vote) => number) => {
    const sums = zeros(peers);
    for (const vote of judged) sums[vote.peer]! += vote.om * figure(vote);
    return sums;
  };
  const nb = byPeer(({ x }) => x);
  const ng = byPeer(({ x }) => 1 - x);
  const z = nb.map((bad, j) => Math.min(bad, ng[j]!) / (Math.min(bad, ng[j]!) + k.twoWays));
  const volume = sumBy(votes, 'peer', peers, ({ n1 }) => n1);
  const part = tau.map((gate, j) => gate * Math.min(1, k.groupVotes / Math.max(least, volume[j]!)));
  const bad = total(votes.map(({ peer, n1, x }) => part[peer]! * n1 * x));
  const good = total(votes.map(({ peer, n1, x }) => part[peer]! * n1 * (1 - x)));
  const most = clip(good / (bad + good + least) + k.badMargin, k.badCeilingLeast, k.badCeilingMost);

  let a = tau.map(() => k.oddsAtFirst);
  let b = tau.map(() => k.oddsAtFirst);
  let pi = k.badAtFirst;
  for (let round = 0; round < k.rounds; round++) {
    const pull = sumBy(
      votes,
      'player',
      players,
      ({ peer, n, x }) => tau[peer]! * n * (x * a[peer]! - (1 - x) * b[peer]!),
    );
    const before = pi;
    const q = pull.map((sum, i) => sigmoid(logit(before) + sum / damped[i]!));
    const badPlayers = total(q.map((p, i) => known[i]! * p));
    pi = clip((badPlayers + k.badMass * k.badPrior) / (total(known) + k.badMass), k.badLeast, most);
    const rates = {
      nb,
      ng,
      pb: byPeer(({ player, x }) => x * q[player]!),
      ok: byPeer(({ player, x }) => (1 - x) * (1 - q[player]!)),
      pos: byPeer(({ player }) => q[player]!),
      neg: byPeer(({ player }) => 1 - q[player]!),
    };
    const group = groupOdds(rates, seen, tau, k);
    const fitted = tau.map((_, j) => oddsOf(j, rates, group, z[j]!, pi, preTrusted.has(j), k));
    a = fitted.map((odds) => odds.a);
    b = fitted.map((odds) => odds.b);
  }
  return { a: a.map((odds, j) => Math.min(k.oddsMost, odds * (1 + k.sharper * z[j]!))), b, pi };
}

/** Per peer, each vote by its `om`: what it hit and what there was to hit, as the page names them. */
type Rates = Readonly<Record<'nb' | 'ng' | 'pb' | 'ok' | 'pos' | 'neg', readonly number[]>>;

/** How likely the group's peers are right on bad and on good players, in log-odds: decisions 103 and 106. */
function groupOdds(
  { nb, ng, pb, ok, pos, neg }: Rates,
  seen: readonly number[],
  tau: readonly number[],
  k: FitNumbers,
): { s: number; c: number } {
  const part = tau.map((gate, j) => (gate * Math.min(seen[j]!, k.groupVotes)) / Math.max(least, nb[j]! + ng[j]!));
  const rate = (hit: readonly number[], of: readonly number[]) => {
    const hits = k.groupMass * sigmoid(k.oddsAtFirst) + total(hit.map((sum, j) => part[j]! * sum));
    return hits / (k.groupMass + total(of.map((sum, j) => part[j]! * sum)));
  };
  return { s: logit(rate(pb, pos)), c: logit(rate(ok, neg)) };
}

function oddsOf(
  j: number,
  { nb, ng, pb, ok, pos, neg }: Rates,
  group: { readonly s: number; readonly c: number },
  z: number,
  pi: number,
  isPreTrusted: boolean,
  k: FitNumbers,
): { a: number; b: number } {
  const a0 = isPreTrusted ? k.oddsPreTrusted : k.oddsAtFirst;
  const hitMass = isPreTrusted ? k.massPreTrusted : k.hitMass;
  const voteMass = isPreTrusted ? k.massPreTrusted : k.voteMass;
  const rate = (mass: number, prior: number, hits: number, of: number) => (mass * sigmoid(prior) + hits) / (mass + of);
  const leaning = (ofGroup: number) => (1 - k.groupPart) * a0 + k.groupPart * ofGroup;
  const s = rate(hitMass, leaning(group.s), pb[j]!, pos[j]!);
  const c = rate(hitMass, leaning(group.c), ok[j]!, neg[j]!);
  const ppv = clip(rate(voteMass, a0 + logit(pi), pb[j]!, nb[j]!), k.rateLeast, 1 - k.rateLeast);
  const npv = clip(rate(voteMass, a0 - logit(pi), ok[j]!, ng[j]!), k.rateLeast, 1 - k.rateLeast);
  const a = z * Math.log(s / (1 - c)) + (1 - z) * (logit(ppv) - logit(pi));
  const b = z * Math.log(c / (1 - s)) + (1 - z) * (logit(npv) + logit(pi));
  const low = isPreTrusted ? k.oddsLeastPreTrusted : 0;
  return { a: clip(a, low, k.oddsMost), b: clip(b, low, k.oddsMost) };
}
