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
  /** Claims, and standing measures, of which there are none if absent. */
  readonly lowering: number;
  readonly raising: number;
  readonly measure?: number;
  /** True if the measure, and if the lowering claims, began after those of another peer. */
  readonly follows?: boolean;
  readonly followsClaim?: boolean;
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

/** Columns of numbers per peer, 0 for a revoked one; `measured` is 1 for a peer that took measures that count. */
export const columns = ['tau', 'a', 'b', 'z', 'm', 'finds', 'findsClaim', 'measured'] as const;

export type Columns<T> = Readonly<Record<(typeof columns)[number], T>>;

/** `witness` is the lowest peer of the witness group of each peer, `pi` the share of bad players. */
export interface Fitted extends Columns<readonly number[]> {
  readonly witness: readonly number[];
  readonly pi: number;
}

/** One peer's vote on one player, by the names of the page. */
interface Vote {
  readonly player: number;
  readonly peer: number;
  /** Of all evidence: the share that lowers, and its amount up to 1. */
  readonly x: number;
  readonly n1: number;
  /** Of claims: the share that lowers (0 without claims), and their bounded amounts. */
  readonly cx: number;
  readonly n: number;
  readonly c1: number;
  /** The strength of a standing measure, up to 1; 0 if there is none. */
  readonly a: number;
  readonly follows: boolean;
  readonly followsClaim: boolean;
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
  const counted = { ...last, tau: heard };
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
    for (const name of columns) to[name][number] = fitted[name][origin]!;
    const parts = [(j: number) => tau[j]! * (a[j]! + b[j]!), (j: number) => tau[j]! * m[j]!].map((worth) =>
      worth(origin) <= worth(peer) ? 1 : worth(peer) / worth(origin),
    );
    to.tau[number] = tau[origin]! * Math.min(...parts);
    best.set(origin, Math.max(best.get(origin) ?? 0, to.tau[number]!));
  }
  for (const origin of origins) to.tau[origin] = best.get(origin) ?? 0;
  return { ...to, witness, pi: fitted.pi };
}

/** Sums that rounding alone tells apart weigh the same. */
export function heaviness(vote: number): number {
  return Math.fround(vote);
}

export function massOf({ lowering, raising, measure = 0 }: Reported): number {
  return lowering + raising + measure;
}

/** The bounded amount of claims `c`; at most 1 of it, the strength of a measure. */
export function saturated(c: number, k: FitNumbers): number {
  return (k.saturation * c) / (c + k.half);
}

/**
 * The votes of peers and origins. `gate`: by it the heaviest carrier speaks for its origin; null leaves carried votes
 * out.
 */
