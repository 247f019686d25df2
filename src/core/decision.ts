/** What the rules answer: records to write and an outcome; and the two ways in which every rule makes one. */
import { type ErrorCode, type Outcome, type Refusal, refused } from '../errors.js';
import { type AuditFact, auditPart } from './records/audit.js';
import type { AuditPart, LogRecord } from './records/records.js';
import type { GroupState } from './state.js';

/** What a command leads to: the records to write, then the answer. A refusal writes nothing. */
export interface Decision<T> {
  readonly records: readonly LogRecord[];
  readonly outcome: Outcome<T>;
}

export function refuse(code: ErrorCode, more: Omit<Refusal, 'ok' | 'code'> = {}): Decision<never> {
  return { records: [], outcome: refused(code, more) };
}

/** The audit part of the record that comes next. */
export function audited(state: GroupState, now: number, fact: AuditFact): AuditPart {
  return auditPart(state.auditHead, state.lastSeq + 1, now, fact);
}
