/** What reads show of a player: its score, or a neutral one where the player is on the group's allow list. */
import type { AsOf } from '../evidence/decay.js';
import type { GroupState } from '../state.js';
import { type TrustView, trustOf } from './score.js';

/** Neither score nor confidence tells anything of a player on the list: 50 is neutral, and 0 no signal. */
const neutral = { score: 50, confidence: 0, verdict: 'neutral', allowed: true } as const;

/** The view of a subject's row at a moment. */
export function shownTrust(state: GroupState, row: number, asOf: AsOf): TrustView {
  const view = trustOf(state, row, asOf);
  return isAllowed(state, row, asOf) ? { ...view, ...neutral } : view;
}

/** Whether the player of a row has an entry that counts at a moment. */
export function isAllowed({ allowed, subjects }: GroupState, row: number, { at }: AsOf): boolean {
  return allowed.size > 0 && allowed.allows(subjects.keyOf(row), at);
}
