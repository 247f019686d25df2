/** The rules of what evidence and peers are worth: the decay's epoch and half-life, and published weights. */
import { granted } from '../errors.js';
import { limits } from '../limits.js';
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

/** Another half-life: what every sum is worth now is carried over, and decays anew from here. */
export function decideHalfLife(state: GroupState, halfLifeDays: number, now: number): Decision<null> {
  if (halfLifeDays === state.halfLifeDays) return { records: [], outcome: granted(null) };
  const at = now >= state.epoch ? now : momentBefore(state, now);
  const record: LogRecord = {
    type: 'half_life_changed',
    half_life_days: halfLifeDays,
    epoch: at,
    factor: worthAt(at, state.epoch, state.halfLifeDays),
    audit: audited(state, now, { action: 'half_life_changed', actor: 'configuration', target: `${halfLifeDays} days` }),
  };
  return { records: [record], outcome: granted(null) };
}

/**
 * The moment whose worth of sums is carried over, where the epoch lies in the future. If the clock was ahead when the epoch was set, that is now;
 * if it lags today, it is the newest evidence, or sums would grow without bound.
 */
function momentBefore({ epoch, subjects }: GroupState, now: number): number {
  let at = now;
  for (let row = 0; row < subjects.rows && at < epoch; row++) {
    if (subjects.has(row)) at = Math.max(at, subjects.evidenceAt(row));
  }
  return Math.min(at, epoch);
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
