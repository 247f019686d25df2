/**
 * The fit of peer weights, a second time: written from the scoring page and its reference in numpy, and from none of
 * the service's code. It is the shortest way from the page's formulas to numbers, matrices and all: a group here is
 * small.
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
  /** How far each peer counts for its age, in [0, 1]; absent: all in full. */
  readonly seniority?: readonly number[];
  /** Registration time of each peer in ms, infinite for other numbers; and the time from which a peer counts as new. */
  readonly joined?: { readonly at: readonly number[]; readonly newSince: number };
  /** The operator's declarations, ordered by peers. */
  readonly relations?: readonly Relation[];
  /** Numbers of origins, which stand among the peers, and their carriers, whose votes are those of their origins. */
  readonly origins?: ReadonlySet<number>;
  readonly carriers?: readonly { readonly number: number; readonly peer: number; readonly origin: number }[];
}

export interface Relation {
  readonly first: number;
  readonly second: number;
  readonly relation: 'same' | 'independent';
}

/** Per peer, 0 for a revoked one; `witness` is the lowest peer of its witness group, `pi` the share of bad players. */
export interface Fitted {
  readonly tau: readonly number[];
  readonly a: readonly number[];
  readonly b: readonly number[];
  readonly z: readonly number[];
  readonly witness: readonly number[];
  readonly pi: number;
}

/** One peer's vote on one player: `x` is the share of lowering evidence, `n` and `n1` are the amounts of the vote. */
interface Vote {
  readonly player: number;
  readonly peer: number;
  readonly x: number;
  readonly n: number;
  readonly n1: number;
}

/** Nothing is divided by less, as in the reference. */
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
  figure: (vote: Vote, i: number) => number,
): number[] {
  const sums = zeros(length);
  votes.forEach((vote, i) => {
    sums[vote[by]]! += figure(vote, i);
  });
  return sums;
}

/**
 * Stands for the last digits of what stage 1 decides by, where there is another way to add it up. `terms` is the size
 * of the terms of a sum that may cancel out; without it, the value is as large as its terms.
 */
export type Rounded = (value: number, terms?: number) => number;

export function fit(
  reported: readonly Reported[],
  group: FittedGroup,
  k: FitNumbers,
  rounded: Rounded = (value) => value,
): Fitted {
  const votes = votesOf(reported, group, k);
  const relations = group.relations ?? [];
  const single = clones(votes, group.peers, relations, k);
  const first = logOdds(votes, single, group, k, rounded);
  const witness = copiedLists(votes, first, single, relations, group.origins ?? new Set(), k);
  const { tau, a, b, z, pi } = witness.join() === single.join() ? first : logOdds(votes, witness, group, k, rounded);
  const counted = (values: readonly number[]) => values.map((value, j) => (group.revoked.has(j) ? 0 : value));
  const spoke = new Set(votes.map(({ peer }) => peer));
  for (const { number, peer } of group.carriers ?? []) {
    // A peer that only carries something is known, and agrees with nobody.
    if (!group.revoked.has(number) && reported.some((one) => one.peer === number && one.lowering + one.raising > 0))
      spoke.add(peer);
  }
  const heard = tau.map((gate, j) => (spoke.has(j) || group.preTrusted.has(j) ? gate : 0));
  return carried({ tau: counted(heard), a: counted(a), b: counted(b), z: counted(z), witness, pi }, group);
}

/** Carried evidence counts with the origin's weight, and with no more than that of the peer that carries it. */
function carried(fitted: Fitted, { origins = new Set(), carriers = [], revoked }: FittedGroup): Fitted {
  const { pi } = fitted;
  const [tau, a, b, z, witness] = [fitted.tau, fitted.a, fitted.b, fitted.z, fitted.witness].map((one) => [...one]);
  const weight = (j: number) => clip((tau![j]! * (a![j]! + b![j]!)) / 4, 0, 1);
  const own = tau!.map((_, j) => weight(j));
  const best = new Map<number, number>();
  for (const { number, peer, origin } of carriers) {
    witness![number] = witness![origin]!;
    if (revoked.has(number)) continue;
    for (const column of [a!, b!, z!]) column[number] = column[origin]!;
    const part = own[origin]! <= own[peer]! ? 1 : own[peer]! / own[origin]!;
    tau![number] = fitted.tau[origin]! * part;
    best.set(origin, Math.max(best.get(origin) ?? 0, tau![number]!));
  }
  for (const origin of origins) tau![origin] = best.get(origin) ?? 0;
  return { tau: tau!, a: a!, b: b!, z: z!, witness: witness!, pi };
}

