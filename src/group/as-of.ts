/**
 * Computes the time to which reads decay evidence: the end of the present minute, so that a body and its ETag stay the
 * same for a minute, and no evidence is newer than the read.
 */
import { type AsOf, asOfTime, endOfMinute } from '../core/evidence/decay.js';
import type { GroupState } from '../core/state.js';
import type { Clock } from './ports/clock.js';

export class MinuteAsOf {
  constructor(private readonly clock: Clock) {}

  of(state: GroupState): AsOf {
    return asOfTime(state, endOfMinute(this.clock.now()));
  }
}
