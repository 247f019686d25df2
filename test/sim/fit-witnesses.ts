/** Witness groups, a second time: which peers count as one. */
import type { FitNumbers } from './fit-numbers.js';
import { type FittedGroup, logit, type Relation, shared, sigmoid, sumBy, total, type Vote } from './fit-votes.js';

/** Log-odds of each vote, gates, two-sidedness and the share of bad players: copied lists are judged by them. */
interface Judgement {
  readonly l: readonly number[];
  readonly tau: readonly number[];
  readonly z: readonly number[];
  readonly pi: number;
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

export function alliedAndClones(votes: readonly Vote[], { peers, relations = [] }: FittedGroup, k: FitNumbers) {
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
export function copiedLists(
  votes: readonly Vote[],
  fitted: Judgement,
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
    const sharesMistakes = mistakes.length >= k.listMin && repeated >= k.listMistakes * mistakes.length;
    return onlyReport || sharesMistakes ? [{ pair, closeness: share }] : [];
  });
  return join(before, alike, relations);
}