/** Sums that rounding alone tells apart weigh the same. */
export function heaviness(vote: number): number {
  return Math.fround(vote);
}

function votesOf(all: readonly Reported[], { revoked, carriers = [] }: FittedGroup, k: FitNumbers): Vote[] {
  const originOf = new Map(carriers.map(({ number, origin }) => [number, origin]));
  const heaviest = new Map<string, Reported>();
  const reported = all.filter((one) => {
    const origin = originOf.get(one.peer);
    if (origin === undefined || revoked.has(one.peer)) return origin === undefined;
    // Nothing is no vote, however little another carrier says.
    if (one.lowering + one.raising === 0) return false;
    const key = `${one.player} ${origin}`;
    const other = heaviest.get(key);
    const isHeavier =
      other === undefined || heaviness(one.lowering + one.raising) > heaviness(other.lowering + other.raising);
    if (isHeavier) heaviest.set(key, { ...one, peer: origin });
    return false;
  });
  return [...reported, ...heaviest.values()]
    .flatMap(({ player, peer, lowering, raising }) => {
      const m = lowering + raising;
      if (m === 0 || revoked.has(peer)) return [];
      const n = (k.saturation * m) / (m + k.half);
      return [{ player, peer, x: lowering / m, n, n1: Math.min(m, 1) }];
    })
    .sort((p, q) => p.player - q.player || p.peer - q.peer);
}

/** Per pair of peers the votes of both on the players that both reported. */
function shared(votes: readonly Vote[], peers: number): (j: number, other: number) => [number, number][] {
  const by = Array.from({ length: peers }, () => new Map<number, number>());
  for (const { player, peer, x } of votes) by[peer]!.set(player, x);
  return (j, other) =>
    [...by[j]!].flatMap(([player, x]): [number, number][] => {
      const y = by[other]!.get(player);
      return y === undefined ? [] : [[x, y]];
    });
}

/** One group of both, unless it would hold two that were declared independent. */
function joined(witness: readonly number[], j: number, other: number, relations: readonly Relation[]): number[] {
  const [p, q] = [witness[j]!, witness[other]!];
  const isForbidden = relations.some(({ first, second, relation }) => {
    const both = [witness[first]!, witness[second]!].sort((one, two) => one - two);
    return relation === 'independent' && p !== q && both[0] === Math.min(p, q) && both[1] === Math.max(p, q);
  });
  if (isForbidden) return [...witness];
  return witness.map((one) => (one === Math.max(p, q) ? Math.min(p, q) : one));
}

/** Peers that share most of the smaller one's players and say the same of each. */
function clones(votes: readonly Vote[], peers: number, relations: readonly Relation[], k: FitNumbers): number[] {
  let witness = Array.from({ length: peers }, (_, j) => j);
  for (const { first, second, relation } of relations) {
    if (relation === 'same') witness = joined(witness, first, second, relations);
  }
  const count = sumBy(votes, 'peer', peers, () => 1);
  const both = shared(votes, peers);
  for (let j = 0; j < peers; j++) {
    for (let other = j + 1; other < peers; other++) {
      const pairs = both(j, other);
      const n = pairs.length;
      if (n < k.sameMin) continue;
      const spread = [0, 1].map((side) => {
        const mean = total(pairs.map((pair) => pair[side]!)) / n;
        return total(pairs.map((pair) => pair[side]! ** 2)) / n - mean ** 2;
      });
      const need = Math.min(...spread) > k.sameSpread ? k.sameShare : k.sameShareOneSided;
      const difference = total(pairs.map(([x, y]) => (x - y) ** 2)) / n;
      const isClone = n / Math.min(count[j]!, count[other]!) >= need && difference <= k.sameDifference;
      if (isClone) witness = joined(witness, j, other, relations);
    }
  }
  return witness;
}