function votesOf(
  all: readonly Reported[],
  { revoked, carriers = [] }: FittedGroup,
  gate: readonly number[] | null,
  k: FitNumbers,
): Vote[] {
  const heaviest = new Map<string, { readonly vote: Reported; readonly weight: number }>();
  const reported = [...all]
    .sort((p, q) => p.player - q.player || p.peer - q.peer)
    .filter((one) => {
      const carrier = carriers.find(({ number }) => number === one.peer);
      // Nothing is no vote, however little another carrier says.
      if (revoked.has(one.peer) || massOf(one) === 0) return false;
      if (carrier === undefined) return true;
      if (gate === null) return false;
      const key = `${one.player} ${carrier.origin}`;
      const weight = heaviness(gate[carrier.peer]! * Math.min(massOf(one), 1));
      if (weight > (heaviest.get(key)?.weight ?? Number.NEGATIVE_INFINITY))
        heaviest.set(key, { vote: { ...one, peer: carrier.origin }, weight });
      return false;
    });
  return [...reported, ...[...heaviest.values()].map(({ vote }) => vote)]
    .map(({ player, peer, lowering, raising, measure = 0, follows = false, followsClaim = false }) => {
      const c = lowering + raising;
      const m = c + measure;
      return {
        player,
        peer,
        x: (lowering + measure) / m,
        n1: Math.min(m, 1),
        cx: c > 0 ? lowering / c : 0,
        n: saturated(c, k),
        c1: Math.min(c, 1),
        a: Math.min(saturated(measure, k), 1),
        follows,
        followsClaim,
      };
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

type Pair = readonly [j: number, other: number];

/** Two peers that are alike by a rule, and how close they are. */
interface Alike {
  readonly pair: Pair;
  readonly closeness: number;
}

/** One group of both, unless it would hold two that were declared independent. */
function joined(witness: readonly number[], [j, other]: Pair, relations: readonly Relation[]): readonly number[] {
  const both = [witness[j]!, witness[other]!];
  const [kept, given] = [Math.min(...both), Math.max(...both)];
  const isForbidden = relations.some(({ first, second, relation }) => {
    const [p, q] = [witness[first]!, witness[second]!];
    return relation === 'independent' && p !== q && both.includes(p) && both.includes(q);
  });
  return isForbidden ? witness : witness.map((one) => (one === given ? kept : one));
}

function declaredWitness(peers: number, relations: readonly Relation[]): readonly number[] {
  let witness: readonly number[] = Array.from({ length: peers }, (_, j) => j);
  for (const { first, second, relation } of relations) {
    if (relation === 'same') witness = joined(witness, [first, second], relations);
  }
  return witness;
}

/**
 * Joins witness groups, the closest pair first, where every peer of one is alike to every peer of the other. Two groups
 * that were declared are alike if any two of their peers are.
 */
function join(before: readonly number[], alike: readonly Alike[], relations: readonly Relation[]): readonly number[] {
  const declared = declaredWitness(before.length, relations);
  const key = (p: number, q: number) => [declared[p]!, declared[q]!].sort((one, two) => one - two).join();
  const known = new Set(alike.map(({ pair: [p, q] }) => key(p, q)));
  let witness = before;
  const order = ({ pair: p, closeness: c }: Alike, { pair: q, closeness: d }: Alike) =>
    d - c || p[0] - q[0] || p[1] - q[1];
  for (const { pair } of [...alike].sort(order)) {
    const [one, two] = pair.map((j) => [...witness.keys()].filter((other) => witness[other] === witness[j]));
    if (witness[pair[0]] !== witness[pair[1]] && one!.every((p) => two!.every((q) => known.has(key(p, q)))))
      witness = joined(witness, pair, relations);
  }
  return witness;
}

function pairsOf(peers: number): Pair[] {
  return Array.from({ length: peers }, (_, j) => Array.from({ length: j }, (_, i): Pair => [i, j])).flat();
}

function alliedAndClones(votes: readonly Vote[], { peers, relations = [] }: FittedGroup, k: FitNumbers) {
  const cloned = join(declaredWitness(peers, relations), clones(votes, peers, k), relations);
  return join(cloned, alliedPairs(votes, cloned, k), relations);
}

/** Peers that share most of the smaller one's players and say the same of each. */
function clones(votes: readonly Vote[], peers: number, k: FitNumbers): Alike[] {
  const count = sumBy(votes, 'peer', peers, () => 1);
  const both = shared(votes, peers);
  return pairsOf(peers).flatMap(([j, other]) => {
    const pairs = both(j, other);
    const n = pairs.length;
    if (n < k.sameMin) return [];
    const spread = [0, 1].map((side) => {
      const mean = total(pairs.map((pair) => pair[side]!)) / n;
      return total(pairs.map((pair) => pair[side]! ** 2)) / n - mean ** 2;
    });
    const need = Math.min(...spread) > k.sameSpread ? k.sameShare : k.sameShareOneSided;
    const difference = total(pairs.map(([x, y]) => (x - y) ** 2)) / n;
    const closeness = n / Math.min(count[j]!, count[other]!);
    return closeness >= need && difference <= k.sameDifference ? [{ pair: [j, other] as const, closeness }] : [];
  });
}

/** Peers that took measures about the same players far more often than either does with the other peers. */
function alliedPairs(votes: readonly Vote[], witness: readonly number[], k: FitNumbers): Alike[] {
  const lists = listsOf(
    votes.filter(({ a }) => a > 0),
    witness.length,
  );
  const shares = pairsOf(witness.length)
    .filter(([j, other]) => {
      return witness[j] !== witness[other] && Math.min(lists[j]!.size, lists[other]!.size) >= k.alliedMin;
    })
    .map((pair) => ({ pair, ...common(lists, pair) }));
  const isClose = ({ n, share }: (typeof shares)[number]) => n >= k.alliedMin && share >= k.alliedShare;
  const usual = (j: number) => {
    const others = shares.filter((one) => one.pair.includes(j) && !isClose(one)).map(({ share }) => share);
    if (others.length === 0) return 1;
    others.sort((p, q) => p - q);
    return (others[Math.floor((others.length - 1) / 2)]! + others[Math.floor(others.length / 2)]!) / 2;
  };
  return shares
    .filter(isClose)
    .filter(({ pair, share }) => share >= k.alliedTimes * Math.max(...pair.map(usual)))
    .map(({ pair, share }) => ({ pair, closeness: share }));
}

/** The players of each peer's votes. */
function listsOf(votes: readonly Vote[], peers: number): ReadonlySet<number>[] {
  const lists = Array.from({ length: peers }, () => new Set<number>());
  for (const { player, peer } of votes) lists[peer]!.add(player);
  return lists;
}

/** The players on the lists of both, by their number and as a share of the smaller list. */
function common(lists: readonly ReadonlySet<number>[], [j, other]: Pair) {
  const [one, two] = [lists[j]!, lists[other]!];
  const n = [...one].filter((player) => two.has(player)).length;
  return { n, share: n / Math.max(1, Math.min(one.size, two.size)) };
}

/** Peers whose lists hold the same mistakes, or the same players where both only report. */
function copiedLists(
  votes: readonly Vote[],
  fitted: Stage2,
  before: readonly number[],
  { relations = [], origins = new Set() }: FittedGroup,
  k: FitNumbers,
): readonly number[] {
  const peers = before.length;
  const seen = listsOf(votes, peers);
  const lists = listsOf(
    votes.filter(({ x }) => x > 0.5),
    peers,
  );
  const isNear = (j: number, other: number) => {
    const { n, share } = common(lists, [j, other]);
    return j === other || (n >= k.listMin && share >= k.listShare);
  };
  const others = (j: number) => before.map((_, other) => other).filter((other) => other !== j);
  const isConsensus = before.map((_, j) => {
    const neighbours = others(j).filter((other) => common(seen, [j, other]).n >= k.listMin);
    return others(j).filter((other) => isNear(j, other)).length > 0.5 * neighbours.length;
  });
  const alike = pairsOf(peers).flatMap((pair) => {
    const [j, other] = pair;
    if (before[j] === before[other] || !isNear(j, other) || (isConsensus[j] && isConsensus[other])) return [];
    const { n, share } = common(lists, pair);
    const [small, large] = lists[j]!.size <= lists[other]!.size ? [j, other] : [other, j];
    const isRest = before.map((_, peer) => !isNear(j, peer) && !isNear(other, peer));
    const rest = votes.map((vote, i) => ({ ...vote, l: fitted.l[i]! })).filter(({ peer }) => isRest[peer]!);
    const mistakes = [...lists[small]!].filter((player) => {
      const about = rest.filter((vote) => vote.player === player);
      const clearing = total(
        about.map(({ peer, c1 }) => (origins.has(peer) ? 0 : fitted.tau[peer]! * c1 * fitted.z[peer]!)),
      );
      return clearing > k.listSeen && sigmoid(-(total(about.map(({ l }) => l)) + logit(fitted.pi))) > k.listSure;
    });
    const repeated = mistakes.filter((player) => lists[large]!.has(player)).length;
    const onlyReport =
      Math.max(fitted.z[j]!, fitted.z[other]!) < k.listOnlySided && n >= k.listOnlyMin && share >= k.listOnlyShare;
    const copies = mistakes.length >= k.listMin && repeated >= k.listMistakes * mistakes.length;
    return onlyReport || copies ? [{ pair, closeness: share }] : [];
  });
  return join(before, alike, relations);
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
        const earned = row.map(({ a, w }, other) => w * t[other]! * a);
        const mass = total(row.map(({ w }, other) => w * t[other]!));
        const first = k.gatePrior * (anchored ? 0 : k.gateAtFirst);
        // Whether a peer has a reputation at all may be a matter of the last digit.
        return Math.max(0, rounded(first + total(earned), total(earned.map(Math.abs))) / (k.gatePrior + mass));
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

/** All of `n` for a two-sided peer; half of what is above 1 for one that only reports. */
export function strengthOf(n: number, z: number, k: FitNumbers): number {
  return n > 1 ? 1 + (n - 1) * (k.repeat + (1 - k.repeat) * z) : n;
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
