/** The rules of what evidence and peers are worth: the decay's epoch and half-life, and published weights. */
import { granted, refused } from '../errors.js';
import { DAY_MS, limits } from '../limits.js';
import { movedEpoch, worthAt } from './decay.js';
import { audited, type Decision } from './decision.js';
import type { EpochMoved, LogRecord, WeightsPublished } from './records.js';
import type { GroupState } from './state.js';
import { trustConstants as k } from './trust-constants.js';

/** The record that moves the decay epoch before evidence of `at` is scaled, where it is due. */
export function decideEpoch(state: GroupState, at: number): EpochMoved | null {
  const moved = movedEpoch(at, state.epoch, state.halfLifeDays);
  return moved === null ? null : { type: 'epoch_moved', ...moved };
}

/**
 * Decides another half-life: what every sum is worth now is carried over, and decays anew from here. Refused while the clock is far behind the
 * newest evidence: one factor serves all sums, and what was reported under the lagging clock would then look as if it were worth without bound.
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
    factor: worthAt(at, state.epoch, state.halfLifeDays),
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

/** Weights as the pool computed them. */
export type ComputedWeights = Omit<WeightsPublished, 'type'>;

/**
 * Publishes weights where a value moved by more than `publishStep`, or where those in force are old and rest on older records.
 * Answers whether it did.
 */
export function decideWeights(state: GroupState, computed: ComputedWeights, now: number): Decision<boolean> {
  const { weights } = state;
  const isOld =
    now - (weights.computedAt ?? 0) >= limits.weightsRepublishMs && computed.based_on_seq > weights.basedOnSeq;
  const isNews = isOld || hasMoved(state, computed);
  return { records: isNews ? [{ type: 'weights_published', ...computed }] : [], outcome: granted(isNews) };
}

function hasMoved({ weights, peerWeights }: GroupState, computed: ComputedWeights): boolean {
  if (Math.abs(computed.pi - weights.pi) > k.publishStep) return true;
  for (let peer = 0; peer < computed.tau.length; peer++) {
    const moved = Math.max(
      Math.abs(computed.tau[peer]! - peerWeights.tau[peer]!),
      Math.abs(computed.a[peer]! - peerWeights.a[peer]!),
      Math.abs(computed.b[peer]! - peerWeights.b[peer]!),
    );
    if (moved > k.publishStep) return true;
  }
  return false;
}
