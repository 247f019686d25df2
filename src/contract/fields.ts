/** Declares the properties that several bodies of the contract share, each as one schema. */
import { eventTypeNames } from '../core/evidence/event-types.js';
import { limits } from '../limits.js';
import { eventId, gameId, originName, playerId, reference } from '../validation/identifiers.js';

export const dateTime = { type: 'string', format: 'date-time', examples: ['2026-01-02T03:04:05.678Z'] } as const;

export const count = { type: 'integer', minimum: 0 } as const;

/** A member that says something by its presence: it is either `true` or absent. */
export function mark(description: string) {
  return { type: 'boolean', const: true, description } as const;
}

export const hashHex = { type: 'string', pattern: '^[0-9a-f]{64}$' } as const;

export const peerId = { type: 'string', minLength: 1, maxLength: limits.peerIdLength } as const;

export const nextCursor = {
  type: ['string', 'null'],
  description: 'Pass it as `cursor` for the next page; null on the last page. Opaque.',
} as const;

export const eventProperties = {
  schema_version: {
    type: 'string',
    maxLength: limits.schemaVersionLength,
    format: 'semver',
    description: `Semantic version of the event schema; major versions 0 to ${limits.schemaMajorMax} are accepted.`,
    examples: ['1.0.0'],
  },
  event_id: eventId,
  event_type: { type: 'string', enum: eventTypeNames, examples: ['report_cheating'] },
  peer_id: {
    ...peerId,
    description: "The submitting peer's own id.",
    examples: ['7b1e7f2a-9f5e-4a53-8c1d-0d9a5f2f6c11'],
  },
  player_id: playerId,
  game_id: gameId,
  severity: { type: 'number', minimum: limits.severityMin, maximum: limits.severityMax, examples: [0.8] },
  timestamp: { ...dateTime, description: 'Time of the event in UTC, at most 24 hours in the future.' },
} as const;

/** Optional fields of an event, from `schema_version` 1.1.0 on. */
export const laterEventProperties = { origin: originName, reference } as const;
