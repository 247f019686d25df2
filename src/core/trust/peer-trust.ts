/** Computes the trust of all peers from all evidence: identical bits for identical input. A replay takes the record. */
import type { TrustConstants } from '../evidence/trust-constants.js';
import type { MeasureWeights, PeerColumns } from '../tables/evidence-view.js';
import { weightOf } from '../tables/peer-weights.js';
import type { PeerRelation, WitnessPair } from '../vocabulary.js';
import { joinAllied, joinClones } from './alike-pairs.js';
import { joinCopiedLists } from './copied-lists.js';
import { floodingWitness, followedOnlyFlood } from './flood.js';
import { type Gate, openGates } from './gate.js';
import { fitLogOdds, type LogOdds } from './log-odds.js';
import type { Pairs } from './pair-list.js';
import { type GatheredView, type GroupVotes, gatherVotes } from './sums/gather.js';
import type { OriginFacts } from './votes/origin-votes.js';
import type { Scratch } from './votes/scratch.js';
import type { FitInput, Heard } from './weighed-votes.js';
import { Witnesses } from './witnesses.js';

export interface DiscountedPair extends Pick<WitnessPair, 'first' | 'second'> {
  /** Number of players that both reported. */
  readonly shared: number;
  /** `a`, in (0, 1]. */
  readonly agreement: number;
}

/** Results per peer. An excluded peer has 0 in every numeric column and is its own witness. */
export interface PeerTrust extends Pick<PeerColumns, 'tau' | 'a' | 'b' | 'z' | 'weight' | 'witness'> {
  readonly measures: MeasureWeights;
  /** The group's share of bad players, in (0, 1). */
  readonly pi: number;
  readonly witnessPairs: readonly WitnessPair[];
  /** Pairs shown to operators, at most `pairsReportedMax`, the most conspicuous first. */
  readonly pairs: readonly DiscountedPair[];
}

/** As of `at`, in ms since 1970. With origins, gates come first: they decide which carrier speaks for an origin. */
export function computeGroupTrust(
  view: GatheredView,
  at: number,
  constants: TrustConstants,
  scratch: Scratch,
  relations: readonly PeerRelation[],
): PeerTrust & Pick<GroupVotes, 'sums'> {
  const gather = (gates: Float64Array) => gatherVotes(view, at, constants, scratch.begin(), gates);
  let votes = gather(new Float64Array(view.numbers).fill(1));
  if (votes.facts.origins !== undefined) {
    const { tau } = new Fit(votes, constants, scratch, relations).openGates();
    votes = gather(tau.map((t) => (t > constants.openGate ? t : 0)));
  }
  return { ...computePeerTrust(votes, constants, scratch, relations), sums: votes.sums };
}

class Fit {
  readonly witnesses: Witnesses;
  readonly preTrusted: Uint8Array;
  readonly isOrigin: Uint8Array;
  readonly #votes: GroupVotes;
  readonly #constants: TrustConstants;
  readonly #scratch: Scratch;
  readonly #seniority: Float64Array;

  constructor(votes: GroupVotes, constants: TrustConstants, scratch: Scratch, relations: readonly PeerRelation[]) {
    const { facts, sums } = votes;
    this.#votes = votes;
    this.#constants = constants;
    this.#scratch = scratch;
    this.preTrusted = facts.preTrusted.map((flag, j) => (flag !== 0 && facts.excluded[j] === 0 ? 1 : 0));
    // The operator vouches for pre-trusted peers.
    this.#seniority = Float64Array.from(this.preTrusted, (flag, j) => (flag === 1 ? 1 : (facts.seniority?.[j] ?? 1)));
    this.isOrigin = new Uint8Array(this.preTrusted.length);
    for (const origin of facts.origins?.origins ?? []) this.isOrigin[origin] = 1;
    this.witnesses = new Witnesses(facts.excluded.length, relations);
    joinClones(this.witnesses, sums, constants);
    joinAllied(this.witnesses, sums, constants);
  }

