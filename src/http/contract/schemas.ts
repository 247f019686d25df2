/**
 * Every JSON body of the contract as a JSON Schema, with its type beside it. The validators, the types of the handlers and
 * the OpenAPI document are all made from these objects, so a change here changes all three.
 */
import { eventTypeNames } from '../../core/event-types.js';
import { environments, identityModes, peerStatuses, verdicts } from '../../core/vocabulary.js';
import { type ErrorCode, errors } from '../../errors.js';
import { limits } from '../../limits.js';
import type { FromSchema } from './schema.js';

const errorCodes = Object.keys(errors) as ErrorCode[];

const dateTime = { type: 'string', format: 'date-time', examples: ['2026-01-02T03:04:05.678Z'] } as const;
const count = { type: 'integer', minimum: 0 } as const;
const hashHex = { type: 'string', pattern: '^[0-9a-f]{64}$' } as const;
const nextCursor = {
  type: ['string', 'null'],
  description: 'Pass it as `cursor` for the next page; null on the last page. Opaque.',
} as const;

const playerId = {
  type: 'string',
  minLength: 1,
  maxLength: limits.playerIdLength,
  format: 'well-formed',
  description:
    'Opaque id of the player. 64 hexadecimal characters are taken as a subject hash that the peer made itself; anything else is hashed on arrival and never stored.',
  examples: ['steam:76561198000000001'],
} as const;

const eventId = {
  type: 'string',
  minLength: 1,
  maxLength: limits.eventIdLength,
  pattern: '^[A-Za-z0-9._:-]+$',
  description: 'The idempotency key, unique in the group. A UUIDv4 is recommended.',
  examples: ['0c4b2d0e-6f0a-4e0b-9c43-5f1a2b3c4d5e'],
} as const;

const gameId = {
  type: 'string',
  minLength: 1,
  maxLength: limits.gameIdLength,
  format: 'well-formed',
  examples: ['arena-one'],
} as const;

const eventProperties = {
  schema_version: {
    type: 'string',
    maxLength: limits.schemaVersionLength,
    format: 'semver',
    description: `Semantic version of the event schema; major versions 0 to ${limits.schemaMajorMax} are taken.`,
    examples: ['1.0.0'],
  },
  event_id: eventId,
  event_type: { type: 'string', enum: eventTypeNames, examples: ['report_cheating'] },
  peer_id: {
    type: 'string',
    minLength: 1,
    maxLength: limits.peerIdLength,
    description: "The submitting peer's own id.",
    examples: ['7b1e7f2a-9f5e-4a53-8c1d-0d9a5f2f6c11'],
  },
  player_id: playerId,
  game_id: gameId,
  severity: { type: 'number', minimum: limits.severityMin, maximum: limits.severityMax, examples: [0.8] },
  timestamp: { ...dateTime, description: 'When it happened, in UTC; at most 24 hours ahead.' },
} as const;

const eventFields = [
  'schema_version',
  'event_id',
  'event_type',
  'peer_id',
  'player_id',
  'game_id',
  'severity',
  'timestamp',
] as const;

export const eventSchema = {
  type: 'object',
  additionalProperties: false,
  required: eventFields,
  properties: {
    ...eventProperties,
    signature: { description: 'Reserved: any JSON value, neither validated nor used nor stored.' },
  },
} as const;
export type EventBody = FromSchema<typeof eventSchema>;

export const storedEventSchema = {
  type: 'object',
  additionalProperties: false,
  required: [...eventFields, 'received_at', 'status'],
  properties: { ...eventProperties, received_at: dateTime, status: { type: 'string', const: 'accepted' } },
} as const;
export type StoredEventBody = FromSchema<typeof storedEventSchema>;

/** What validates the outside of a batch. Its items are validated one by one, so that a bad one does not fail the rest. */
export const batchEnvelopeSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['events'],
  properties: { events: { type: 'array', minItems: 1, maxItems: limits.batchEventsMax, items: {} } },
} as const;
export type BatchEnvelope = FromSchema<typeof batchEnvelopeSchema>;

export const batchSchema = {
  ...batchEnvelopeSchema,
  properties: { events: { ...batchEnvelopeSchema.properties.events, items: eventSchema } },
} as const;

export const batchResultSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['accepted', 'duplicates', 'rejected', 'results'],
  properties: {
    accepted: count,
    duplicates: count,
    rejected: count,
    results: {
      type: 'array',
      description: 'One entry per event, in the order sent.',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['event_id', 'status'],
        properties: {
          event_id: { type: ['string', 'null'], description: 'As sent; null where it was not a string.' },
          status: { type: 'integer', description: 'What this event alone would have been answered with.' },
          code: { type: 'string', enum: errorCodes },
          error: { type: 'string' },
          details: { type: 'object' },
        },
      },
    },
  },
} as const;
export type BatchResultBody = FromSchema<typeof batchResultSchema>;

