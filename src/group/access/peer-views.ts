/** Looks up what the newest computation of weights found about peers. */

import type { WitnessPair } from '../../core/relations.js';
import type { GroupState } from '../../core/state.js';
import { WitnessLinks } from '../../core/trust/witnesses.js';
import { limits } from '../../limits.js';
import type { PeerSignals, PeerView } from '../api.js';
import type { WeightsSignals } from '../ports/pool.js';

export function preTrustedIds({ peers, preTrusted }: GroupState): string[] {
  return preTrusted.map((index) => peers.at(index).peerId);
}

export class SignalViews {
  #newest: { readonly pairs: readonly WitnessPair[]; readonly links: WitnessLinks } | null = null;

  /** Undefined if the computation did not include the peer. */
  of(state: GroupState, signals: WeightsSignals | null, { index }: PeerView): PeerSignals | undefined {
    if (signals === null || index >= signals.reported.length) return undefined;
    const discountedWith = signals.pairs
      .filter(({ first, second }) => first === index || second === index)
      .map(({ first, second, shared, agreement }) => {
        const other = state.peers.at(first === index ? second : first);
        return { peerId: other.peerId, sharedPlayers: shared, agreement };
      });
    return {
      players: signals.reported[index]!,
      sharedPlayers: signals.shared[index]!,
      discountedWith,
      oneWitnessWith: this.#linksOf(signals.witnessPairs)
        .of(index, limits.witnessesListedMax)
        .map(({ peer, reason }) => ({ peerId: witnessName(state, peer), reason })),
    };
  }

  #linksOf(pairs: readonly WitnessPair[]): WitnessLinks {
    if (this.#newest?.pairs !== pairs) this.#newest = { pairs, links: new WitnessLinks(pairs) };
    return this.#newest.links;
  }
}

function witnessName({ peers, origins }: GroupState, number: number): string {
  const origin = origins.at(number);
  return origin === undefined ? peers.at(number).peerId : `origin ${origin.name}`;
}
