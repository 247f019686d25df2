/** Declares refusals: codes, HTTP statuses, default texts (specification, section 7). Domain code uses codes only. */

export const errors = {
  malformed_json: { status: 400, text: 'the body is not valid JSON in UTF-8' },
  schema_validation_failed: { status: 400, text: 'the body does not satisfy the schema' },
  invalid_parameter: { status: 400, text: 'a parameter of the request is not valid' },
  missing_api_key: { status: 401, text: 'missing api key' },
  invalid_api_key: { status: 401, text: 'invalid api key' },
  invalid_session: { status: 401, text: 'a valid service_session cookie is required' },
  signature_missing: { status: 401, text: 'this write must be signed with the key of the peer (RFC 9421)' },
  signature_invalid: { status: 401, text: 'the signature of the request is not valid' },
  signature_expired: { status: 401, text: 'the signature of the request is outside its time window' },
  signature_replayed: { status: 401, text: 'a request with this signature was taken before; sign each request anew' },
  peer_not_active: { status: 403, text: 'peer not active' },
  cross_site: { status: 403, text: 'changes are accepted only from the dashboard itself' },
  registration_closed: { status: 403, text: 'registration is closed; ask the operator of this node' },
  player_not_found: { status: 404, text: 'the player has no events' },
  subject_not_found: { status: 404, text: 'the subject has no events' },
  event_not_found: { status: 404, text: 'no such event of this peer' },
  dispute_not_found: { status: 404, text: 'no dispute has this id' },
  route_not_found: { status: 404, text: 'no such route' },
  method_not_allowed: { status: 405, text: 'the route does not accept this method' },
  request_timeout: { status: 408, text: 'the request took too long to arrive' },
  duplicate_event: { status: 409, text: 'an event with this event_id is already stored' },
  duplicate_dispute: { status: 409, text: 'this peer already has an open dispute about this subject' },
  nothing_to_dispute: {
    status: 422,
    text: 'no lowering evidence about this player is held, by the named peer or, if none is named, by any',
  },
  dispute_decided: { status: 409, text: 'the dispute is already decided' },
  reporter_required: { status: 422, text: 'name the peers whose events become void' },
  payload_too_large: { status: 413, text: 'the body is too large' },
  uri_too_long: { status: 414, text: 'the request target is too long' },
  unsupported_media_type: {
    status: 415,
    text: 'the body must be application/json in UTF-8 without a content encoding',
  },
  expectation_failed: { status: 417, text: 'Expect may only be 100-continue' },
  timestamp_in_future: { status: 422, text: 'timestamp is more than 24 hours in the future' },
  peer_id_mismatch: { status: 422, text: 'peer_id differs from the authenticated peer' },
  game_id_not_registered: { status: 422, text: 'game_id is not registered for this peer' },
  unknown_peer: { status: 422, text: 'peer_id is not a peer of this group' },
  unknown_origin: { status: 422, text: 'origin is not an origin that the operator declared' },
  unsupported_schema_version: { status: 422, text: 'this major version of the event schema is not supported' },
  subject_hash_required: { status: 422, text: 'this group accepts only subject hashes (high-security mode)' },
  player_id_not_canonical: { status: 422, text: 'this group accepts player ids only in their canonical form' },
  erasure_quota_exceeded: { status: 429, text: 'the daily quota of erasures of this peer is used up' },
  dispute_quota_exceeded: { status: 429, text: 'the daily quota of disputes of this peer is used up' },
  rate_limited: { status: 429, text: 'too many requests; try again later' },
  headers_too_large: { status: 431, text: 'the header fields are too large' },
  internal_error: { status: 500, text: 'internal error' },
  dependency_unavailable: { status: 503, text: 'the service cannot reach its data store' },
  no_leader: { status: 503, text: 'the group has no leader at the moment; try again' },
  stale: { status: 503, text: 'this node may be behind the others of its group; ask another one, or try again' },
  overloaded: { status: 503, text: 'the service is at its limit; try again later' },
} as const satisfies Record<string, { status: number; text: string }>;

export type ErrorCode = keyof typeof errors;

export interface ViolationDetails {
  readonly field: string;
  readonly violation: string;
  readonly actual?: number;
  readonly limit?: number;
  readonly error: string;
}

/** The types of the schemas in `contract/error-bodies.ts`, which this file may not import; a test compares them. */
export interface ErrorDetails {
  readonly schema_validation_failed: Omit<ViolationDetails, 'error'> & { readonly more?: readonly ViolationDetails[] };
  readonly invalid_parameter: { readonly parameter: string; readonly violation: 'pattern' };
  readonly missing_api_key: { readonly expected_header: 'X-Peer-API-Key'; readonly hint: string };
  readonly duplicate_event:
    | { readonly event_id: string; readonly originally_received_at: string; readonly reason?: 'subject_erased' }
    | { readonly event_id: string; readonly owner: 'other' };
  readonly duplicate_dispute: { readonly dispute_id: string };
  readonly player_id_not_canonical: {
    readonly canonical_forms: readonly { readonly kind: string; readonly form: string }[];
  };
  readonly erasure_quota_exceeded: { readonly quota: 'peer' | 'group'; readonly per_day: number };
  readonly rate_limited: { readonly limit: string; readonly per_s?: number; readonly per_hour?: number };
  readonly internal_error: { readonly request_id: string };
  readonly dependency_unavailable: { readonly reason?: string; readonly recorded?: true; readonly role?: string };
}

/** An understood but refused request. Refusals are returned and never thrown; a broken invariant throws instead. */
export interface Refusal {
  readonly ok: false;
  readonly code: ErrorCode;
  /** Replaces the default text by a more exact one. Contains no secret and no player id. */
  readonly text?: string;
  readonly details?: ErrorDetails[keyof ErrorDetails];
  /** Seconds after which a retry makes sense (429, 503). */
  readonly retryAfterS?: number;
}

export interface Granted<T> {
  readonly ok: true;
  readonly value: T;
}

export type Outcome<T> = Granted<T> | Refusal;

export function granted<T>(value: T): Granted<T> {
  return { ok: true, value };
}

export function refused(code: ErrorCode, more: Omit<Refusal, 'ok' | 'code'> = {}): Refusal {
  return { ok: false, code, ...more };
}

export function isRefusal(value: unknown): value is Refusal {
  return typeof value === 'object' && value !== null && 'ok' in value && value.ok === false;
}

export function errorMembers({ code, text = errors[code].text, details }: Refusal) {
  return { error: text, code, ...(details === undefined ? {} : { details }) };
}

/** An error that carries the name of its class, which logs show. */
export class NamedError extends Error {
  override readonly name: string = this.constructor.name;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function hasCode(error: unknown, ...codes: readonly string[]): error is Error & { readonly code: unknown } {
  return error instanceof Error && 'code' in error && codes.some((code) => error.code === code);
}
