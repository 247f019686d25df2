/**
 * Decides the changes that affect the evidence of all players at once: the decay's epoch and half-life, the version of
 * scoring, and the publication of peer weights.
 */
import { granted, refused } from '../../errors.js';
import { DAY_MS, limits } from '../../limits.js';
import { audited, type Decision } from '../decision.js';
import { decayFactorAt, movedEpoch } from '../evidence/decay.js';
import { trustConstants as k } from '../evidence/trust-constants.js';
import type { EpochMoved, LogRecord, WeightsPublished } from '../records/records.js';
import type { GroupState } from '../state.js';

/** Returns the record that moves the decay epoch before evidence of time `at` is scaled, if a move is due. */
export function decideEpoch(state: GroupState, at: number): EpochMoved | null {
  const moved = movedEpoch(at, state.epoch, state.halfLifeDays);
  return moved === null ? null : { type: 'epoch_moved', ...moved };
}

/**
 * Changes the half-life: every sum keeps its present value and decays with the new half-life from now on. Refused while
 * the clock is far behind the newest evidence: one factor serves all sums, and it would inflate without bound the
 * evidence reported under the lagging clock.
 */
export function decideHalfLife(state: GroupState, halfLifeDays: number, now: number): Decision<null> {
  if (halfLifeDays === state.halfLifeDays) return { records: [], outcome: granted(null) };
  const newest = newestEvidence(state);
  if (newest - now > limits.halfLifeClockBehindMs) {
    const text = `the clock is ${((newest - now) / DAY_MS).toFixed(1)} days behind the newest evidence; set it right before the half-life changes from ${state.halfLifeDays} to ${halfLifeDays} days`;
    return { records: [], outcome: refused('dependency_unavailable', { text }) };
  }
  // If the epoch lies in the future, the clock was ahead when the epoch was set, or is a little behind now.
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

/** Returns the time of the newest evidence of all players, in ms since 1970; -Infinity if there is none. */
function newestEvidence({ subjects }: GroupState): number {
  let newest = Number.NEGATIVE_INFINITY;
  for (let row = 0; row < subjects.rows; row++) {
    if (subjects.has(row)) newest = Math.max(newest, subjects.evidenceAt(row));
  }
  return newest;
}

/** Version of scoring of this release. */
export const SCORING_VERSION = 2;

/** Switches the group to this release's version of scoring if it used another. */
export function decideScoring(state: GroupState, now: number): Decision<null> {
  if (state.scoring.version === SCORING_VERSION) return { records: [], outcome: granted(null) };
  const target = `version ${SCORING_VERSION}`;
  const audit = audited(state, now, { action: 'scoring_changed', actor: 'release', target });
  return { records: [{ type: 'scoring_changed', scoring: SCORING_VERSION, audit }], outcome: granted(null) };
}

const movedColumns = ['tau', 'a', 'b', 'z'] as const;

/** Weights as the worker pool computed them. */
export interface ComputedWeights extends Omit<WeightsPublished, 'type'> {
  readonly z: Float64Array;
  readonly witness: Uint16Array;
}

/**
 * Publishes weights if a value moved by more than `publishStep`, or if the published ones are old and based on older
 * records. The outcome says whether it published them.
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