  openGates(): Gate {
    const { sums, facts } = this.#votes;
    const { preTrusted, witnesses, isOrigin } = this;
    const group = { votes: sums, preTrusted, witnesses, isOrigin, c: this.#constants };
    return openGates(group, this.#seniority, facts.joined ?? null);
  }

  odds(): { readonly gate: Gate; readonly input: FitInput; readonly odds: LogOdds } {
    const { sums, judged } = this.#votes;
    const gate = this.openGates();
    const { tau } = gate;
    const flooding = floodingWitness(sums, this.witnesses, this.#constants);
    const finds = ownShares(tau, sums.measures, this.#ownMeasures(flooding), this.#constants);
    // Peers judge an origin; an origin judges no peer.
    const heard: Heard = {
      gate: tau,
      tau: tau.map((t, j) => (this.isOrigin[j] === 1 ? 0 : t)),
      finds: finds.map((share, j) => (this.witnesses.numbers[j] === flooding ? 0 : share)),
      findsClaim: ownShares(tau, sums.badClaims, sums.ownClaims, this.#constants),
    };
    const { witnesses, preTrusted } = this;
    const common = { witnesses, preTrusted, c: this.#constants, scratch: this.#scratch };
    const input = { votes: judged, sums, heard, ...common };
    return { gate, input, odds: fitLogOdds(input) };
  }

  /** Per peer: the measures that followed nobody, or nobody but a witness group that bans nearly everybody. */
  #ownMeasures(flooding: number): Float64Array {
    const { sums, judged } = this.#votes;
    if (flooding < 0) return sums.ownMeasures;
    const shares = followedOnlyFlood(judged, this.witnesses, flooding, this.#scratch.yieldCore);
    return sums.ownMeasures.map((own, j) => own + shares[j]! * sums.measures[j]!);
  }
}

/** Per peer, in [0, 1]: whether it finds bad players itself, by the share `own` / `all` of its lowering evidence. */
function ownShares(tau: Float64Array, all: Float64Array, own: Float64Array, c: TrustConstants): Float64Array {
  return tau.map((t, j) => {
    const found = (t * own[j]! + c.ownPriorMass * c.ownPrior) / (t * all[j]! + c.ownPriorMass);
    return Math.min(1, Math.max(0, (found - c.ownNone) / (c.ownFull - c.ownNone)));
  });
}

/** No returned array shares the memory of `scratch`. `relations`: the operator's declarations about pairs of peers. */
export function computePeerTrust(
  votes: GroupVotes,
  constants: TrustConstants,
  scratch: Scratch,
  relations: readonly PeerRelation[] = [],
): PeerTrust {
  const { sums, part, facts } = votes;
  const fit = new Fit(votes, constants, scratch, relations);
  const { witnesses, preTrusted, isOrigin } = fit;
  let { gate, input, odds } = fit.odds();
  const found = witnesses.pairs.length;
  joinCopiedLists(input, part, odds);
  if (witnesses.pairs.length > found) ({ gate, input, odds } = fit.odds());
  const counted = (values: Float64Array) => values.map((value, j) => (facts.excluded[j] === 0 ? value : 0));
  // A peer without votes is unknown: its first ones count after the next computation. A peer that only carries an
  // origin is known, and agrees with no peer.
  const isKnown = (j: number) => sums.volume[j]! > 0 || preTrusted[j] === 1 || facts.origins?.carries[j] === 1;
  const tau = counted(gate.tau).map((t, j) => (isKnown(j) ? t : 0));
  const a = counted(odds.a);
  const b = counted(odds.b);
  const weight = tau.map((t, j) => weightOf(t, a[j]!, b[j]!, constants.weightReference));
  const z = counted(odds.z);
  const measures = {
    m: counted(odds.m),
    finds: counted(input.heard.finds),
    findsClaim: counted(input.heard.findsClaim),
    measured: odds.measured,
    judged: Uint8Array.from(tau, (_, j) =>
      facts.excluded[j] === 0 && (sums.volume[j]! > 0 || facts.origins?.carries[j] === 1) ? 1 : 0,
    ),
  };
  const witness = witnesses.numbers;
  if (facts.origins !== undefined) {
    weighCarriers({ tau, a, b, z, ...measures, weight, witness }, facts.origins, facts.excluded, constants);
  }
  return {
    tau,
    a,
    b,
    z,
    measures,
    weight,
    witness,
    pi: odds.pi,
    witnessPairs: witnesses.pairs,
    pairs: discountedPairs(gate.pairs, tau, isOrigin, constants),
  };
}

interface Candidate {
  readonly pair: number;
  readonly strength: number;
}

/** Sorted by `w a (1 - max tau)`, which grows with shared players. Only a few of millions of pairs are held. */
function discountedPairs(
  pairs: Pairs,
  tau: Float64Array,
  isOrigin: Uint8Array,
  { pairReportedHalf, pairsReportedMax }: TrustConstants,
): DiscountedPair[] {
  let found: Candidate[] = [];
  let floor = 0;
  for (let pair = 0; pair < pairs.count; pair++) {
    if ((isOrigin[pairs.first[pair]!]! | isOrigin[pairs.second[pair]!]!) === 1) continue;
    const gate = Math.max(tau[pairs.first[pair]!]!, tau[pairs.second[pair]!]!);
    const n = pairs.shared[pair]!;
    const strength = (pairs.weight[pair]! * pairs.agreement[pair]! * (1 - gate) * n) / (n + pairReportedHalf);
    if (strength <= floor) continue;
    found.push({ pair, strength });
    if (found.length < 4 * pairsReportedMax) continue;
    found = strongest(found, pairsReportedMax);
    floor = found.at(-1)!.strength;
  }
  return strongest(found, pairsReportedMax).map(({ pair }) => ({
    first: pairs.first[pair]!,
    second: pairs.second[pair]!,
    shared: pairs.shared[pair]!,
    agreement: pairs.agreement[pair]!,
  }));
}

function strongest(found: readonly Candidate[], count: number): Candidate[] {
  return found.toSorted((p, q) => q.strength - p.strength || p.pair - q.pair).slice(0, count);
}

export type WeightColumns = Pick<PeerColumns, 'tau' | 'a' | 'b' | 'z' | 'weight' | 'witness'> & MeasureWeights;

/** Factor that prevents rounding from giving a carrier more weight than its peer. */
const BELOW = 1 - 2 ** -50;

/** Fills in the columns of carriers, at most their peer's weight, and lowers an origin's gate to its best carrier's. */
export function weighCarriers(
  columns: WeightColumns,
  { origins, carriers }: OriginFacts,
  excluded: Uint8Array,
  { weightReference }: TrustConstants,
): void {
  const { tau, a, b, z, m, finds, findsClaim, measured, judged, weight, witness } = columns;
  const best = new Map<number, number>();
  for (const { index, peer, origin } of carriers) {
    witness[index] = witness[origin]!;
    if (excluded[index] === 1) continue;
    for (const column of [a, b, z, m, finds, findsClaim, measured]) column[index] = column[origin]!;
    judged[index] = judged[peer]!;
    // The unbounded values of weights, from which scores are computed.
    const gate = gateWithin(tau[origin]!, tau[origin]! * (a[origin]! + b[origin]!), tau[peer]! * (a[peer]! + b[peer]!));
    tau[index] = gateWithin(gate, gate * m[origin]!, tau[peer]! * m[peer]!);
    weight[index] = weightOf(tau[index]!, a[index]!, b[index]!, weightReference);
    best.set(origin, Math.max(best.get(origin) ?? 0, tau[index]!));
  }
  for (const origin of origins) {
    tau[origin] = best.get(origin) ?? 0;
    weight[origin] = weightOf(tau[origin]!, a[origin]!, b[origin]!, weightReference);
  }
}

/** Lowers the gate `tau` until the resulting value of a weight is at most `most`. */
function gateWithin(tau: number, value: number, most: number): number {
  return value <= most ? tau : tau * (most / value) * BELOW;
}
