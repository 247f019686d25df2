/** Declares the body of the health and readiness routes as a JSON Schema, and its type. */
import { environments } from '../core/vocabulary.js';
import { type FromSchema, shape } from '../validation/schema.js';
import { count } from './fields.js';

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
        has_leader: {
          type: 'boolean',
          description: 'Whether the group has a leader for writes, as known to this node.',
        },
        staleness_ms: { ...count, description: 'Time since this node last knew that it was up to date.' },
      }),
      description: 'This node in its cluster; absent if one node serves the group alone.',
    },
  },
  ['cluster'],
);
export type HealthBody = FromSchema<typeof healthSchema>;
