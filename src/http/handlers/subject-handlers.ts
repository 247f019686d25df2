/** Handles the erasure of a subject, the list of the caller's erased events, disputes, and the audit log. */
import type { DisputeBody } from '../../contract/request-bodies.js';
import type {
  AuditPageBody,
  ErasedEventsBody,
  ErasureBody,
  OpenedDisputeBody,
  PendingErasureBody,
} from '../../contract/response-bodies.js';
import { HOUR_MS } from '../../limits.js';
import { timeText } from '../bodies/bodies.js';
import type { HttpDeps } from '../deps.js';
import { ok, refusalReply } from '../request/reply.js';
import { type ApiReply, type ApiRequest, type Handlers, holderOf } from '../request/request.js';
import { encodeCursor, readPage, readSubjectHash } from '../request/request-parameters.js';

export function subjectHandlers({ node }: Pick<HttpDeps, 'node'>) {
  async function eraseSubject({ params, caller }: ApiRequest<undefined>): Promise<ApiReply> {
    const hash = readSubjectHash(params.hash ?? '');
    if (!hash.ok) return refusalReply(hash);
    const outcome = await node.group.erase(caller, Buffer.from(hash.value, 'hex'));
    if (!outcome.ok) return refusalReply(outcome);
    const { status, reason, eventsErased, erasedAt, receipt } = outcome.value;
    if (status === 'pending' && reason !== null) {
      return { status: 202, body: { subject_hash: hash.value, status, receipt, reason } satisfies PendingErasureBody };
    }
    return ok({
      subject_hash: hash.value,
      events_erased: eventsErased,
      erased_at: timeText(erasedAt),
      receipt,
    } satisfies ErasureBody);
  }

  async function openDispute({ params, body, caller }: ApiRequest<DisputeBody>): Promise<ApiReply> {
    const hash = readSubjectHash(params.hash ?? '');
    if (!hash.ok) return refusalReply(hash);
    const outcome = await node.group.dispute(caller, Buffer.from(hash.value, 'hex'), body.text, body.peer_id);
    if (!outcome.ok) return refusalReply(outcome);
    const { id, openedAt } = outcome.value;
    const opened = { dispute_id: id, subject_hash: hash.value, status: 'open', opened_at: timeText(openedAt) } as const;
    return { status: 201, body: opened satisfies OpenedDisputeBody };
  }

  function listErasedEvents({ query, caller }: ApiRequest<undefined>): ApiReply {
    const page = readPage(query, 'erased');
    if (!page.ok) return refusalReply(page);
    // With authentication off no peer acts, so there are no own events.
    if (caller === null) return ok({ total: 0, data: [], next_cursor: null } satisfies ErasedEventsBody);
    const { total, events, next } = node.group.ownErasures(caller, page.value.from, page.value.limit);
    return ok({
      total,
      data: events.map(({ receivedAt, erasedAt }) => ({
        status: 'subject_erased' as const,
        received_at: timeText(receivedAt),
        erased_at: timeText(erasedAt - (erasedAt % HOUR_MS)),
      })),
      next_cursor: next === null ? null : encodeCursor('erased', next),
    } satisfies ErasedEventsBody);
  }

  async function listAudit({ query, caller, remote }: ApiRequest<undefined>): Promise<ApiReply> {
    const page = readPage(query, 'audit');
    if (!page.ok) return refusalReply(page);
    const outcome = await node.group.audit(page.value.from, page.value.limit, holderOf(caller, remote));
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

  return { eraseSubject, openDispute, listErasedEvents, listAudit } satisfies Partial<Handlers>;
}
