/** Declares the bodies of successful responses, from which their types and the OpenAPI document are derived. */
import { eventTypeNames } from '../core/evidence/event-types.js';
import { environments, identityModes, peerStatuses, pendingReasons, verdicts } from '../core/vocabulary.js';
import { limits } from '../limits.js';
import { eventId, gameId, playerId } from '../validation/identifiers.js';
import { type FromSchema, shape } from '../validation/schema.js';
import { errorCodeSchema, errorDetailsSchema } from './error-bodies.js';
import { count, dateTime, eventProperties, hashHex, laterEventProperties, mark, nextCursor } from './fields.js';

const noEvidence = {
  type: 'boolean',
  const: false,
  description:
    'Present if the event is stored but is no evidence: it has severity 0, or is older than 20 half-lives, as when seconds are sent for milliseconds.',
} as const;

export const storedEventSchema = shape(
  {
    ...eventProperties,
    ...laterEventProperties,
    disputed: mark(
      'Present while the event is disputed, or the operator upheld a dispute: the event then does not count.',
    ),
    game_id: {
      type: 'string',
      description: 'The game id with which the event was accepted.',
      examples: gameId.examples,
    },
    received_at: dateTime,
    status: { type: 'string', const: 'accepted' },
    counts: noEvidence,
  },
  ['origin', 'reference', 'disputed', 'counts'],
);
export type StoredEventBody = FromSchema<typeof storedEventSchema>;

export const batchResultSchema = shape({
  accepted: count,
  duplicates: count,
  rejected: count,
  results: {
    type: 'array',
    description: 'One entry per event, in the order sent.',
    items: shape(
      {
        event_id: { type: ['string', 'null'], description: 'As sent; null if it was not a string.' },
        status: { type: 'integer', description: 'The answer that this event would get if it were sent alone.' },
        code: errorCodeSchema,
        error: { type: 'string' },
        details: errorDetailsSchema,
        counts: noEvidence,
      },
      ['code', 'error', 'details', 'counts'],
    ),
  },
});
export type BatchResultBody = FromSchema<typeof batchResultSchema>;

const peerProperties = {
  peer_id: { type: 'string', format: 'uuid' },
  peer_name: { type: 'string' },
  game_ids: { type: 'array', items: { type: 'string' } },
  status: { type: 'string', enum: peerStatuses },
  registered_at: dateTime,
} as const;

export const registeredPeerSchema = shape({
  ...peerProperties,
  api_key: { type: 'string', description: 'Shown only this once; the service stores only a hash of the key.' },
});
export type RegisteredPeerBody = FromSchema<typeof registeredPeerSchema>;

const everAccepted = 'Events ever accepted, including events withdrawn or erased since.';

export const peerListSchema = shape({
  group: {
    ...shape({
      group_id: { type: 'string' },
      identity_mode: { type: 'string', enum: identityModes },
      salt_check: {
        type: ['string', 'null'],
        pattern: '^[0-9a-f]{8}$',
        description:
          'The first 8 hexadecimal digits of SHA-256("ptf-salt-check" + group salt), by which a client detects a wrong salt; null if the operator does not publish it.',
      },
      player_id_kinds: {
        anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'null' }],
        description:
          'The kinds of player ids that the group accepts, each in its canonical form only; null if ids are opaque. A person with several ids is known by the first of these kinds.',
      },
      peer_count: count,
      player_count: count,
      event_count: { ...count, description: everAccepted },
    }),
    description: 'Counts are cut to two significant digits, so that they do not reveal who reported whom.',
  },
  data: {
    type: 'array',
    items: shape(
      {
        ...peerProperties,
        event_count: {
          ...count,
          description: `${everAccepted} Cut to two significant digits, without events of the last one to two hours. Present only with an active peer's key.`,
        },
        pre_trusted: { type: 'boolean', description: "Present only with an active peer's key." },
      },
      ['event_count', 'pre_trusted'],
    ),
  },
  next_cursor: nextCursor,
});
export type PeerListBody = FromSchema<typeof peerListSchema>;

