/** Decides the export of all data about a player. The audit log says who asked for it, without naming the player. */
import { granted } from '../../errors.js';
import type { ExportSubject } from '../commands.js';
import { audited, type Decision, refuse } from '../decision.js';
import { subjectHex } from '../hashing/pseudonym.js';
import type { GroupState } from '../state.js';

/** Decides an export. Codes: subject_not_found, if nothing at all is held about the player. */
export function decideExport(state: GroupState, command: ExportSubject, now: number): Decision<null> {
  const subject = subjectHex(command.subject);
  const isHeld =
    state.subjects.find(command.subject) >= 0 ||
    state.disputes.seqsOf(subject).length > 0 ||
    state.allowed.of(subject) !== undefined ||
    state.erasureRequests.of(subject).seqs.length > 0;
  if (!isHeld) return refuse('subject_not_found', { text: 'no data is held about this subject' });
  const audit = audited(state, now, { action: 'subject_exported', actor: command.by, target: command.commitment });
  return { records: [{ type: 'subject_exported', audit }], outcome: granted(null) };
}
