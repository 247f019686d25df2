/**
 * Computes the weights of carriers (docs/SCORING.md, "Declared origins"): that of the origin, computed like a peer's,
 * and never more than that of the peer itself.
 */
import type { TrustConstants } from '../evidence/trust-constants.js';
import type { MeasureWeights, PeerColumns } from '../tables/evidence-view.js';
import { weightOf } from '../tables/peer-weights.js';
import type { OriginFacts } from './votes/peer-facts.js';

export type WeightColumns = Pick<PeerColumns, 'tau' | 'a' | 'b' | 'z' | 'weight' | 'witness'> & MeasureWeights;

/** Factor that prevents rounding from giving a carrier more weight than its peer. */
const BELOW = 1 - 2 ** -50;

/** Fills in the columns of carriers, and lowers the gate of each origin to that of the best peer that carries it. */
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
    a[index] = a[origin]!;
    b[index] = b[origin]!;
    z[index] = z[origin]!;
    m[index] = m[origin]!;
    finds[index] = finds[origin]!;
    findsClaim[index] = findsClaim[origin]!;
    measured[index] = measured[origin]!;
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