export const auditPageSchema = shape({
  data: {
    type: 'array',
    items: shape({
      seq: count,
      at: dateTime,
      action: { type: 'string' },
      actor: { type: 'string' },
      target: { type: 'string' },
      prev_hash: { type: 'string' },
      hash: { type: 'string' },
    }),
  },
  next_cursor: nextCursor,
});
export type AuditPageBody = FromSchema<typeof auditPageSchema>;

const verdict = { type: 'string', enum: verdicts } as const;

const confidence = {
  type: 'number',
  minimum: 0,
  maximum: 1,
  description: '0 means no signal. At most 4 decimals; a multiple of .05 if fewer than three witnesses speak.',
} as const;

const allowed = mark(
  "Present only for a player on the group's allow list: score, confidence and verdict are then neutral, whatever was reported.",
);

const updatedAt = { ...dateTime, description: 'Time of the newest change of the player, cut to the hour.' } as const;

const evidence = {
  type: 'number',
  minimum: 0,
  description: 'Evidence as reported and decayed, before peer weights apply. Absent if fewer than 3 peers contributed.',
} as const;

export const explanationSchema = shape(
  {
    reasons: {
      type: 'array',
      minItems: 1,
      maxItems: 3,
      items: { type: 'string' },
      description:
        'Why the player has its verdict, in sentences for a person. The sentences may change with a release.',
    },
    peers: { ...count, description: 'Peers with evidence about the player.' },
    witnesses: {
      ...count,
      description: 'Independent witnesses among them that have a weight; clones and copied lists count as one.',
    },
    two_sided: {
      type: 'boolean',
      description: 'True if most of the evidence comes from peers that also report good behaviour.',
    },
    half_life_days: { type: 'number', minimum: 0, description: 'Half-life of all evidence but bans; 0 is none.' },
    ban_half_life_days: { type: 'number', minimum: 0, description: 'Half-life of standing bans; 0 is none.' },
    weights_based_on_seq: {
      ...count,
      description: 'The log record that the peer weights are based on, cut to two significant digits.',
    },
    lowering: evidence,
    raising: evidence,
    bans: { ...count, description: 'Independent standing bans. Only with three peers or more.' },
    pre_trusted: { type: 'boolean', description: 'True if one of the peers is pre-trusted. Only with three or more.' },
  },
  ['lowering', 'raising', 'bans', 'pre_trusted'],
);

export const trustScoreSchema = shape(
  {
    player_id: playerId,
    score: {
      type: 'number',
      minimum: 0,
      maximum: 100,
      description: '50 is neutral. At most 2 decimals; none if fewer than three witnesses speak.',
    },
    confidence,
    verdict,
    event_count: count,
    allowed,
    updated_at: updatedAt,
    explain: { ...explanationSchema, description: 'Only with `explain=true`.' },
  },
  ['allowed', 'explain'],
);
export type TrustScoreBody = FromSchema<typeof trustScoreSchema>;

export const unknownPlayerSchema = shape({ player_id: playerId, code: { type: 'string', const: 'player_not_found' } });

export const matchScoresSchema = shape({
  data: {
    type: 'array',
    description: 'One entry per id, in the order asked; a repeated id is answered twice.',
    items: { anyOf: [trustScoreSchema, unknownPlayerSchema] },
  },
});
export type MatchScoresBody = FromSchema<typeof matchScoresSchema>;

export const verdictSchema = shape({ player_id: playerId, verdict, confidence, allowed, updated_at: updatedAt }, [
  'allowed',
]);
export type VerdictBody = FromSchema<typeof verdictSchema>;

export const playerEventsSchema = shape(
  {
    player_id: playerId,
    total: count,
    summarised: {
      ...count,
      description: `How many of the newest events the summary covers, at most ${limits.summaryEventsMax}.`,
    },
    summary: {
      type: 'array',
      description: 'A single row `other` without a week if fewer than 3 peers contributed.',
      items: shape(
        {
          event_type: { type: 'string', enum: [...eventTypeNames, 'other'] },
          week: { type: 'string', description: 'ISO 8601 week of the events.', examples: ['2026-W47'] },
          count,
        },
        ['week'],
      ),
    },
    data: {
      type: 'array',
      description: "The caller's own events, newest first; empty without an active peer's key.",
      items: storedEventSchema,
    },
    erasure_refused: {
      ...shape({ refused_at: dateTime, reason: { type: 'string' } }),
      description: "Present if the operator refused the caller's request to erase the player.",
    },
    next_cursor: nextCursor,
  },
  ['erasure_refused'],
);
export type PlayerEventsBody = FromSchema<typeof playerEventsSchema>;

