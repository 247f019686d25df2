/** Generates the OpenAPI 3.1 document from the table of routes and the schemas by which requests are validated. */
import { type ErrorCode, type ErrorDetails, errors } from '../errors.js';
import type { Schema } from '../validation/schema.js';
import * as refusals from './error-bodies.js';
import * as requests from './request-bodies.js';
import * as responses from './response-bodies.js';
import { everyRoute, isWrite, pathParameters, queryParameters, type Route, routes, type Success } from './routes.js';
import * as stream from './verdict-stream.js';

/** The schemas that the document defines once and refers to; it inlines all others. */
const namedSchemas = {
  Event: requests.eventSchema,
  StoredEvent: responses.storedEventSchema,
  EventBatch: requests.batchSchema,
  EventBatchResult: responses.batchResultSchema,
  Registration: requests.registrationSchema,
  RegisteredPeer: responses.registeredPeerSchema,
  PeerList: responses.peerListSchema,
  AuditPage: responses.auditPageSchema,
  TrustScore: responses.trustScoreSchema,
  UnknownPlayer: responses.unknownPlayerSchema,
  MatchScores: responses.matchScoresSchema,
  PlayerVerdict: responses.verdictSchema,
  PlayerEvents: responses.playerEventsSchema,
  Erasure: responses.erasureSchema,
  PendingErasure: responses.pendingErasureSchema,
  Dispute: requests.disputeSchema,
  OpenedDispute: responses.openedDisputeSchema,
  Withdrawal: responses.withdrawalSchema,
  Health: responses.healthSchema,
  StreamHello: stream.eventSchemas.hello,
  StreamReset: stream.eventSchemas.reset,
  StreamSnapshot: stream.eventSchemas.snapshot,
  StreamChange: stream.eventSchemas.change,
  StreamHeartbeat: stream.eventSchemas.heartbeat,
  StreamResume: stream.eventSchemas.resume,
  ErrorCode: refusals.errorCodeSchema,
  SchemaFault: refusals.violationSchema,
  SchemaFaults: refusals.detailsByCode.schema_validation_failed,
  InvalidParameterDetails: refusals.detailsByCode.invalid_parameter,
  DuplicateDetails: refusals.detailsByCode.duplicate_event,
  DuplicateDisputeDetails: refusals.detailsByCode.duplicate_dispute,
  RateLimitDetails: refusals.detailsByCode.rate_limited,
  InternalErrorDetails: refusals.detailsByCode.internal_error,
  UnavailableDetails: refusals.detailsByCode.dependency_unavailable,
  ErrorDetails: refusals.errorDetailsSchema,
  Error: refusals.errorSchema,
  Problem: refusals.problemSchema,
} as const;

type Json = Readonly<Record<string, unknown>>;

const names = new Map<Schema, string>(Object.entries(namedSchemas).map(([name, schema]) => [schema, name]));

/** Replaces the named schemas inside a schema by references; `own` is the one being defined. */
function referenced(schema: Schema, own?: Schema): unknown {
  const name = schema === own ? undefined : names.get(schema);
  if (name !== undefined) return { $ref: `#/components/schemas/${name}` };
  const { properties, items, anyOf, ...rest } = schema;
  const fields = Object.entries(properties ?? {}).map(([key, value]) => [key, referenced(value)]);
  return {
    ...rest,
    ...(properties && { properties: Object.fromEntries(fields) }),
    ...(items && { items: referenced(items) }),
    ...(anyOf && { anyOf: anyOf.map((branch) => referenced(branch)) }),
  };
}

const exampleDetails: Partial<ErrorDetails> & Partial<Record<ErrorCode, object>> = {
  schema_validation_failed: {
    field: '/severity',
    violation: 'maximum',
    actual: 1.5,
    limit: 1,
    more: [{ field: '/game_id', violation: 'pattern', error: 'game_id must not begin or end with a blank' }],
  },
  erasure_quota_exceeded: { quota: 'peer', per_day: 100 },
  player_id_not_canonical: { canonical_forms: [{ kind: 'steam', form: 'the decimal SteamID64 of 17 digits' }] },
  rate_limited: { limit: 'address', per_s: 100 },
  duplicate_dispute: { dispute_id: '3f2b8a51-7c1d-4a8e-9b35-6d0f4e2c1a90' },
  duplicate_event: {
    event_id: '0c4b2d0e-6f0a-4e0b-9c43-5f1a2b3c4d5e',
    originally_received_at: '2026-01-02T03:04:05.678Z',
  },
  internal_error: { request_id: '5f0c7d1e-3a61-4f0e-8a0b-0d7a3f1b2c9d' },
};

function errorExample(code: ErrorCode): Json {
  const details = exampleDetails[code];
  // This text states the value that was found.
  const text = code === 'schema_validation_failed' ? 'severity must be at most 1; got 1.5' : errors[code].text;
  return { error: text, code, ...(details === undefined ? {} : { details }) };
}

const requestIdHeader = {
  'X-Request-Id': {
    description: "The caller's request id if it was usable, otherwise a new one.",
    schema: { type: 'string' },
  },
};

const cacheHeaders = {
  ETag: { description: 'Tag of the answer, for requests without a key.', schema: { type: 'string' } },
  'Cache-Control': { schema: { type: 'string' } },
};

