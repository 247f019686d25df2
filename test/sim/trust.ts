/** Computed weights against the oracle's own fit, on evidence that the oracle added up itself. */
import { Random } from '../support/random.js';
import { Difference } from './difference.js';
import { evidenceOf, followsOf, isAtEdge, isSomething, newestEvidence } from './evidence.js';
import type { PeerFact } from './facts.js';
import { fit } from './fit.js';
import { numbers } from './fit-numbers.js';
import { type Columns, columns, type FittedGroup, massOf, type Reported } from './fit-votes.js';
import type { Oracle } from './oracle.js';

/** Largest effect of another order of the same sums, if nothing is in doubt: thousands of roundings at 2^-53 each. */
const rounding = 1e-12;
/** No fit of evidence that is known to a ten millionth moves smoothly by more than this. */
const movedMost = 1e-6;
/** Evidence with a greater error, in events or as a part of it, is not compared. */
const vague = 1e-7;
/** Fits of evidence that is moved within what it may be off, by all of it, a tenth of it and so on. */
const draws = 32;
const scales = [1, 0.1, 0.01, 1e-3, 1e-4];
/**
 * The rounding error of a sum of stage 1, as a part of its terms. It decides between two peers that are alike in all
 * else, and whether a spread that is exactly the least of a two-sided pair counts as one; and a product of differences
 * that cancel out consists of nothing else.
 */
const lastDigits = 2 ** -50;

/** Evidence, and how far each of its sums may be off. */
export interface Weighed extends Reported {
  readonly error: number;
  /** The error of the measure, if it is another. */
  readonly measureError?: number;
}

/** The compared values: per peer, and the share of bad players. */
export interface Weights extends Columns<ArrayLike<number>> {
  readonly witness: ArrayLike<number>;
  readonly pi: number;
}

export type Compared =
  /** Nothing could be said of them: evidence is beyond the range of doubles. */
  | 'in doubt'
  | 'compared'
  /** Compared with what the evidence may be as well: the least of it decides, as where a median is drawn. */
  | 'compared at an edge';

export function checkWeights(oracle: Oracle, computed: Weights & { readonly computed_at: number }): Compared {
  const { pi, computed_at: computedAt } = computed;
  const most = { tau: 1, a: 3.5, b: 3.5, z: 1, m: 4, finds: 1, findsClaim: 1, measured: 1, judged: 1 };
  const unsound = columns.find(
    (name) => !Array.from(computed[name]).every((value) => value >= 0 && value <= most[name]),
  );
  if (unsound !== undefined || !(pi > 0 && pi < 1))
    throw new Difference('weights', `no weights: ${unsound} ${unsound && computed[unsound]}, ${pi}`);
  const { facts } = oracle;
  const carriers = facts.of('carrier');
  const isRevoked = (peer: number) => oracle.statusOf(peer) === 'revoked';
  const group = {
    peers: facts.numbers,
    preTrusted: new Set(oracle.preTrusted),
    revoked: new Set([
      ...facts
        .of('peer')
        .map(({ number }) => number)
        .filter(isRevoked),
      ...carriers.filter(({ peer }) => isRevoked(peer)).map(({ number }) => number),
    ]),
    relations: oracle.relations,
    seniority: seniorityOf(oracle, computedAt),
    joined: joinedOf(oracle, computedAt),
    origins: new Set(facts.of('origin').map(({ number }) => number)),
    carriers,
  };
  const reported = reportedAt(oracle, computedAt);
  return reported === null ? 'in doubt' : compareFit(reported, group, computed);
}

/** Ages count in a group whose third peer has been there for an hour: up to that peer's age, or a day. */
function seniorityOf(oracle: Oracle, at: number): number[] {
  const peers = oracle.facts.of('peer');
  const sent = new Set([...oracle.facts.events.values()].map(({ peer }) => peer));
  const ageOf = (peer: PeerFact) => Math.max(0, at - peer.at);
  const isRevoked = (peer: number) => oracle.statusOf(peer) === 'revoked';
  const reporting = peers.filter(({ number }) => sent.has(number) && !isRevoked(number));
  const third = reporting.map(ageOf).sort((p, q) => q - p)[2] ?? 0;
  const seniority = new Array<number>(oracle.facts.numbers).fill(0);
  for (const peer of peers) {
    seniority[peer.number] = third < 3_600_000 ? 1 : Math.min(1, ageOf(peer) / Math.min(third, 86_400_000));
  }
  // An origin is as old as the oldest of the peers that carry it.
  for (const { peer, origin } of oracle.facts.of('carrier')) {
    if (!isRevoked(peer)) seniority[origin] = Math.max(seniority[origin]!, seniority[peer]!);
  }
  return seniority;
}

