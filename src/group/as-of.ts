/**
 * Computes the time to which reads decay evidence: the end of the present minute, so that a body and its ETag stay the
 * same for a minute, and no evidence is newer than the read.
 */
import { type AsOf, asOfTime, type Scale } from '../core/evidence/decay.js';
import type { GroupState } from '../core/state.js';
import type { Clock } from './ports/clock.js';

const MINUTE_MS = 60_000;

export function endOfMinute(now: number): number {
  return Math.ceil(now / MINUTE_MS) * MINUTE_MS;
}

export class MinuteAsOf {
  #asOf: AsOf = { at: Number.NaN, decayFactor: 1, measureFactor: 1 };
  #epoch = Number.NaN;
  #halfLifeDays = Number.NaN;
  #measureScale: Scale = { epoch: Number.NaN, halfLifeDays: Number.NaN };

  constructor(private readonly clock: Clock) {}

  of(state: GroupState): AsOf {
    const at = endOfMinute(this.clock.now());
    const { epoch, halfLifeDays, measureScale } = state;
    const isOther = epoch !== this.#epoch || halfLifeDays !== this.#halfLifeDays;
    const isOtherForMeasures =
      measureScale.epoch !== this.#measureScale.epoch || measureScale.halfLifeDays !== this.#measureScale.halfLifeDays;
    if (at !== this.#asOf.at || isOther || isOtherForMeasures) {
      this.#asOf = asOfTime(state, at);
      this.#epoch = epoch;
      this.#halfLifeDays = halfLifeDays;
      this.#measureScale = { epoch: measureScale.epoch, halfLifeDays: measureScale.halfLifeDays };
    }
    return this.#asOf;
  }
}