/** Peers whose lists hold the same mistakes, or the same players where both only report. */
function copiedLists(
  votes: readonly Vote[],
  fitted: Stage2,
  before: readonly number[],
  relations: readonly Relation[],
  origins: ReadonlySet<number>,
  k: FitNumbers,
): number[] {
  const peers = before.length;
  let witness = [...before];
  const lists = Array.from({ length: peers }, () => new Set<number>());
  const seen = Array.from({ length: peers }, () => new Set<number>());
  for (const { player, peer, x } of votes) {
    seen[peer]!.add(player);
    if (x > 0.5) lists[peer]!.add(player);
  }
  const common = (one: ReadonlySet<number>, other: ReadonlySet<number>) =>
    [...one].filter((player) => other.has(player)).length;
  const alike = (j: number, other: number) => {
    const n = common(lists[j]!, lists[other]!);
    return { n, share: n / Math.max(1, Math.min(lists[j]!.size, lists[other]!.size)) };
  };
  const isNear = (j: number, other: number) => {
    const { n, share } = alike(j, other);
    return j === other || (n >= k.listMin && share >= k.listShare);
  };
  const others = (j: number) => before.map((_, other) => other).filter((other) => other !== j);
  const isConsensus = before.map((_, j) => {
    const neighbours = others(j).filter((other) => common(seen[j]!, seen[other]!) >= k.listMin);
    return others(j).filter((other) => isNear(j, other)).length > 0.5 * neighbours.length;
  });
  for (let j = 0; j < peers; j++) {
    for (let other = j + 1; other < peers; other++) {
      if (!isNear(j, other) || (isConsensus[j] && isConsensus[other])) continue;
      const { n, share } = alike(j, other);
      const [small, large] = lists[j]!.size <= lists[other]!.size ? [j, other] : [other, j];
      const rest = votes
        .map((vote, i) => ({ ...vote, l: fitted.l[i]! }))
        .filter(({ peer }) => !isNear(j, peer) && !isNear(other, peer));
      const mistakes = [...lists[small]!].filter((player) => {
        const about = rest.filter((vote) => vote.player === player);
        const clearing = total(
          about.map(({ peer, n1 }) => (origins.has(peer) ? 0 : fitted.tau[peer]! * n1 * fitted.z[peer]!)),
        );
        return clearing > k.listSeen && sigmoid(-(total(about.map(({ l }) => l)) + logit(fitted.pi))) > k.listSure;
      });
      const repeated = mistakes.filter((player) => lists[large]!.has(player)).length;
      const onlyReport =
        Math.max(fitted.z[j]!, fitted.z[other]!) < k.listOnlySided && n >= k.listOnlyMin && share >= k.listOnlyShare;
      const copies = mistakes.length >= k.listMin && repeated >= k.listMistakes * mistakes.length;
      if (onlyReport || copies) witness = joined(witness, j, other, relations);
    }
  }
  return witness;
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

/** Peer `j`'s comparison with another peer: the agreement and its weight; 0 for both if they share no player. */
interface Agreement {
  readonly a: number;
  readonly w: number;
  /** As how much of a peer the other counts. */
  readonly part: number;
}

/** Stage 1: without the new peers that those before them contradict, where there are any. */
function gates(
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
        const earned = total(row.map(({ a, w }, other) => w * t[other]! * a));
        const mass = total(row.map(({ w }, other) => w * t[other]!));
        return Math.max(0, (k.gatePrior * (anchored ? 0 : k.gateAtFirst) + earned) / (k.gatePrior + mass));
      });
      const seen = rho.flatMap((value, j) =>
        value > 0 && partners[j]! > 0 ? [{ value, weight: Math.min(partners[j]!, k.gateMass) / size[j]! }] : [],
      );
      const half = k.gateHalf * (seen.length > 0 ? medianOf(seen) : 1);
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
  const mu = means.length === 0 ? k.muLeast : clip(medianOf(means), k.muLeast, k.muMost);
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

