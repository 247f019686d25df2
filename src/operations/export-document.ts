/** The document of `ptf subject export`, whose JSON Schema is `docs/operating/subject-export.schema.json`. */
import { publishedFigures } from '../core/scoring/score.js';
import type { SubjectExport } from '../group/api.js';
import { disputeValue } from './dispute-operations.js';
import { auditEntryValue } from './log-operations.js';
import { isoTime } from './operation.js';

/** Raised when a member is removed or changes its meaning; members may be added without that. */
const SUBJECT_EXPORT_VERSION = 1;

export function subjectExportValue(view: SubjectExport, groupId: string) {
  const { trust } = view;
  return {
    version: SUBJECT_EXPORT_VERSION,
    subject_hash: view.subject,
    group_id: groupId,
    exported_at: isoTime(view.exportedAt),
    receipt: view.receipt,
    score:
      trust === null
        ? null
        : {
            ...publishedFigures(trust),
            verdict: trust.verdict,
            event_count: trust.eventCount,
            updated_at: isoTime(trust.updatedAt),
          },
    sums: view.sums.map(({ peerId, isVoid: isOut, ...sums }) => ({ peer_id: peerId, ...sums, void: isOut })),
    events: view.events.map((event) => ({
      seq: event.seq,
      received_at: isoTime(event.receivedAt),
      peer_id: event.peerId,
      origin: event.origin,
      reference: event.reference,
      schema_version: event.schemaVersion,
      event_id: event.eventId,
      event_type: event.eventType,
      game_id: event.gameId,
      severity: event.severity,
      timestamp: isoTime(event.timestamp),
      void: event.isVoid,
    })),
    events_complete: view.isComplete,
    disputes: view.disputes.map((dispute) => {
      const { peer_name, against_name, also_named, ...value } = disputeValue(dispute);
      return { ...value, reporters: value.reporters.map(({ peer_id }) => peer_id) };
    }),
    past_disputes: view.pastDisputes.map(({ id, openedAt, peerId, text: disputeText }) => {
      return { dispute_id: id, opened_at: isoTime(openedAt), peer_id: peerId, text: disputeText };
    }),
    erasure_requests: view.erasureRequests.map(({ requestedAt, peerId }) => {
      return { requested_at: isoTime(requestedAt), peer_id: peerId };
    }),
    refused_erasures: view.refusedErasures.map(({ at, reason }) => ({ refused_at: isoTime(at), reason })),
    allow_list: view.allowed === null ? null : { ...view.allowed, until: isoTime(view.allowed.until) },
    past_allow_list: view.pastAllowed.map(({ id, addedAt, until, note }) => {
      return { id, added_at: isoTime(addedAt), until: isoTime(until), note };
    }),
    audit: view.audit.map(auditEntryValue),
  };
}
