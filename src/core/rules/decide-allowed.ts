/** The rules of the group's allow list. */
import { granted } from '../../errors.js';
import { limits } from '../../limits.js';
import type { AllowPlayer, DisallowPlayer } from '../commands.js';
import { audited, type Decision, refuse } from '../decision.js';
import { subjectHex } from '../hashing/pseudonym.js';
import type { LogRecord } from '../records/records.js';
import type { GroupState } from '../state.js';

/** An entry ends with a minute, as reads are of the end of theirs. */
const MINUTE_MS = 60_000;

/**
 * Puts a player on the list until the end of a minute, which is the answer; in place of an entry before. Codes:
 * invalid_parameter (a date that is not ahead, or too far), overloaded.
 */
export function decideAllowed(state: GroupState, command: AllowPlayer, now: number): Decision<number> {
  const { allowed } = state;
  const until = Math.ceil(command.until / MINUTE_MS) * MINUTE_MS;
  if (!(until > now) || until - now > limits.allowedMsMax) {
    return refuse('invalid_parameter', {
      text: `the date must be ahead, by at most ${limits.allowedMsMax / 86_400_000} days`,
    });
  }
  const subject = subjectHex(command.subject);
  const known = allowed.of(subject);
  if (known === undefined && allowed.size >= limits.allowedSubjectsMax) {
    return refuse('overloaded', { text: 'the allow list is full' });
  }
  if ((known?.seqs.length ?? 0) >= limits.allowedRecordsMax) {
    return refuse('overloaded', { text: 'this player was put on the allow list too often' });
  }
  const { id, note, by } = command;
  const audit = audited(state, now, { action: 'player_allowed', actor: by, target: id });
  const record: LogRecord = { type: 'player_allowed', subject, id, until, note, audit };
  return { records: [record], outcome: granted(until) };
}

/** Takes a player off the list. Codes: subject_not_found. */
export function decideDisallowed(state: GroupState, command: DisallowPlayer, now: number): Decision<null> {
  const subject = subjectHex(command.subject);
  const entry = state.allowed.of(subject)?.entry ?? null;
  if (entry === null) return refuse('subject_not_found', { text: 'this player is not on the allow list' });
  const audit = audited(state, now, { action: 'player_allowance_ended', actor: command.by, target: entry.id });
  return { records: [{ type: 'player_allowance_ended', subject, audit }], outcome: granted(null) };
}
