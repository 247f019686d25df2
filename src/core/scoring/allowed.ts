/** The view that reads return of a player: the score, or a neutral one if the player is on the group's allow list. */
import type { AsOf } from '../evidence/decay.js';
import type { GroupState } from '../state.js';
import { type TrustView, trustOf } from './score.js';

/** Score and confidence of a player on the list reveal nothing: 50 is neutral, and 0 means no signal. */
const neutral = { score: 50, confidence: 0, verdict: 'neutral', allowed: true } as const;

/** Returns the view of a subject's row as of a time. */
export function readTrust(state: GroupState, row: number, asOf: AsOf): TrustView {
  const view = trustOf(state, row, asOf);
  return isAllowed(state, row, asOf) ? { ...view, ...neutral } : view;
}

/** True if the player of a row has an allow-list entry that counts as of a time. */
export function isAllowed({ allowed, subjects }: GroupState, row: number, { at }: AsOf): boolean {
  return allowed.size > 0 && allowed.allows(subjects.keyOf(row), at);
}
