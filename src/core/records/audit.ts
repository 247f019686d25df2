/** Computes the hash chain of the audit log: the hash of an entry covers the entry and the hash before it. */
import { hash as digest } from 'node:crypto';
import type { AuditFact, AuditPart } from './records.js';

export const auditStart = '0'.repeat(64);

/** The hash of an entry: SHA-256, hex, of the previous hash and the entry as JSON. */
export function auditHash(prevHash: string, seq: number, at: number, fact: AuditFact): string {
  return digest('sha256', prevHash + JSON.stringify([seq, at, fact.action, fact.actor, fact.target]), 'hex');
}

export function auditPart(prevHash: string, seq: number, at: number, fact: AuditFact): AuditPart {
  return { ...fact, prev_hash: prevHash, hash: auditHash(prevHash, seq, at, fact) };
}
