/** The votes of a group, from which the fit of peer weights is computed, and the small functions that it takes. */
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

/**
 * Columns of numbers per peer, 0 for a revoked one; `measured` is 1 for a peer that took measures that count, `judged`
 * for one whose evidence was there.
 */
export const columns = ['tau', 'a', 'b', 'z', 'm', 'finds', 'findsClaim', 'measured', 'judged'] as const;

export type Columns<T> = Readonly<Record<(typeof columns)[number], T>>;

/** One peer's vote on one player, by the names of the page. */
export interface Vote {
  readonly player: number;
  readonly peer: number;
  /** All evidence: the share that lowers, and its amount up to 1. */
  readonly x: number;
  readonly n1: number;
  /** Claims: the share that lowers (0 without claims), and their bounded amounts. */
  readonly cx: number;
  readonly n: number;
  readonly c1: number;
  /** The strength of a standing measure, up to 1; 0 if there is none. */
  readonly a: number;
  readonly follows: boolean;
  readonly followsClaim: boolean;
}

/** Nothing is divided by less, as in the reference. */
export const least = 1e-9;
export const clip = (value: number, low: number, high: number) => Math.max(low, Math.min(high, value));
export const logit = (p: number) => Math.log(p) - Math.log1p(-p);
export const sigmoid = (odds: number) => 1 / (1 + Math.exp(-clip(odds, -60, 60)));
export const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);
export const zeros = (length: number) => new Array<number>(length).fill(0);

/** Sums of a figure of the votes by peer, or by player. */
export function sumBy(
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

/** All of `n` for a two-sided peer; half of what is above 1 for one that only reports. */
export function strengthOf(n: number, z: number, k: FitNumbers): number {
  return n > 1 ? 1 + (n - 1) * (k.repeat + (1 - k.repeat) * z) : n;
}

/** Sums that rounding alone tells apart weigh the same. */
export const heaviness = (vote: number): number => Math.fround(vote);

export const massOf = ({ lowering, raising, measure = 0 }: Reported): number => lowering + raising + measure;

/** The bounded amount of claims `c`; at most 1 of it, the strength of a measure. */
export const saturated = (c: number, k: FitNumbers): number => (k.saturation * c) / (c + k.half);

/**
 * The votes of peers and origins. `gate`: by it the heaviest carrier speaks for its origin; null leaves carried votes
 * out.
 */
export function votesOf(
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
      if (!(gate[carrier.peer]! > k.openGate)) return false;
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
export function shared(votes: readonly Vote[], peers: number): (j: number, other: number) => [number, number][] {
  const by = Array.from({ length: peers }, () => new Map<number, number>());
  for (const { player, peer, x } of votes) by[peer]!.set(player, x);
  return (j, other) =>
    [...by[j]!].flatMap(([player, x]): [number, number][] => {
      const y = by[other]!.get(player);
      return y === undefined ? [] : [[x, y]];
    });
}
