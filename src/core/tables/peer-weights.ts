/** Stores the values of each peer that reads use. Derived; therefore not in snapshots and digests. */
import { doubled } from '../columns/segment.js';
import { logit } from '../evidence/evidence.js';
import { trustConstants as k } from '../evidence/trust-constants.js';
import type { Peers } from '../peers/peers.js';
import type { Origins } from '../registers/origins.js';
import type { MeasureWeights, PeerColumns } from './evidence-view.js';

/** Weights as a record published them, indexed by number of the peer. */
export interface Weights {
  readonly basedOnSeq: number;
  /** ms since 1970; null before the first computation. */
  readonly computedAt: number | null;
  /** The group's share of bad players, in (0, 1). */
  readonly pi: number;
  readonly tau: Float64Array;
  readonly a: Float64Array;
  readonly b: Float64Array;
  /** Two-sidedness, and lowest peer of the group; null before the first computation: one-sided, and alone. */
  readonly z: Float64Array | null;
  readonly witness: Uint16Array | null;
  /** Null in weights of earlier versions of scoring: until the next computation, measures count by their constants. */
  readonly measures: MeasureWeights | null;
}

export const noWeights: Weights = {
  basedOnSeq: 0,
  computedAt: null,
  // The value that every release wrote before the first computation; no read uses it.
  pi: 0.5,
  tau: new Float64Array(0),
  a: new Float64Array(0),
  b: new Float64Array(0),
  z: null,
  witness: null,
  measures: null,
};

/** The weight of claims with the log-odds `a` and `b`, or of measures with the log-odds `a`, in [0, 1]. */
export function weightOf(tau: number, a: number, b = 0, reference: number = k.weightReference): number {
  return Math.min(1, Math.max(0, (tau * (a + b)) / (2 * reference)));
}

/** The weight that operators see: the larger one for a peer that took measures. */
function publishedWeight(claims: number, measures: number, tookMeasures: boolean): number {
  return tookMeasures ? Math.max(claims, measures) : claims;
}

/** Log-odds from an unknown player to `suspicious` if all witnesses are two-sided; `pi`: share of bad players. */
function suspiciousDistance(pi: number): number {
  return Math.max(k.suspiciousLogOdds - logit(pi), k.suspiciousDistanceMin);
}

/** The parts of a state from which the columns are derived. */
interface WeightsSource {
  readonly weights: Weights;
  readonly preTrusted: readonly number[];
  readonly peers: Pick<Peers, 'has' | 'at'>;
  readonly origins: Pick<Origins, 'carriers' | 'carrierAt'>;
  readonly numbers: number;
}

const PEERS_AT_FIRST = 64;

export class PeerWeights implements PeerColumns {
  tau = new Float64Array(PEERS_AT_FIRST);
  a = new Float64Array(PEERS_AT_FIRST);
  b = new Float64Array(PEERS_AT_FIRST);
  z = new Float64Array(PEERS_AT_FIRST);
  m = new Float64Array(PEERS_AT_FIRST);
  finds = new Float64Array(PEERS_AT_FIRST);
  findsClaim = new Float64Array(PEERS_AT_FIRST);
  weight = new Float64Array(PEERS_AT_FIRST);
  measureWeight = new Float64Array(PEERS_AT_FIRST);
  published = new Float64Array(PEERS_AT_FIRST);
  witness = new Uint16Array(PEERS_AT_FIRST);
  isGrouped = new Uint8Array(PEERS_AT_FIRST);
  sender = new Uint16Array(PEERS_AT_FIRST);
  preTrusted = new Uint8Array(PEERS_AT_FIRST);
  excluded = new Uint8Array(PEERS_AT_FIRST);
  distance = suspiciousDistance(k.badSharePrior);

  refresh(source: WeightsSource): void {
    const { z, witness, pi } = source.weights;
    this.distance = suspiciousDistance(z === null ? k.badSharePrior : pi);
    for (let number = 0; number < source.numbers; number++) this.refreshPeer(source, number);
    this.isGrouped.fill(0);
    markGroups(this, witness?.length ?? 0, source.origins.carriers);
  }

