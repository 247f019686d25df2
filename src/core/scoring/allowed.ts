/** Reads a player's score, or a neutral view instead if the player is on the group's allow list. */
import type { AsOf } from '../evidence/decay.js';
import type { GroupState } from '../state.js';
import { type TrustView, trustOf } from './score.js';

/** Neutral values: score 50 and confidence 0 reveal nothing about a player on the list. */
const neutral = { score: 50, confidence: 0, verdict: 'neutral', allowed: true } as const;

export function readTrust(state: GroupState, row: number, asOf: AsOf): TrustView {
  const view = trustOf(state, row, asOf);
  return isAllowed(state, row, asOf) ? { ...view, ...neutral } : view;
}

export function isAllowed({ allowed, subjects }: GroupState, row: number, { at }: AsOf): boolean {
  return allowed.size > 0 && allowed.allows(subjects.keyOf(row), at);
}
