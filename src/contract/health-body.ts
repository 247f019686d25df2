/** The body of health and readiness, as a JSON Schema with its type beside it. */
import { environments } from '../core/vocabulary.js';
import type { FromSchema } from '../validation/schema.js';
import { count } from './fields.js';

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
    last_seq: { ...count, description: 'The newest durable record of the log, raised to two significant digits.' },
    weights: {
      type: 'object',
      additionalProperties: false,
      required: ['based_on_seq', 'computed_at'],
      description:
        'The log record up to which the peer weights have been computed, cut to two significant digits; `last_seq` once the weights cover every record.',
      properties: { based_on_seq: count, computed_at: { type: ['string', 'null'], format: 'date-time' } },
    },
    cluster: {
      type: 'object',
      additionalProperties: false,
      required: ['role', 'has_leader', 'staleness_ms'],
      description: 'This node in its cluster; absent if one node serves the group alone.',
      properties: {
        role: { type: 'string', enum: ['leader', 'follower', 'joining', 'left'] },
        has_leader: {
          type: 'boolean',
          description: 'Whether the group has a leader for writes, as known to this node.',
        },
        staleness_ms: { ...count, description: 'Time since this node last knew that it was up to date.' },
      },
    },
  },
} as const;
export type HealthBody = FromSchema<typeof healthSchema>;
