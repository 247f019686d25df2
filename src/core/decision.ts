/** Declares the result of a rule: records to write and an outcome. Builds refusals and the audit part of a record. */
import { type ErrorCode, granted, type Outcome, type Refusal, refused } from '../errors.js';
import { auditPart } from './records/audit.js';
import type { AuditFact, AuditPart, LogRecord } from './records/records.js';
import type { GroupState } from './state.js';

/** The result of a command: the records to write, and then the answer. A refusal writes nothing. */
export interface Decision<T> {
  readonly records: readonly LogRecord[];
  readonly outcome: Outcome<T>;
}

/** Without records, nothing changes. */
export function grant<T>(value: T, ...records: readonly LogRecord[]): Decision<T> {
  return { records, outcome: granted(value) };
}

export function refuse(code: ErrorCode, more: Omit<Refusal, 'ok' | 'code'> = {}): Decision<never> {
  return { records: [], outcome: refused(code, more) };
}

export function audited(state: GroupState, now: number, fact: AuditFact): AuditPart {
  return auditPart(state.auditHead, state.lastSeq + 1, now, fact);
}