interface Stage2 extends Omit<Fitted, 'witness'> {
  /** Per vote, in the last round: what it adds to the log-odds of its player. */
  readonly l: readonly number[];
}

/** Stage 2. */
function logOdds(
  votes: readonly Vote[],
  witness: readonly number[],
  group: FittedGroup,
  k: FitNumbers,
  rounded: Rounded,
): Stage2 {
  const { peers, preTrusted } = group;
  const gated0 = gates(votes, witness, group, k, rounded);
  const tau = gated0.map((gate, j) => (group.origins?.has(j) ? 0 : gate));
  const players = votes.reduce((most, { player }) => Math.max(most, player + 1), 0);
  const lead = leads(votes, witness, tau);
  const voice = votes.map(({ peer, n1 }, i) => tau[peer]! * n1 * lead[i]!);
  const low = sumBy(votes, 'peer', peers, ({ n1, x }) => n1 * x);
  const high = sumBy(votes, 'peer', peers, ({ n1, x }) => n1 * (1 - x));
  const sided = (lowering: readonly number[], raising: readonly number[]) =>
    lowering.map((one, j) => Math.min(one, raising[j]!) / (Math.min(one, raising[j]!) + k.twoSided));

  /**
   * Per vote what the others tell about it, each by a factor, with its sums per peer over lowering and raising votes.
   */
  const summarized = (factor: readonly number[]) => {
    const v = votes.map(({ peer }, i) => voice[i]! * factor[peer]!);
    const all = sumBy(votes, 'player', players, (_, i) => v[i]!);
    const om = votes.map(({ player, n1 }, i) => {
      const other = Math.max(0, all[player]! - v[i]!);
      return (n1 * other) / (other + k.kappa);
    });
    return {
      om,
      lowers: sumBy(votes, 'peer', peers, ({ x }, i) => om[i]! * x),
      raises: sumBy(votes, 'peer', peers, ({ x }, i) => om[i]! * (1 - x)),
    };
  };

  let z = sided(low, high);
  let om = zeros(votes.length);
  for (let pass = 0; pass < 3; pass++) {
    const judged = summarized(z);
    om = judged.om;
    z = sided(judged.lowers, judged.raises);
  }
  const volume = low.map((one, j) => tau[j]! * Math.min(one + high[j]!, k.twoSidedMass));
  const share = total(volume.map((mass, j) => mass * z[j]!)) / Math.max(total(volume), 1e-9);
  const scale = Math.min(1, share / k.twoSidedShare);
  z = z.map((one) => one * scale);
  om = om.map((one) => one * scale);
  const any = summarized(z.map(() => 1));
  const known = sumBy(votes, 'player', players, ({ peer }, i) => voice[i]! * z[peer]!).map((sum) => sum / (sum + 1));
  const pull = votes.map(({ peer, n }, i) => {
    const strength = n > 1 ? 1 + (n - 1) * (k.repeat + (1 - k.repeat) * z[peer]!) : n;
    return tau[peer]! * lead[i]! * strength;
  });

  let pi = k.prevalence;
  const mixed = (j: number, two: number, one: number) => z[j]! * two + (1 - z[j]!) * one;
  let a = tau.map((_, j) => mixed(j, Math.log(k.recall / (1 - k.specificity)), k.reportOdds));
  let b = tau.map((_, j) => mixed(j, Math.log(k.specificity / (1 - k.recall)), k.praiseOdds));
  let l = zeros(votes.length);
  const inside = (p: number) => clip(p, k.inside, 1 - k.inside);
  for (let round = 0; round < k.rounds; round++) {
    l = votes.map(({ peer, x }, i) => pull[i]! * (x * a[peer]! - (1 - x) * b[peer]!));
    const before = pi;
    const q = sumBy(votes, 'player', players, (_, i) => l[i]!).map((sum) => sigmoid(logit(before) + sum));
    const seenBad = total(q.map((p, i) => known[i]! * p)) + k.prevalencePrior * k.prevalence;
    pi = clip(seenBad / (total(known) + k.prevalencePrior), k.prevalenceMin, k.prevalenceMax);
    const byPeer = (weights: readonly number[], figure: (x: number, q: number) => number) =>
      sumBy(votes, 'peer', peers, ({ player, x }, i) => weights[i]! * figure(x, q[player]!));
    const bad = byPeer(om, (_, p) => p);
    const good = byPeer(om, (_, p) => 1 - p);
    const badLow = byPeer(om, (x, p) => x * p);
    const goodHigh = byPeer(om, (x, p) => (1 - x) * (1 - p));
    const pooled = (hits: readonly number[], of: readonly number[], prior: number) => {
      const weighed = (values: readonly number[]) => total(values.map((value, j) => z[j]! * tau[j]! * value));
      return (k.poolPrior * prior + weighed(hits)) / (k.poolPrior + weighed(of));
    };
    const recall = pooled(badLow, bad, k.recall);
    const specificity = pooled(goodHigh, good, k.specificity);
    const low1 = byPeer(any.om, (x, p) => x * p);
    const high1 = byPeer(any.om, (x, p) => (1 - x) * (1 - p));
    const gated = (values: readonly number[]) => total(values.map((value, j) => tau[j]! * value));
    const lowMean = (gated(low1) + 1) / (gated(any.lowers) + 1 / Math.max(pi, 0.02));
    const highMean = (gated(high1) + 9) / (gated(any.raises) + 10);
    const better = (mean: number, hits: number, of: number) =>
      clip(
        logit(inside((k.relativePrior * mean + hits) / (k.relativePrior + of))) - logit(mean),
        -k.relativeDown,
        k.relativeUp,
      );
    const fitted = tau.map((_, j) => {
      const prior = k.peerPrior * (preTrusted.has(j) ? 2 : 1);
      const s = inside((prior * recall + badLow[j]!) / (prior + bad[j]!));
      const c = inside((prior * specificity + goodHigh[j]!) / (prior + good[j]!));
      const report = Math.max(0, k.reportOdds + better(lowMean, low1[j]!, any.lowers[j]!));
      const praise = Math.max(0, k.praiseOdds + better(highMean, high1[j]!, any.raises[j]!));
      const least = preTrusted.has(j) ? [mixed(j, k.floor, k.reportOdds), mixed(j, k.floor, k.praiseOdds)] : [0, 0];
      return {
        a: Math.max(least[0]!, clip(mixed(j, Math.log(s / (1 - c)), report), 0, k.oddsMax)),
        b: Math.max(least[1]!, clip(mixed(j, Math.log(c / (1 - s)), praise), 0, k.oddsMax)),
      };
    });
    a = fitted.map((odds) => odds.a);
    b = fitted.map((odds) => odds.b);
  }
  return { tau: gated0, a, b, z, pi, l };
}

/**
 * 1 for the vote that speaks for its witness about its player, else 0: the heaviest, of equal ones that of the lowest
 * peer.
 */
function leads(votes: readonly Vote[], witness: readonly number[], tau: readonly number[]): number[] {
  const weight = ({ peer, n1 }: Vote) => tau[peer]! * n1;
  const about = new Map<number, Vote[]>();
  for (const vote of votes) about.set(vote.player, [...(about.get(vote.player) ?? []), vote]);
  return votes.map((vote) => {
    const rivals = about.get(vote.player)!.filter(({ peer }) => witness[peer] === witness[vote.peer]);
    const best = rivals.reduce((first, other) => (heaviness(weight(other)) > heaviness(weight(first)) ? other : first));
    return best.peer === vote.peer ? 1 : 0;
  });
}
