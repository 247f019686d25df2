/** Declares the bodies of refusals as JSON Schemas, with the `details` that each code has, and their types. */
import { type ErrorCode, type ErrorDetails, errors } from '../errors.js';
import { limits } from '../limits.js';
import { eventId } from '../validation/identifiers.js';
import { type FromSchema, type Schema, shape } from '../validation/schema.js';
import { dateTime, mark } from './fields.js';

const errorCodes = Object.keys(errors) as ErrorCode[];

export const errorCodeSchema = {
  type: 'string',
  enum: errorCodes,
  description: 'For programs; stable across versions.',
} as const;

const errorText = { type: 'string', description: 'For people; may be reworded between versions.' } as const;

const violationProperties = {
  field: {
    type: 'string',
    description: 'JSON pointer of the faulty field, which may be a missing or an unknown one.',
  },
  violation: { type: 'string', description: 'The JSON Schema keyword that the value violates.' },
  actual: { type: 'number', description: 'The value, or its length, if the keyword is a bound.' },
  limit: { type: 'number', description: 'The bound.' },
} as const;

export const violationSchema = shape({ ...violationProperties, error: errorText }, ['actual', 'limit']);

/** The schema of the `details` of each code that has some. */
export const detailsByCode = {
  schema_validation_failed: shape(
    {
      ...violationProperties,
      more: {
        type: 'array',
        minItems: 1,
        maxItems: limits.furtherFaultsMax,
        description: `Further faults of the same body. In a batch only the first ${limits.batchFaultsExplained} faulty events have them.`,
        items: violationSchema,
      },
    },
    ['actual', 'limit', 'more'],
  ),
  invalid_parameter: shape({
    parameter: { type: 'string', description: 'The parameter whose id contains forbidden characters.' },
    violation: { type: 'string', const: 'pattern' },
  }),
  missing_api_key: {
    ...shape({ expected_header: { type: 'string', const: 'X-Peer-API-Key' }, hint: { type: 'string' } }),
    description: 'Present if the request has an Authorization header, which is ignored.',
  },
  duplicate_event: {
    anyOf: [
      shape(
        {
          event_id: eventId,
          originally_received_at: dateTime,
          reason: {
            type: 'string',
            const: 'subject_erased',
            description: 'The event is no longer stored: an erasure of its player deleted it. Its id stays taken.',
          },
        },
        ['reason'],
      ),
      shape({
        event_id: eventId,
        owner: { type: 'string', const: 'other', description: "Another peer's event has this id." },
      }),
    ],
  },
  duplicate_dispute: shape({
    dispute_id: { type: 'string', format: 'uuid', description: 'The dispute that is open.' },
  }),
  player_id_not_canonical: shape({
    canonical_forms: {
      type: 'array',
      minItems: 1,
      description: 'The kinds of ids that the group accepts, and the canonical form of each.',
      items: shape({ kind: { type: 'string' }, form: { type: 'string', description: 'The reason, for people.' } }),
    },
  }),
  erasure_quota_exceeded: shape({
    quota: { type: 'string', enum: ['peer', 'group'], description: 'Whose quota is used up.' },
    per_day: { type: 'integer', description: 'Erasures that the quota allows in 24 hours, including waiting ones.' },
  }),
  rate_limited: shape(
    {
      limit: { type: 'string', description: 'Which limit was reached.' },
      per_s: { type: 'number', description: 'Number of requests that the limit allows per second.' },
      per_hour: { type: 'number', description: 'Number of requests that the limit allows per hour.' },
    },
    ['per_s', 'per_hour'],
  ),
  internal_error: shape({
    request_id: { type: 'string', description: "Identifies the line in the node's log for the operator." },
  }),
  dependency_unavailable: {
    type: 'object',
    additionalProperties: false,
    properties: {
      reason: { type: 'string', description: 'Why the node does not serve requests now.' },
      recorded: mark('The change is recorded but not complete yet, or may have been recorded.'),
      role: { type: 'string', description: 'Role of a node of a cluster: `leader`, `follower`, `joining` or `left`.' },
    },
  },
} as const satisfies Record<keyof ErrorDetails, Schema>;

/** Codes whose `details` may be absent. */
const optionalDetails: readonly string[] = ['invalid_parameter', 'missing_api_key', 'dependency_unavailable'];

export const errorDetailsSchema = { anyOf: Object.values(detailsByCode) } as const;

function errorOf(code: Schema, details?: Schema, isRequired = false): Schema {
  const properties: Readonly<Record<string, Schema>> = { error: errorText, code, ...(details && { details }) };
  return shape(properties, isRequired ? [] : ['details']);
}

/** One branch for each code that has `details`, so that the code determines their type, and one for all other codes. */
export const errorSchema: Schema = {
  anyOf: [
    ...Object.entries<Schema>(detailsByCode).map(([code, details]) =>
      errorOf({ type: 'string', const: code }, details, !optionalDetails.includes(code)),
    ),
    errorOf({ type: 'string', enum: errorCodes.filter((code) => !Object.hasOwn(detailsByCode, code)) }),
  ],
};

export interface ErrorBody {
  readonly error: string;
  readonly code: ErrorCode;
  readonly details?: ErrorDetails[keyof ErrorDetails];
}

export const problemSchema = {
  ...shape(
    {
      type: { type: 'string' },
      title: { type: 'string' },
      status: { type: 'integer' },
      detail: { type: 'string' },
      error: errorText,
      code: errorCodeSchema,
      details: errorDetailsSchema,
    },
    ['details'],
  ),
  description:
    'Problem details (RFC 9457) with the members of the plain error as extensions. Sent if `Accept` asks for this type.',
};
export type ProblemBody = FromSchema<typeof problemSchema>;
