/** Declares all routes of the public port. Router, checks, validators and OpenAPI document follow from the table. */
import type { ErrorCode } from '../errors.js';
import { limits } from '../limits.js';
import { playerId } from '../validation/identifiers.js';
import type { FromSchema, Schema } from '../validation/schema.js';
import * as requests from './request-bodies.js';
import * as responses from './response-bodies.js';
import * as stream from './verdict-stream.js';

interface Parameter {
  readonly description: string;
  readonly schema: Schema;
}

export const queryParameters = {
  limit: {
    description: `Entries per page; ${limits.pageDefault} if absent.`,
    schema: { type: 'integer', minimum: 1, maximum: limits.pageMax },
  },
  cursor: {
    description: 'The `next_cursor` of the previous page.',
    schema: { type: 'string', minLength: 1, maxLength: limits.cursorLength },
  },
  explain: {
    description: '`true` adds the parts of the score, without the identities of peers.',
    schema: { type: 'string', enum: ['true', 'false'] },
  },
  ids: {
    description: `Player ids, separated by commas, which may be escaped (\`+\` is a plus). With those of \`id\`, 1 to ${limits.matchIdsMax}.`,
    schema: { type: 'string', examples: ['steam:76561198000000001,steam:76561198000000002'] },
  },
  id: {
    description: 'One player id, which may contain commas; may be repeated. Follows those of `ids` in the answer.',
    schema: { type: 'array', items: { type: 'string' } },
  },
} as const satisfies Record<string, Parameter>;

export type QueryParameter = keyof typeof queryParameters;

export const pathParameters: Readonly<Record<string, Parameter>> = {
  id: {
    description: 'The player, as in `player_id` of an event: the opaque id, or the subject hash.',
    schema: { type: 'string', minLength: 1, maxLength: limits.playerIdLength, pattern: playerId.pattern },
  },
  hash: {
    description: 'The subject hash, in either case.',
    schema: { type: 'string', pattern: '^[0-9A-Fa-f]{64}$' },
  },
  event_id: {
    description: 'The id of an event that the calling peer submitted.',
    schema: { type: 'string', minLength: 1, maxLength: limits.eventIdLength },
  },
};

/** A successful response. Without `schema` the body is not JSON, and `contentType` names its type. */
export interface Success {
  readonly description: string;
  readonly schema?: Schema;
  readonly contentType?: string;
  readonly events?: readonly Schema[];
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** The template, with parameters as `{name}`; also the label of metrics and logs. */
  readonly path: string;
  readonly tag: 'Players' | 'Events' | 'Peers' | 'Subjects' | 'Service';
  readonly summary: string;
  /** `none` ignores keys; `optional` never fails because of one; `required` needs an active peer's key. */
  readonly auth: 'none' | 'optional' | 'required';
  /** `public`: without a key the answer has an ETag and may be cached for a short time. */
  readonly cache: 'public' | 'none';
  /** True if the route answers even while the group is recovering, draining or stopped. */
  readonly whileNotReady: boolean;
  readonly body?: { readonly schema: Schema; readonly documented?: Schema; readonly bytesMax: number };
  readonly query: readonly QueryParameter[];
  readonly header?: { readonly name: string; readonly description: string };
  readonly success: Readonly<Record<number, Success>>;
  /** The codes with which this route refuses, beyond `everyRoute`. */
  readonly codes: readonly ErrorCode[];
  readonly page?: true;
}

const keyCodes = ['missing_api_key', 'invalid_api_key', 'peer_not_active'] as const;
const signatureCodes = ['signature_missing', 'signature_invalid', 'signature_expired', 'signature_replayed'] as const;
/** Codes of actions in the name of a peer. */
const writeCodes = [...keyCodes, ...signatureCodes] as const;
const bodyCodes = [
  'unsupported_media_type',
  'payload_too_large',
  'malformed_json',
  'schema_validation_failed',
] as const;
const playerCodes = [
  'invalid_parameter',
  'player_not_found',
  'subject_hash_required',
  'player_id_not_canonical',
] as const;

/** Codes that any request can get, whatever its route, including one that is no valid request. */
export const everyRoute = [
  'invalid_parameter',
  'route_not_found',
  'method_not_allowed',
  'request_timeout',
  'expectation_failed',
  'uri_too_long',
  'headers_too_large',
  'rate_limited',
  'internal_error',
  'dependency_unavailable',
  'no_leader',
  'stale',
  'overloaded',
] as const satisfies readonly ErrorCode[];

