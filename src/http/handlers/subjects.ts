/** Erasure of a subject, and the audit log in which it leaves its only trace. */

import type { AuditPageBody, ErasureBody, PendingErasureBody } from '../../contract/response-bodies.js';
import { timeText } from '../bodies/bodies.js';
import type { FaceDeps } from '../deps.js';
import { encodeCursor } from '../request/cursor.js';
import { readCursor, readLimit, readSubjectHash } from '../request/parameters.js';
import { ok, refusalReply } from '../request/reply.js';
import type { ApiReply, ApiRequest, Handlers } from '../request/request.js';

export function subjectHandlers({ group }: Pick<FaceDeps, 'group'>): Pick<Handlers, 'eraseSubject' | 'listAudit'> {
  async function eraseSubject({ params, caller }: ApiRequest<undefined>): Promise<ApiReply> {
    const hash = readSubjectHash(params.hash ?? '');
    if (!hash.ok) return refusalReply(hash);
    const outcome = await group.erase(caller, Buffer.from(hash.value, 'hex'));
    if (!outcome.ok) return refusalReply(outcome);
    const { status, eventsErased, erasedAt, receipt } = outcome.value;
    if (status === 'pending') {
      const pending: PendingErasureBody = { subject_hash: hash.value, status, receipt };
      return { status: 202, body: pending };
    }
    return ok({
      subject_hash: hash.value,
      events_erased: eventsErased,
      erased_at: timeText(erasedAt),
      receipt,
    } satisfies ErasureBody);
  }

  async function listAudit({ query }: ApiRequest<undefined>): Promise<ApiReply> {
    const limit = readLimit(query);
    if (!limit.ok) return refusalReply(limit);
    const after = readCursor(query, 'audit');
    if (!after.ok) return refusalReply(after);
    const outcome = await group.audit(after.value ?? 0, limit.value);
    if (!outcome.ok) return refusalReply(outcome);
    const { entries, nextAfter } = outcome.value;
    return ok({
      data: entries.map(({ seq, at, action, actor, target, prevHash, hash }) => ({
        seq,
        at: timeText(at),
        action,
        actor,
        target,
        prev_hash: prevHash,
        hash,
      })),
      next_cursor: nextAfter === null ? null : encodeCursor('audit', nextAfter),
    } satisfies AuditPageBody);
  }

  return { eraseSubject, listAudit };
}
