/** Decides additions to the group's allow list and removals from it. */
import { limits } from '../../limits.js';
import type { AllowPlayer, DisallowPlayer } from '../commands.js';
import { audited, type Decision, grant, refuse } from '../decision.js';
import { endOfMinute } from '../evidence/decay.js';
import { subjectHex } from '../hashing/pseudonym.js';
import type { GroupState } from '../state.js';

/** Lists a player until a minute's end, the outcome. Codes: invalid_parameter (past, or too far ahead), overloaded. */
export function decideAllowed(state: GroupState, command: AllowPlayer, now: number): Decision<number> {
  const { allowed } = state;
  const until = endOfMinute(command.until);
  if (!(until > now) || until - now > limits.allowedMsMax) {
    return refuse('invalid_parameter', {
      text: `the date must be in the future, at most ${limits.allowedMsMax / 86_400_000} days ahead`,
    });
  }
  const subject = subjectHex(command.subject);
  const known = allowed.of(subject);
  if (!allowed.allows(command.subject, now) && allowed.countAt(now) >= limits.allowedSubjectsMax) {
    return refuse('overloaded', { text: 'the allow list is full' });
  }
  if (known === undefined && allowed.size >= limits.allowedNamedMax) {
    return refuse('overloaded', { text: 'too many players were on the allow list: erase some that may be forgotten' });
  }
  if ((known?.seqs.length ?? 0) >= limits.allowedRecordsMax) {
    return refuse('overloaded', { text: 'this player was added to the allow list too often' });
  }
  const { id, note, by } = command;
  const audit = audited(state, now, { action: 'player_allowed', actor: by, target: id });
  return grant(until, { type: 'player_allowed', subject, id, until, note, audit });
}

/** Removes a player from the list. Codes: subject_not_found. */
export function decideDisallowed(state: GroupState, command: DisallowPlayer, now: number): Decision<null> {
  const subject = subjectHex(command.subject);
  const entry = state.allowed.of(subject)?.entry ?? null;
  if (entry === null) return refuse('subject_not_found', { text: 'this player is not on the allow list' });
  const audit = audited(state, now, { action: 'player_allowance_ended', actor: command.by, target: entry.id });
  return grant(null, { type: 'player_allowance_ended', subject, audit });
}