/** Whoever registered within a day is new. */
function joinedOf({ facts }: Oracle, at: number) {
  const joinedAt = new Array<number>(facts.numbers).fill(Number.POSITIVE_INFINITY);
  for (const peer of facts.of('peer')) joinedAt[peer.number] = peer.at;
  return { at: joinedAt, newSince: at - 86_400_000 };
}

/** All evidence at a moment; null where what may be missing of some of it could move the fit. */
function reportedAt(oracle: Oracle, now: number): Weighed[] | null {
  const all: Weighed[] = [];
  for (const [player, subject] of oracle.subjects.entries()) {
    // A clock that was set back makes no evidence larger.
    const at = Math.max(now, newestEvidence(oracle, subject));
    const voided = oracle.voidedOf(subject);
    for (const evidence of evidenceOf(oracle, subject, at)) {
      if (voided.has(evidence.sender)) continue;
      const { peer, error } = evidence;
      // A peer whose evidence has faded to nothing still has a vote in the fit, by its share of lowering; where that is
      // in doubt, so is the fit.
      const isShareVague = error > vague * massOf({ player, ...evidence }) && isSomething(evidence);
      if (error > vague || isShareVague || isAtEdge(evidence)) return null;
      all.push({ player, ...evidence, ...followsOf(oracle, subject, peer) });
    }
  }
  return all;
}

/**
 * The tolerance is the effect of the evidence's own errors on this fit, found by moving it within them. If that is more
 * than a smooth fit moves, an edge lies in between: on either side of it the result is right, and must be one of those
 * that were found.
 */
export function compareFit(reported: readonly Weighed[], group: FittedGroup, computed: Weights): Compared {
  const own = fit(reported, group, numbers);
  const off = distance(own, computed);
  if (off <= rounding) return 'compared';
  const random = new Random(reported.length);
  const others = Array.from({ length: draws }, (_, i) => {
    // A last digit that counts in every round of an iteration is most often the same in all of them.
    const ways = [[1, -1], [1], [-1]][i % 3]!;
    const rounded = (value: number, terms = value) => value + terms * lastDigits * random.pick(ways);
    return fit(nudged(reported, scales[i % scales.length]!, random), group, numbers, rounded);
  });
  const moved = Math.max(...others.map((other) => distance(other, own)));
  const tolerance = Math.min(movedMost, rounding + 2 * moved);
  if (off <= tolerance) return 'compared';
  const nearest = Math.min(...others.map((other) => distance(other, computed)));
  if (nearest <= tolerance) return 'compared at an edge';
  throw new Difference(
    'weights',
    `off by ${off} from the oracle's fit, ${nearest} from the nearest of its evidence's bounds (${tolerance})`,
  );
}

function nudged(reported: readonly Weighed[], scale: number, random: Random): Reported[] {
  const move = (sum: number, error: number) =>
    Math.max(0, sum + (sum === 0 ? 0 : error * scale * random.pick([1, -1])));
  return reported.map((one) => ({
    ...one,
    lowering: move(one.lowering, one.error),
    raising: move(one.raising, one.error),
    measure: move(one.measure ?? 0, one.measureError ?? one.error),
  }));
}

/** The greatest difference of any value; infinite where they are of unlike groups. */
function distance(one: Weights, other: Weights): number {
  if (columns.some((name) => one[name].length !== other[name].length)) return Number.POSITIVE_INFINITY;
  if (Array.from(one.witness).join() !== Array.from(other.witness).join()) return Number.POSITIVE_INFINITY;
  const far = columns.flatMap((name) => Array.from(one[name], (value, j) => Math.abs(value - other[name][j]!)));
  return Math.max(Math.abs(one.pi - other.pi), ...far);
}
