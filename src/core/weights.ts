/**
 * What each peer counts on reads, by its number: columns derived from the published weights, pre-trust and status, so that a
 * read looks nothing up. Derived from the rest of the state, hence in no snapshot and no digest.
 */
import type { GroupState } from './state.js';
import { trustConstants as k } from './trust-constants.js';

/** Weights as a record published them, by number of the peer. */
export interface Weights {
  readonly basedOnSeq: number;
  /** ms since 1970; null before the first. */
  readonly computedAt: number | null;
  /** The group's share of bad players, in (0, 1). */
  readonly pi: number;
  readonly tau: Float64Array;
  readonly a: Float64Array;
  readonly b: Float64Array;
}

export const noWeights: Weights = {
  basedOnSeq: 0,
  computedAt: null,
  pi: k.badShareStart,
  tau: new Float64Array(0),
  a: new Float64Array(0),
  b: new Float64Array(0),
};

/** The published weight, in [0, 1]. */
export function weightOf(tau: number, a: number, b: number, reference: number = k.weightReference): number {
  return Math.min(1, Math.max(0, (tau * (a + b)) / (2 * reference)));
}

const PEERS_AT_FIRST = 64;

export class PeerWeights {
  /** The gate, in [0, 1]. */
  tau = new Float64Array(PEERS_AT_FIRST);
  /** Log-odds of a bad and of a good vote, in [0, 3.5]. */
  a = new Float64Array(PEERS_AT_FIRST);
  b = new Float64Array(PEERS_AT_FIRST);
  /** `clip(tau (A + B) / 4, 0, 1)`. */
  weight = new Float64Array(PEERS_AT_FIRST);
  /** 1 for a pre-trusted peer. */
  preTrusted = new Uint8Array(PEERS_AT_FIRST);
  /** 1 for a revoked peer, whose evidence counts for nothing. */
  excluded = new Uint8Array(PEERS_AT_FIRST);

  /** Takes over what the state says of all its peers. */
  refresh(state: GroupState): void {
    for (const { index } of state.peers.list) this.refreshPeer(state, index);
  }

  refreshPeer(state: GroupState, peer: number): void {
    if (peer >= this.tau.length) this.#grow();
    const { weights, preTrusted } = state;
    const known = peer < weights.tau.length;
    const isPreTrusted = preTrusted.includes(peer);
    // Where a group has pre-trusted peers, trust is earned through overlap with them: a newcomer starts with none.
    const newcomer = preTrusted.length === 0 || isPreTrusted ? 1 : 0;
    const tau = known ? weights.tau[peer]! : newcomer;
    const a = known ? weights.a[peer]! : k.priorLogOdds;
    const b = known ? weights.b[peer]! : k.priorLogOdds;
    this.tau[peer] = tau;
    this.a[peer] = a;
    this.b[peer] = b;
    this.weight[peer] = weightOf(tau, a, b);
    this.preTrusted[peer] = isPreTrusted ? 1 : 0;
    this.excluded[peer] = state.peers.at(peer).status === 'revoked' ? 1 : 0;
  }

  #grow(): void {
    const doubles = (old: Float64Array<ArrayBuffer>) => {
      const grown = new Float64Array(old.length * 2);
      grown.set(old);
      return grown;
    };
    const bytes = (old: Uint8Array<ArrayBuffer>) => {
      const grown = new Uint8Array(old.length * 2);
      grown.set(old);
      return grown;
    };
    this.tau = doubles(this.tau);
    this.a = doubles(this.a);
    this.b = doubles(this.b);
    this.weight = doubles(this.weight);
    this.preTrusted = bytes(this.preTrusted);
    this.excluded = bytes(this.excluded);
  }
}
