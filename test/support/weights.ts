/** Weights for tests: stated peer by peer, or computed; and the votes from which they are computed. */
import { type TrustConstants, trustConstants } from '../../src/core/evidence/trust-constants.js';
import type { WeightsPublished } from '../../src/core/records/records.js';
import type { ComputedWeights } from '../../src/core/rules/decide-setting.js';
import type { PeerTrust } from '../../src/core/trust/peer-trust.js';
import { type GatheredView, type GroupVotes, gatherVotes } from '../../src/core/trust/sums/gather.js';
import { Scratch } from '../../src/core/trust/votes/scratch.js';

/** Values of a peer with an open gate that only reports and that repeats nobody. */
const usual = { tau: 1, a: 1.25, b: 0.4, z: 0, m: 3.4, finds: 1, findsClaim: 1, measured: 0, judged: 1 } as const;

/** Values per peer, the first ones first; a peer without one has the usual value, or is its own witness. */
export type WeightColumns = Partial<Record<keyof typeof usual | 'witness', readonly number[]>>;

/** Returns the weights of `count` peers. */
export function weightsOf(count: number, columns: WeightColumns = {}, pi = 0.04): Omit<ComputedWeights, 'computed_at'> {
  const column = (name: keyof typeof usual) =>
    Float64Array.from({ length: count }, (_, peer) => columns[name]?.[peer] ?? usual[name]);
  return {
    based_on_seq: 1,
    pi,
    tau: column('tau'),
    a: column('a'),
    b: column('b'),
    z: column('z'),
    witness: Uint16Array.from({ length: count }, (_, peer) => columns.witness?.[peer] ?? peer),
    measures: {
      m: column('m'),
      finds: column('finds'),
      findsClaim: column('findsClaim'),
      measured: Uint8Array.from(column('measured')),
      judged: Uint8Array.from(column('judged')),
    },
  };
}

/** The record of weights that were computed from all records up to one. */
export function weightsRecord(
  { pi, tau, a, b, z, witness, measures }: PeerTrust,
  based_on_seq: number,
  computed_at: number,
): WeightsPublished {
  return { type: 'weights_published', based_on_seq, computed_at, pi, tau, a, b, z, witness, measures };
}

/** Gathers the votes of a view in which no peer carries an origin. */
export function votesOf(
  view: GatheredView,
  at: number,
  constants: TrustConstants = trustConstants,
  scratch = new Scratch(),
): GroupVotes {
  return gatherVotes(view, at, constants, scratch, new Float64Array(view.numbers).fill(1));
}