export const registrationSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['peer_name', 'game_ids'],
  properties: {
    peer_name: {
      type: 'string',
      minLength: 1,
      maxLength: limits.peerNameLength,
      format: 'well-formed',
      examples: ['Arena EU 1'],
    },
    game_ids: { type: 'array', minItems: 1, maxItems: limits.gameIdsMax, uniqueItems: true, items: gameId },
    contact_email: {
      type: 'string',
      maxLength: limits.emailLength,
      format: 'email',
      description: 'For the operator only, never public.',
      examples: ['ops@example.com'],
    },
  },
} as const;
export type RegistrationBody = FromSchema<typeof registrationSchema>;

const peerProperties = {
  peer_id: { type: 'string', format: 'uuid' },
  peer_name: { type: 'string' },
  game_ids: { type: 'array', items: { type: 'string' } },
  status: { type: 'string', enum: peerStatuses },
  registered_at: dateTime,
} as const;

export const registeredPeerSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['peer_id', 'api_key', 'status', 'peer_name', 'game_ids', 'registered_at'],
  properties: {
    ...peerProperties,
    api_key: { type: 'string', description: 'Shown this once; the service keeps only a hash of it.' },
  },
} as const;
export type RegisteredPeerBody = FromSchema<typeof registeredPeerSchema>;

export const peerListSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['group', 'data', 'next_cursor'],
  properties: {
    group: {
      type: 'object',
      additionalProperties: false,
      required: ['group_id', 'identity_mode', 'peer_count', 'player_count', 'event_count'],
      description: 'Counts are cut to two significant digits, so that they do not tell who reported whom.',
      properties: {
        group_id: { type: 'string' },
        identity_mode: { type: 'string', enum: identityModes },
        peer_count: count,
        player_count: count,
        event_count: count,
      },
    },
    data: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['peer_id', 'peer_name', 'game_ids', 'status', 'registered_at'],
        properties: {
          ...peerProperties,
          event_count: { ...count, description: "Only with an active peer's key." },
          pre_trusted: { type: 'boolean', description: "Only with an active peer's key." },
        },
      },
    },
    next_cursor: nextCursor,
  },
} as const;
export type PeerListBody = FromSchema<typeof peerListSchema>;

export const auditPageSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['data', 'next_cursor'],
  properties: {
    data: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['seq', 'at', 'action', 'actor', 'target', 'prev_hash', 'hash'],
        properties: {
          seq: count,
          at: dateTime,
          action: { type: 'string' },
          actor: { type: 'string' },
          target: { type: 'string' },
          prev_hash: { type: 'string' },
          hash: { type: 'string' },
        },
      },
    },
    next_cursor: nextCursor,
  },
} as const;
export type AuditPageBody = FromSchema<typeof auditPageSchema>;

const verdict = { type: 'string', enum: verdicts } as const;
const confidence = {
  type: 'number',
  minimum: 0,
  maximum: 1,
  description: '0: no signal. At most 4 decimals.',
} as const;
const updatedAt = { ...dateTime, description: 'Newest change of the player, cut to the hour.' } as const;

export const explanationSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['peers', 'pre_trusted', 'half_life_days', 'weights_based_on_seq'],
  properties: {
    peers: { ...count, description: 'Peers that hold evidence.' },
    pre_trusted: { type: 'boolean', description: 'Whether pre-trusted peers are among them.' },
    half_life_days: { type: 'number', minimum: 0 },
    weights_based_on_seq: { ...count, description: 'The log record that the peer weights are based on.' },
    lowering: { type: 'number', minimum: 0, description: 'Absent where fewer than 3 peers contributed.' },
    raising: { type: 'number', minimum: 0, description: 'Absent where fewer than 3 peers contributed.' },
  },
} as const;

export const trustScoreSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['player_id', 'score', 'confidence', 'verdict', 'event_count', 'updated_at'],
  properties: {
    player_id: playerId,
    score: { type: 'number', minimum: 0, maximum: 100, description: '50 is neutral. At most 2 decimals.' },
    confidence,
    verdict,
    event_count: count,
    updated_at: updatedAt,
    explain: { ...explanationSchema, description: 'Only with `explain=true`.' },
  },
} as const;
export type TrustScoreBody = FromSchema<typeof trustScoreSchema>;

export const unknownPlayerSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['player_id', 'code'],
  properties: { player_id: playerId, code: { type: 'string', const: 'player_not_found' } },
} as const;

export const matchScoresSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['data'],
  properties: {
    data: {
      type: 'array',
      description: 'One entry per id, in the order asked; a repeated id is answered twice.',
      items: { anyOf: [trustScoreSchema, unknownPlayerSchema] },
    },
  },
} as const;
export type MatchScoresBody = FromSchema<typeof matchScoresSchema>;

