/** A group with five records of evidence and no weights, as the computation of weights sees it. */
import type { WeightsSite } from '../../../src/group/weights/weights-computation.js';

export function weightsSite(more: Partial<WeightsSite> & Pick<WeightsSite, 'publish'>): WeightsSite {
  return {
    published: { basedOnSeq: 0, computedAt: null },
    durableSeq: () => 5,
    evidenceSeq: () => 5,
    newVoiceSeq: () => 0,
    ending: () => false,
    readOnly: () => false,
    ...more,
  };
}