/** OpenAPI 3.1 cannot describe a stream, so that its schema is that of the data of an event. */
function successResponse(route: Route, { description, schema, contentType, events }: Success): Json {
  const type = schema === undefined ? (contentType ?? 'application/octet-stream') : 'application/json';
  const described = schema ?? (events && { anyOf: events });
  const headers = route.cache === 'public' ? { ...requestIdHeader, ...cacheHeaders } : requestIdHeader;
  return {
    description,
    headers,
    content: { [type]: described === undefined ? {} : { schema: referenced(described) } },
  };
}

function errorHeaders(status: number): Json {
  if (status === 401) return { ...requestIdHeader, 'WWW-Authenticate': { schema: { type: 'string' } } };
  if (status === 405) return { ...requestIdHeader, Allow: { schema: { type: 'string' } } };
  const later = { ...requestIdHeader, 'Retry-After': { description: 'Seconds.', schema: { type: 'integer' } } };
  if (status === 429) return { ...later, RateLimit: { schema: { type: 'string' } } };
  return status === 503 ? later : requestIdHeader;
}

/** One response per status, with its codes in the description and as examples. */
function errorResponses(codes: readonly ErrorCode[]): Json {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of new Set(codes)) {
    const { status } = errors[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const entries = [...byStatus].map(([status, ofStatus]) => {
    const examples = Object.fromEntries(ofStatus.map((code) => [code, { value: errorExample(code) }]));
    const content = {
      'application/json': { schema: { $ref: '#/components/schemas/Error' }, examples },
      'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
    };
    const description = ofStatus.map((code) => `\`${code}\`: ${errors[code].text}`).join('\n\n');
    return [String(status), { description, headers: errorHeaders(status), content }];
  });
  return Object.fromEntries(entries);
}

function parametersOf(route: Route): Json[] {
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map((found) => {
    const name = found[1] ?? '';
    return { name, in: 'path', required: true, ...pathParameters[name] };
  });
  const inQuery = route.query.map((name) => {
    // Ids are opaque, and `+` is no blank.
    const reserved = name === 'ids' ? { allowReserved: true } : {};
    return { name, in: 'query', required: false, ...queryParameters[name], ...reserved };
  });
  const inHeader = route.header === undefined ? [] : [headerParameter(route.header)];
  return [...inPath, ...inQuery, ...inHeader, ...(isWrite(route) ? signatureParameters(route) : [])];
}

function headerParameter(field: { readonly name: string; readonly description: string }): Json {
  return { ...field, in: 'header', required: false, schema: { type: 'string' } };
}

/** RFC 9421: only a peer with a public key needs signatures, unless the node requires them. */
function signatureParameters(route: Route): Json[] {
  const covered = `\`@method\`, \`@path\`, ${route.body === undefined ? '' : '`content-digest`, '}\`x-peer-api-key\``;
  const fields = {
    'Signature-Input': `Required for a signed write (RFC 9421). The signature covers ${covered} and has the parameter \`created\`.`,
    Signature: "Ed25519 signature that the peer's registered public key verifies.",
    ...(route.body && { 'Content-Digest': 'The sha-256 or sha-512 digest of the body (RFC 9530).' }),
  };
  return Object.entries(fields).map(([name, description]) => headerParameter({ name, description }));
}

function securityOf(id: string, route: Route): Json[] {
  if (id === 'registerPeer') return [{}, { serviceSession: [] }];
  if (route.auth === 'required') return [{ peerKey: [] }];
  return route.auth === 'optional' ? [{}, { peerKey: [] }] : [];
}

function operationOf(id: string, route: Route): Json {
  const requestBody = route.body && {
    required: true,
    description: `At most ${route.body.bytesMax} bytes, UTF-8, no content encoding.`,
    content: { 'application/json': { schema: referenced(route.body.documented ?? route.body.schema) } },
  };
  const successes = Object.entries(route.success).map(([status, one]) => [status, successResponse(route, one)]);
  const notModified = route.cache === 'public' && { 304: { description: '`If-None-Match` names the current tag.' } };
  return {
    operationId: id,
    tags: [route.tag],
    summary: route.summary,
    security: securityOf(id, route),
    parameters: parametersOf(route),
    ...(requestBody && { requestBody }),
    responses: {
      ...Object.fromEntries(successes),
      ...notModified,
      ...errorResponses([...route.codes, ...everyRoute]),
    },
  };
}

export function openApiDocument(version: string): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const [id, route] of Object.entries<Route>(routes)) {
    if (route.page) continue;
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operationOf(id, route) };
  }
  const schemas = Object.entries<Schema>(namedSchemas).map(([name, schema]) => [name, referenced(schema, schema)]);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Peer Trust Federation',
      version,
      description:
        'Game servers of one group submit trust events about players and read back aggregated scores. Unknown query parameters are ignored; unknown members of bodies are refused.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags: ['Players', 'Events', 'Peers', 'Subjects', 'Service'].map((name) => ({ name })),
    paths,
    components: {
      schemas: Object.fromEntries(schemas),
      securitySchemes: {
        peerKey: { type: 'apiKey', in: 'header', name: 'X-Peer-API-Key', description: 'Issued at registration.' },
        serviceSession: {
          type: 'apiKey',
          in: 'cookie',
          name: 'service_session',
          description: 'Hosted deployments: set by the dashboard after sign-in. Ignored if registration is open.',
        },
      },
    },
  };
}