export const openedDisputeSchema = shape({
  dispute_id: { type: 'string', format: 'uuid' },
  subject_hash: hashHex,
  status: { type: 'string', const: 'open' },
  opened_at: dateTime,
});
export type OpenedDisputeBody = FromSchema<typeof openedDisputeSchema>;

export const erasedEventsSchema = shape({
  total: { ...count, description: "The caller's events that were deleted by an erasure of their player." },
  data: {
    type: 'array',
    description:
      'In the order of their erasure. The event id and the player are no longer known; an id that is sent again is answered 409 with `reason`.',
    items: shape({
      status: { type: 'string', const: 'subject_erased' },
      received_at: { ...dateTime, description: 'As in the answer with which the event was accepted.' },
      erased_at: {
        ...dateTime,
        description: 'Cut to the hour, so that it does not reveal who requested the erasure.',
      },
    }),
  },
  next_cursor: nextCursor,
});
export type ErasedEventsBody = FromSchema<typeof erasedEventsSchema>;

export const erasureSchema = shape({
  subject_hash: hashHex,
  events_erased: count,
  erased_at: dateTime,
  receipt: { type: 'string', description: 'The audit log keeps SHA-256(receipt + subject_hash).' },
});
export type ErasureBody = FromSchema<typeof erasureSchema>;

export const pendingErasureSchema = shape({
  subject_hash: hashHex,
  status: { type: 'string', const: 'pending' },
  receipt: { type: 'string' },
  reason: {
    type: 'string',
    enum: pendingReasons,
    description:
      'Why the erasure waits: the operator confirms every erasure, the peer registered less than a day ago, or other peers reported the player, too.',
  },
});
export type PendingErasureBody = FromSchema<typeof pendingErasureSchema>;

export const withdrawalSchema = shape({ event_id: eventId, withdrawn_at: dateTime });
export type WithdrawalBody = FromSchema<typeof withdrawalSchema>;

export const healthSchema = shape(
  {
    status: { type: 'string', const: 'ok' },
    service: { type: 'string', const: 'peer-trust-federation' },
    version: { type: 'string' },
    environment: { type: 'string', enum: environments },
    group_id: { type: 'string' },
    uptime_s: count,
    last_seq: { ...count, description: 'The newest durable record of the log, raised to two significant digits.' },
    weights: {
      ...shape({ based_on_seq: count, computed_at: { type: ['string', 'null'], format: 'date-time' } }),
      description:
        'The log record up to which the peer weights have been computed, cut to two significant digits; `last_seq` once the weights cover every record.',
    },
    cluster: {
      ...shape({
        role: { type: 'string', enum: ['leader', 'follower', 'joining', 'left'] },
        has_leader: { type: 'boolean', description: 'Whether the group has a leader, as known to this node.' },
        staleness_ms: { ...count, description: 'Time since this node last knew that it was up to date.' },
      }),
      description: 'This node in its cluster; absent if one node serves the group alone.',
    },
  },
  ['cluster'],
);
export type HealthBody = FromSchema<typeof healthSchema>;

const address = { type: 'string', description: 'Relative to the address of the request.' } as const;

export const indexSchema = shape({
  service: { type: 'string', const: 'peer-trust-federation' },
  version: { type: 'string' },
  docs: address,
  openapi: address,
  health: address,
  peers: address,
});
export type IndexBody = FromSchema<typeof indexSchema>;

export const openApiSchema = {
  type: 'object',
  additionalProperties: true,
  required: ['openapi', 'info', 'paths'],
  properties: {
    openapi: { type: 'string' },
    info: { type: 'object', additionalProperties: true },
    paths: { type: 'object', additionalProperties: true },
  },
} as const;