  refreshPeer(source: WeightsSource, peer: number): void {
    if (peer >= this.tau.length) this.#grow();
    const carrier = source.origins.carrierAt(peer);
    const { weights, preTrusted } = source;
    const known = peer < weights.tau.length;
    const isPreTrusted = preTrusted.includes(peer);
    // A peer without computed weights has gate 0, unless it is pre-trusted, which means that the operator vouches for
    // it.
    const tau = known ? weights.tau[peer]! : +isPreTrusted;
    const a = known ? weights.a[peer]! : k.reportOdds;
    const b = known ? weights.b[peer]! : k.praiseOdds;
    this.tau[peer] = tau;
    this.a[peer] = a;
    this.b[peer] = b;
    this.z[peer] = known ? (weights.z?.[peer] ?? 0) : 0;
    const measures = known ? weights.measures : null;
    const m = measures?.m[peer] ?? k.measureOdds;
    this.m[peer] = m;
    this.finds[peer] = measures?.finds[peer] ?? 1;
    this.findsClaim[peer] = measures?.findsClaim[peer] ?? 1;
    this.weight[peer] = weightOf(tau, a, b);
    this.measureWeight[peer] = weightOf(tau, m);
    const tookMeasures = measures?.measured[peer] === 1;
    this.published[peer] = publishedWeight(this.weight[peer]!, this.measureWeight[peer]!, tookMeasures);
    const alone = carrier?.origin ?? peer;
    this.witness[peer] = known ? (weights.witness?.[peer] ?? alone) : alone;
    if (carrier !== undefined) this.isGrouped[peer] = CARRIES;
    this.preTrusted[peer] = isPreTrusted ? 1 : 0;
    const sender = carrier?.peer ?? peer;
    this.sender[peer] = sender;
    // No evidence is held under the number of an origin itself.
    this.excluded[peer] = source.peers.has(sender) && source.peers.at(sender).status === 'revoked' ? 1 : 0;
  }

  #grow(): void {
    for (const [name, column] of Object.entries(this)) {
      if (ArrayBuffer.isView(column)) Object.assign(this, { [name]: doubled(column as Float64Array) });
    }
  }
}

/** Results of a computation of weights, from which the columns of reads follow. */
type Computed = Pick<PeerColumns, 'tau' | 'a' | 'b' | 'z' | 'weight' | 'witness'> & {
  readonly measures: MeasureWeights;
  readonly pi: number;
};

/** Returns the columns that reads need, without the facts about the peers; for views other than the state. */
export function computedColumns(
  { tau, a, b, z, weight, witness, measures, pi }: Computed,
  carriers: Origins['carriers'] = [],
): Omit<PeerColumns, 'sender' | 'preTrusted' | 'excluded'> {
  const { m, finds, findsClaim, measured } = measures;
  const isGrouped = new Uint8Array(witness.length);
  markGroups({ witness, isGrouped }, witness.length, carriers);
  const measureWeight = tau.map((t, j) => weightOf(t, m[j]!));
  const published = weight.map((w, j) => publishedWeight(w, measureWeight[j]!, measured[j] === 1));
  const distance = suspiciousDistance(pi);
  return { tau, a, b, z, m, finds, findsClaim, weight, measureWeight, published, witness, isGrouped, distance };
}

/** Value of `isGrouped` for a carrier, which is one witness with all other carriers of its origin. */
export const CARRIES = 2;

/** Marks those of the first `count` peers that share their witness group with another, and all carriers. */
function markGroups(
  { witness, isGrouped }: Pick<PeerColumns, 'witness' | 'isGrouped'>,
  count: number,
  carriers: Origins['carriers'] = [],
): void {
  for (let peer = 0; peer < count; peer++) {
    const named = witness[peer]!;
    if (named === peer) continue;
    isGrouped[peer] = 1;
    isGrouped[named] = 1;
  }
  for (const { index } of carriers) isGrouped[index] = CARRIES;
}
