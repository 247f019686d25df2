/** The rules of what evidence and peers are worth: the decay's epoch and half-life, and published weights. */
import { granted, refused } from '../../errors.js';
import { DAY_MS, limits } from '../../limits.js';
import { audited, type Decision } from '../decision.js';
import { decayFactorAt, movedEpoch } from '../evidence/decay.js';
import { trustConstants as k } from '../evidence/trust-constants.js';
import type { EpochMoved, LogRecord, WeightsPublished } from '../records/records.js';
import type { GroupState } from '../state.js';

/** The record that moves the decay epoch before evidence of `at` is scaled, where it is due. */
export function decideEpoch(state: GroupState, at: number): EpochMoved | null {
  const moved = movedEpoch(at, state.epoch, state.halfLifeDays);
  return moved === null ? null : { type: 'epoch_moved', ...moved };
}

/**
 * Decides another half-life: what every sum is worth now is carried over, and decays anew from here. Refused while the
 * clock is far behind the newest evidence: one factor serves all sums, and what was reported under the lagging clock
 * would then look as if it were worth without bound.
 */
export function decideHalfLife(state: GroupState, halfLifeDays: number, now: number): Decision<null> {
  if (halfLifeDays === state.halfLifeDays) return { records: [], outcome: granted(null) };
  const newest = newestEvidence(state);
  if (newest - now > limits.halfLifeClockBehindMs) {
    const text = `the clock is ${((newest - now) / DAY_MS).toFixed(1)} days behind the newest evidence; set it right before the half-life changes from ${state.halfLifeDays} to ${halfLifeDays} days`;
    return { records: [], outcome: refused('dependency_unavailable', { text }) };
  }
  // An epoch that has not come: the clock was ahead when it was set, or is a little behind now.
  const at = now >= state.epoch ? now : Math.min(Math.max(now, newest), state.epoch);
  const record: LogRecord = {
    type: 'half_life_changed',
    half_life_days: halfLifeDays,
    epoch: at,
    factor: decayFactorAt(at, state.epoch, state.halfLifeDays),
    audit: audited(state, now, { action: 'half_life_changed', actor: 'configuration', target: `${halfLifeDays} days` }),
  };
  return { records: [record], outcome: granted(null) };
}

/** When the newest evidence of all players arose, ms since 1970; -Infinity without any. */
function newestEvidence({ subjects }: GroupState): number {
  let newest = Number.NEGATIVE_INFINITY;
  for (let row = 0; row < subjects.rows; row++) {
    if (subjects.has(row)) newest = Math.max(newest, subjects.evidenceAt(row));
  }
  return newest;
}

/** The version of scoring of this release. */
export const SCORING_VERSION = 2;

/** Says that scores follow this release's scoring from here on, where a group was scored by another. */
export function decideScoring(state: GroupState, now: number): Decision<null> {
  if (state.scoring.version === SCORING_VERSION) return { records: [], outcome: granted(null) };
  const target = `version ${SCORING_VERSION}`;
  const audit = audited(state, now, { action: 'scoring_changed', actor: 'release', target });
  return { records: [{ type: 'scoring_changed', scoring: SCORING_VERSION, audit }], outcome: granted(null) };
}

const movedColumns = ['tau', 'a', 'b', 'z'] as const;

/** Weights as the pool computed them. */
export interface ComputedWeights extends Omit<WeightsPublished, 'type'> {
  readonly z: Float64Array;
  readonly witness: Uint16Array;
}

/**
 * Publishes weights where a value moved by more than `publishStep`, or where those in force are old and rest on older
 * records. Answers whether it did.
 */
export function decideWeights(state: GroupState, computed: ComputedWeights, now: number): Decision<boolean> {
  const { weights } = state;
  const isOld =
    now - (weights.computedAt ?? 0) >= limits.weightsRepublishMs && computed.based_on_seq > weights.basedOnSeq;
  const isNews = isOld || hasMoved(state, computed);
  return { records: isNews ? [{ type: 'weights_published', ...computed }] : [], outcome: granted(isNews) };
}

function hasMoved({ weights, peerWeights }: GroupState, computed: ComputedWeights): boolean {
  if (weights.z === null || Math.abs(computed.pi - weights.pi) > k.publishStep) return true;
  return computed.tau.some((_, peer) => {
    const hasNewWitness = computed.witness[peer] !== peerWeights.witness[peer];
    return (
      hasNewWitness ||
      movedColumns.some((name) => Math.abs(computed[name][peer]! - peerWeights[name][peer]!) > k.publishStep)
    );
  });
}
