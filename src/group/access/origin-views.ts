/** Converts an origin to the view that the operator sees, with the peers that carry it and its published weight. */

import type { Origin } from '../../core/registers/origins.js';
import type { GroupState } from '../../core/state.js';
import type { OriginView } from '../api.js';

export function originView({ origins, peers, peerWeights }: GroupState, origin: Origin): OriginView {
  const { index, name, declaredAt, declared } = origin;
  return {
    name,
    declaredAt,
    isDeclared: declared,
    carriers: origins.carriersOf(index).map(({ peer }) => peers.at(peer).peerId),
    weight: peerWeights.published[index]!,
    tau: peerWeights.tau[index]!,
    a: peerWeights.a[index]!,
    b: peerWeights.b[index]!,
  };
}