const probe = {
  method: 'GET',
  tag: 'Service',
  auth: 'none',
  cache: 'none',
  whileNotReady: true,
  query: [],
  codes: [],
} as const;
const description = { ...probe, cache: 'public' } as const;
const keyed = { auth: 'required', cache: 'none', whileNotReady: false, query: [] } as const;
const read = { method: 'GET', tag: 'Players', auth: 'optional', cache: 'public', whileNotReady: false } as const;
const pageQuery = ['limit', 'cursor'] as const;
const keyedList = { ...keyed, method: 'GET', query: pageQuery } as const;
const keyedPost = { ...keyed, method: 'POST' } as const;

export const routes = {
  getIndex: {
    ...probe,
    path: '/',
    summary: 'The addresses of this service; browsers are redirected to the description',
    success: {
      200: { description: 'The addresses of this service.', schema: responses.indexSchema },
      302: {
        description: 'Redirect to the page of the description, for callers that accept text/html.',
        schema: responses.indexSchema,
      },
    },
  },
  getHealth: {
    ...probe,
    path: '/api/v1/health',
    summary: 'Whether the service is up',
    success: { 200: { description: 'The service is up and accepts writes.', schema: responses.healthSchema } },
  },
  getReadiness: {
    ...probe,
    path: '/api/v1/ready',
    summary: 'Whether the service accepts traffic (readiness probe)',
    success: { 200: { description: 'Ready.', schema: responses.healthSchema } },
  },
  registerPeer: {
    ...keyed,
    auth: 'none',
    method: 'POST',
    path: '/api/v1/peers/register',
    tag: 'Peers',
    summary: 'Register a peer and receive its key',
    body: { schema: requests.registrationSchema, bytesMax: limits.eventBodyBytes },
    success: { 201: { description: 'Registered and active.', schema: responses.registeredPeerSchema } },
    codes: [...bodyCodes, 'registration_closed', 'invalid_session', 'overloaded'],
  },
  listPeers: {
    ...read,
    path: '/api/v1/peers',
    tag: 'Peers',
    summary: 'The group and its peers, oldest first',
    query: pageQuery,
    success: { 200: { description: 'One page of peers.', schema: responses.peerListSchema } },
    codes: ['invalid_parameter'],
  },
  listAudit: {
    ...keyedList,
    path: '/api/v1/audit',
    tag: 'Service',
    summary: 'The audit log, oldest first',
    success: { 200: { description: 'One page of the hash-chained log.', schema: responses.auditPageSchema } },
    codes: [...keyCodes, 'invalid_parameter', 'overloaded'],
  },
  submitEvent: {
    ...keyedPost,
    path: '/api/v1/events',
    tag: 'Events',
    summary: 'Submit one trust event',
    body: { schema: requests.eventSchema, bytesMax: limits.eventBodyBytes },
    success: { 201: { description: 'Stored durably.', schema: responses.storedEventSchema } },
    codes: [
      ...writeCodes,
      ...bodyCodes,
      'unsupported_schema_version',
      'peer_id_mismatch',
      'unknown_peer',
      'game_id_not_registered',
      'subject_hash_required',
      'player_id_not_canonical',
      'timestamp_in_future',
      'unknown_origin',
      'duplicate_event',
      'overloaded',
    ],
  },
  submitEvents: {
    ...keyedPost,
    path: '/api/v1/events/batch',
    tag: 'Events',
    summary: 'Submit many trust events in one durable commit',
    body: {
      schema: requests.batchEnvelopeSchema,
      documented: requests.batchSchema,
      bytesMax: limits.batchBodyBytes,
    },
    success: { 200: { description: 'Each event has its own result.', schema: responses.batchResultSchema } },
    codes: [...writeCodes, ...bodyCodes, 'overloaded'],
  },
  withdrawEvent: {
    ...keyed,
    method: 'DELETE',
    path: '/api/v1/events/{event_id}',
    tag: 'Events',
    summary: "Withdraw one of the caller's events",
    success: {
      200: { description: 'The event is withdrawn; its id stays taken.', schema: responses.withdrawalSchema },
    },
    codes: [...writeCodes, 'invalid_parameter', 'event_not_found', 'overloaded'],
  },
  listErasedEvents: {
    ...keyedList,
    path: '/api/v1/events/erased',
    tag: 'Events',
    summary: "The caller's events that were deleted by an erasure of their player",
    success: { 200: { description: 'One page of erased events.', schema: responses.erasedEventsSchema } },
    codes: [...keyCodes, 'invalid_parameter'],
  },
  eraseSubject: {
    ...keyed,
    method: 'DELETE',
    path: '/api/v1/subjects/{hash}',
    tag: 'Subjects',
    summary: 'Erase all data about a subject',
    success: {
      200: { description: 'Erased.', schema: responses.erasureSchema },
      202: {
        description: 'The request is recorded; the operator must confirm the erasure.',
        schema: responses.pendingErasureSchema,
      },
    },
    codes: [...writeCodes, 'invalid_parameter', 'subject_not_found', 'erasure_quota_exceeded', 'overloaded'],
  },
  openDispute: {
    ...keyedPost,
    path: '/api/v1/subjects/{hash}/disputes',
    tag: 'Subjects',
    summary: 'Dispute the events about a subject; the operator decides',
    body: { schema: requests.disputeSchema, bytesMax: limits.eventBodyBytes },
    success: {
      201: { description: 'The dispute is recorded for the operator.', schema: responses.openedDisputeSchema },
    },
    codes: [
      ...writeCodes,
      ...bodyCodes,
      'invalid_parameter',
      'subject_not_found',
      'unknown_peer',
      'duplicate_dispute',
      'nothing_to_dispute',
      'dispute_quota_exceeded',
      'overloaded',
    ],
  },
  getTrustScore: {
    ...read,
    path: '/api/v1/players/{id}/trust-score',
    summary: "A player's trust score",
    query: ['explain'],
    success: { 200: { description: 'The score.', schema: responses.trustScoreSchema } },
    codes: playerCodes,
  },
  getVerdict: {
    ...read,
    path: '/api/v1/players/{id}/verdict',
    summary: "A player's verdict",
    query: [],
    success: { 200: { description: 'The verdict.', schema: responses.verdictSchema } },
    codes: playerCodes,
  },
  listPlayerEvents: {
    ...read,
    path: '/api/v1/players/{id}/events',
    summary: "A summary of a player's events, and the caller's own events in full",
    query: pageQuery,
    success: { 200: { description: 'The summary and one page of own events.', schema: responses.playerEventsSchema } },
    codes: [...playerCodes, 'overloaded'],
  },
  getTrustScores: {
    ...read,
    path: '/api/v1/trust-scores',
    summary: 'The trust scores of a whole match',
    query: ['ids', 'id'],
    success: { 200: { description: 'One entry per id, in the order asked.', schema: responses.matchScoresSchema } },
    codes: ['invalid_parameter', 'subject_hash_required', 'player_id_not_canonical'],
  },
  streamVerdicts: {
    ...keyed,
    method: 'GET',
    path: '/api/v1/verdicts/stream',
    tag: 'Players',
    summary: 'Every change of a verdict or a score as it happens, as server-sent events, for a cache',
    header: {
      name: 'Last-Event-ID',
      description:
        'The newest event id that the caller read, from which the stream continues. Without this header the stream begins with a snapshot of all players.',
    },
    success: {
      200: {
        description:
          'Events `hello`, `reset`, `snapshot`, `change`, `heartbeat` and `resume`, whose data have the schemas `Stream…`, until either side ends the stream.',
        contentType: 'text/event-stream',
        events: Object.values(stream.eventSchemas),
      },
    },
    codes: [...keyCodes, 'overloaded'],
  },
  getOpenApi: {
    ...description,
    path: '/api/v1/openapi.json',
    summary: 'This description',
    success: { 200: { description: 'OpenAPI 3.1.', schema: responses.openApiSchema } },
  },
  getOpenApi30: {
    ...description,
    path: '/api/v1/openapi-3.0.json',
    summary: 'This description for generators that do not read OpenAPI 3.1',
    success: { 200: { description: 'OpenAPI 3.0.3.', schema: responses.openApiSchema } },
  },
  getDocs: {
    ...description,
    path: '/docs',
    summary: 'The description as a page',
    success: { 200: { description: 'A page.', contentType: 'text/html; charset=utf-8' } },
    page: true,
  },
  getDocsAsset: {
    ...description,
    path: '/docs/{asset}',
    summary: 'The files of the page',
    success: { 200: { description: 'A style sheet, a script or an image.', contentType: 'application/octet-stream' } },
    page: true,
  },
} as const satisfies Record<string, Route>;

export function isWrite({ auth, method }: Route): boolean {
  return auth === 'required' && method !== 'GET';
}

export type OperationId = keyof typeof routes;

export type BodyOf<Id extends OperationId> = (typeof routes)[Id] extends {
  readonly body: { readonly schema: infer Body };
}
  ? FromSchema<Body>
  : undefined;
