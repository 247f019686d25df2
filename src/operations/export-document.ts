/** The document of `ptf subject export`, and its published JSON Schema, `docs/operating/subject-export.schema.json`. */
import { eventTypeNames } from '../core/evidence/event-types.js';
import { publishedFigures } from '../core/scoring/score.js';
import { disputeStatuses, verdicts } from '../core/vocabulary.js';
import type { SubjectExport } from '../group/api.js';
import { disputeValue } from './dispute-operations.js';
import { auditEntryValue } from './log-operations.js';
import { isoTime } from './operation.js';

/** Raised when a member is removed or changes its meaning; members may be added without that. */
const SUBJECT_EXPORT_VERSION = 1;

const time = { type: 'string', format: 'date-time' } as const;
const hashHex = { type: 'string', pattern: '^[0-9a-f]{64}$' } as const;
const count = { type: 'integer', minimum: 0 } as const;
const text = { type: 'string' } as const;
const textOrNull = { type: ['string', 'null'] } as const;
const timeOrNull = { type: ['string', 'null'], format: 'date-time' } as const;
const texts = { type: 'array', items: text } as const;
const mass = { type: 'number', minimum: 0, description: 'In events of severity 1, decayed to `exported_at`.' } as const;
const isVoid = { type: 'boolean', description: 'Whether an upheld dispute excludes it from the score.' } as const;

function shape(properties: Readonly<Record<string, object>>, description?: string): object {
  const described = description === undefined ? {} : { description };
  return { type: 'object', ...described, additionalProperties: false, required: Object.keys(properties), properties };
}

function listOf(description: string, properties: Readonly<Record<string, object>>): object {
  return { type: 'array', description, items: shape(properties) };
}

export const subjectExportSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'urn:peer-trust-federation:subject-export:1',
  title: 'All data that a node stores about one player',
  ...shape({
    version: { type: 'integer', const: SUBJECT_EXPORT_VERSION },
    subject_hash: { ...hashHex, description: 'SHA-256 of the account id and the salt of the group.' },
    group_id: text,
    exported_at: time,
    receipt: { ...text, description: 'The audit log keeps SHA-256(receipt + subject_hash) of this export.' },
    score: {
      description: 'The answer to a read; null if no event is stored.',
      anyOf: [
        shape({
          score: { type: 'number', minimum: 0, maximum: 100 },
          confidence: { type: 'number', minimum: 0, maximum: 1 },
          verdict: { type: 'string', enum: verdicts },
          event_count: count,
          updated_at: time,
        }),
        { type: 'null' },
      ],
    },
    sums: listOf(
      'The evidence of each peer and of each origin that the peer carries, including evidence of events that retention deleted.',
      {
        peer_id: text,
        origin: textOrNull,
        events: count,
        lowering: mass,
        raising: mass,
        bans: mass,
        void: isVoid,
      },
    ),
    events: listOf('Newest first.', {
      seq: count,
      received_at: time,
      peer_id: text,
      origin: textOrNull,
      reference: textOrNull,
      schema_version: text,
      event_id: text,
      event_type: { type: 'string', enum: eventTypeNames },
      game_id: text,
      severity: { type: 'number', minimum: 0, maximum: 1 },
      timestamp: time,
      void: isVoid,
    }),
    events_complete: { type: 'boolean', description: 'False if there are more events than one export contains.' },
    disputes: listOf('Oldest first.', {
      dispute_id: text,
      opened_at: time,
      peer_id: { ...textOrNull, description: 'The peer that disputes.' },
      subject_hash: hashHex,
      text,
      against: { ...textOrNull, description: 'The peer whose events are disputed, if the dispute names one.' },
      status: { type: 'string', enum: disputeStatuses },
      decided_at: timeOrNull,
      voids: { ...texts, description: 'Peers whose events about the player count for nothing.' },
      reporters: { ...texts, description: 'Peers with lowering evidence about the player.' },
    }),
    past_disputes: listOf('Rejected disputes of which only the texts in the log remain. Oldest first.', {
      dispute_id: text,
      opened_at: time,
      peer_id: textOrNull,
      text,
    }),
    erasure_requests: listOf('Erasures that wait for the operator.', { requested_at: time, peer_id: textOrNull }),
    refused_erasures: listOf('Refusals of erasures by the operator. Oldest first.', { refused_at: time, reason: text }),
    allow_list: {
      description: 'The entry of the allow list of the group, or null.',
      anyOf: [shape({ id: text, until: time, note: text }), { type: 'null' }],
    },
    past_allow_list: listOf('Entries of the allow list that ended or were replaced. Oldest first.', {
      id: text,
      added_at: time,
      until: time,
      note: text,
    }),
    audit: listOf('Entries of the audit log that concern the player without naming the player.', {
      seq: count,
      at: time,
      action: text,
      actor: text,
      target: text,
      prev_hash: hashHex,
      hash: hashHex,
    }),
  }),
} as const;

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