export const verdictSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['player_id', 'verdict', 'confidence', 'updated_at'],
  properties: { player_id: playerId, verdict, confidence, updated_at: updatedAt },
} as const;
export type VerdictBody = FromSchema<typeof verdictSchema>;

export const playerEventsSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['player_id', 'total', 'summarised', 'summary', 'data', 'next_cursor'],
  properties: {
    player_id: playerId,
    total: count,
    summarised: {
      ...count,
      description: `How many of the newest events the summary covers, at most ${limits.summaryEventsMax}.`,
    },
    summary: {
      type: 'array',
      description: 'One row `other` without a week where fewer than 3 peers contributed.',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['event_type', 'count'],
        properties: {
          event_type: { type: 'string', enum: [...eventTypeNames, 'other'] },
          week: { type: 'string', description: 'ISO 8601 week of the events.', examples: ['2026-W47'] },
          count,
        },
      },
    },
    data: {
      type: 'array',
      description: "The caller's own events, newest first; empty without an active peer's key.",
      items: storedEventSchema,
    },
    next_cursor: nextCursor,
  },
} as const;
export type PlayerEventsBody = FromSchema<typeof playerEventsSchema>;

export const erasureSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['subject_hash', 'events_erased', 'erased_at', 'receipt'],
  properties: {
    subject_hash: hashHex,
    events_erased: count,
    erased_at: dateTime,
    receipt: { type: 'string', description: 'The audit log keeps SHA-256(receipt + subject_hash).' },
  },
} as const;
export type ErasureBody = FromSchema<typeof erasureSchema>;

export const pendingErasureSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['subject_hash', 'status', 'receipt'],
  properties: {
    subject_hash: hashHex,
    status: { type: 'string', const: 'pending' },
    receipt: { type: 'string' },
  },
} as const;
export type PendingErasureBody = FromSchema<typeof pendingErasureSchema>;

export const withdrawalSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['event_id', 'withdrawn_at'],
  properties: { event_id: eventId, withdrawn_at: dateTime },
} as const;
export type WithdrawalBody = FromSchema<typeof withdrawalSchema>;

export const healthSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['status', 'service', 'version', 'environment', 'group_id', 'uptime_s', 'last_seq', 'weights'],
  properties: {
    status: { type: 'string', const: 'ok' },
    service: { type: 'string', const: 'peer-trust-federation' },
    version: { type: 'string' },
    environment: { type: 'string', enum: environments },
    group_id: { type: 'string' },
    uptime_s: count,
    last_seq: { ...count, description: 'The newest durable record of the log.' },
    weights: {
      type: 'object',
      additionalProperties: false,
      required: ['based_on_seq', 'computed_at'],
      description: 'Up to which log record the peer weights have been computed.',
      properties: { based_on_seq: count, computed_at: { type: ['string', 'null'], format: 'date-time' } },
    },
  },
} as const;
export type HealthBody = FromSchema<typeof healthSchema>;

export const openApiSchema = {
  type: 'object',
  required: ['openapi', 'info', 'paths'],
  properties: { openapi: { type: 'string' }, info: { type: 'object' }, paths: { type: 'object' } },
} as const;

export const errorSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['error', 'code'],
  properties: {
    error: { type: 'string', description: 'For people; may be reworded between versions.' },
    code: { type: 'string', enum: errorCodes, description: 'For programs; stable across versions.' },
    details: { type: 'object', description: 'Only with some codes.' },
  },
} as const;
export type ErrorBody = FromSchema<typeof errorSchema>;

export const problemSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['type', 'title', 'status', 'detail', 'error', 'code'],
  description: 'RFC 9457, with the members of the plain error as extensions. Sent where `Accept` asks for it.',
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    ...errorSchema.properties,
  },
} as const;
export type ProblemBody = FromSchema<typeof problemSchema>;

/** The schemas that get a name of their own in the OpenAPI document; everything else is written out in place. */
export const namedSchemas = {
  Event: eventSchema,
  StoredEvent: storedEventSchema,
  EventBatch: batchSchema,
  EventBatchResult: batchResultSchema,
  Registration: registrationSchema,
  RegisteredPeer: registeredPeerSchema,
  PeerList: peerListSchema,
  AuditPage: auditPageSchema,
  TrustScore: trustScoreSchema,
  UnknownPlayer: unknownPlayerSchema,
  MatchScores: matchScoresSchema,
  PlayerVerdict: verdictSchema,
  PlayerEvents: playerEventsSchema,
  Erasure: erasureSchema,
  PendingErasure: pendingErasureSchema,
  Withdrawal: withdrawalSchema,
  Health: healthSchema,
  Error: errorSchema,
  Problem: problemSchema,
} as const;
