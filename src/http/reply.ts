/**
 * From a reply to what goes on the wire: error bodies and their problem form, entity tags, caching and security headers.
 * Pure: the same reply and exchange give the same bytes, whichever lane sends them.
 */
import { hash } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import { errors, type Refusal, refused } from '../errors.js';
import { limits } from '../limits.js';
import type { ErrorBody, ProblemBody } from './contract/response-bodies.js';
import type { Route } from './contract/routes.js';
import type { ApiReply } from './request.js';

/** What of a request shapes the form of its answer. */
export interface Exchange {
  readonly requestId: string;
  /** Whether errors go out as `application/problem+json`. */
  readonly problem: boolean;
  /** Whether the request carried an API key, valid or not. */
  readonly keySent: boolean;
  readonly ifNoneMatch: string | undefined;
}

export interface WireReply {
  readonly status: number;
  readonly headers: Record<string, string | number>;
  /** Empty with 204 and 304, and where a stream follows. */
  readonly payload: string | Uint8Array;
}

const jsonType = 'application/json; charset=utf-8';
const problemType = 'application/problem+json; charset=utf-8';

/** `public`: a score may be two seconds old, so that a burst of readers costs one computation. */
const publicCache = 'public, max-age=2';

export function ok(body: unknown): ApiReply {
  return { status: 200, body };
}

export function okJson(json: string): ApiReply {
  return { status: 200, body: undefined, json };
}

/** The reply to a refusal, with the headers that its status asks for. */
export function refusalReply(refusal: Refusal): ApiReply {
  const { status, text } = errors[refusal.code];
  const body: ErrorBody = {
    error: refusal.text ?? text,
    code: refusal.code,
    ...(refusal.details === undefined ? {} : { details: refusal.details }),
  };
  return { status, body, error: body, headers: refusalHeaders(refusal, status) };
}

function refusalHeaders(refusal: Refusal, status: number): Record<string, string> {
  const retryAfterS = refusal.retryAfterS ?? limits.retryAfterS;
  if (status === 401) {
    return { 'WWW-Authenticate': refusal.code === 'invalid_session' ? 'Session realm="ptf"' : 'ApiKey realm="ptf"' };
  }
  if (status === 429) {
    return { 'Retry-After': String(retryAfterS), RateLimit: `"${refusal.code}";r=0;t=${retryAfterS}` };
  }
  if (status === 503) return { 'Retry-After': String(retryAfterS) };
  // The rest of an oversized or unfinished body is not worth reading.
  return status === 413 ? { Connection: 'close' } : {};
}

/** The answer to a fault of our own: it tells the caller nothing but where to find it in our log. */
export function internalErrorReply(requestId: string): ApiReply {
  return refusalReply(refused('internal_error', { details: { request_id: requestId } }));
}

/** Applies the contract's rules on forms, tags and caching. `route` is undefined where none was matched. */
export function wireReply(route: Route | undefined, reply: ApiReply, exchange: Exchange): WireReply {
  // One literal: built by spreading, these headers cost more than the score that they carry.
  const headers: WireReply['headers'] = {
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    'Referrer-Policy': 'no-referrer',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'X-Request-Id': exchange.requestId,
    'Cache-Control': exchange.keySent ? 'private, no-store' : 'no-store',
    Vary: route?.auth === 'optional' ? 'Accept, X-Peer-API-Key' : 'Accept',
  };
  if (reply.headers !== undefined) Object.assign(headers, reply.headers);
  if (reply.status === 204) return { status: 204, headers, payload: '' };
  if (reply.stream !== undefined) {
    headers['Content-Type'] = 'text/event-stream; charset=utf-8';
    return { status: reply.status, headers, payload: '' };
  }
  const payload = payloadOf(reply, exchange);
  if (reply.status === 200 && route?.cache === 'public' && !exchange.keySent) {
    const tag = tagOf(payload);
    headers.ETag = tag;
    headers['Cache-Control'] = publicCache;
    if (matchesTag(exchange.ifNoneMatch, tag)) return { status: 304, headers, payload: '' };
  }
  headers['Content-Type'] =
    reply.contentType ?? (reply.error !== undefined && exchange.problem ? problemType : jsonType);
  headers['Content-Length'] = typeof payload === 'string' ? Buffer.byteLength(payload) : payload.byteLength;
  return { status: reply.status, headers, payload };
}

/** A reply as text on a connection, whose payload must be text. `date`: an HTTP date. */
export function replyText({ status, headers, payload }: WireReply, date: string, connection: string): string {
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
  for (const name in headers) text += `${name}: ${headers[name]}\r\n`;
  return `${text}Date: ${date}\r\n${connection}\r\n${payload}`;
}

/** Tags of bytes that are served again and again, so that a page's script is not hashed at every request. */
const knownTags = new WeakMap<Uint8Array, string>();

function tagOf(payload: string | Uint8Array): string {
  if (typeof payload === 'string') return `"${hash('sha256', payload, 'base64url')}"`;
  const known = knownTags.get(payload) ?? `"${hash('sha256', payload, 'base64url')}"`;
  knownTags.set(payload, known);
  return known;
}

function payloadOf(reply: ApiReply, exchange: Exchange): string | Uint8Array {
  if (reply.json !== undefined) return reply.json;
  if (reply.body instanceof Uint8Array) return reply.body;
  const problem = exchange.problem && reply.error !== undefined;
  return JSON.stringify(problem ? problemOf(reply.status, reply.error) : reply.body);
}

/** RFC 9457. The type is a name, not an address: there is nothing more to read than the contract. */
function problemOf(status: number, error: ErrorBody): ProblemBody {
  return { type: `urn:ptf:error:${error.code}`, title: errors[error.code].text, status, detail: error.error, ...error };
}

/** RFC 9110, section 13.1.2: a list of tags, or `*`, compared weakly. */
export function matchesTag(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.split(',').some((one) => one.trim().replace(/^W\//, '') === tag);
}

/** Whether `Accept` names `application/problem+json` and does not prefer plain JSON to it (RFC 9110, section 12.5.1). */
export function wantsProblem(accept: string | undefined): boolean {
  if (accept === undefined || !accept.toLowerCase().includes('application/problem+json')) return false;
  const problem = qualityOf(accept, 'application/problem+json');
  return problem > 0 && problem >= qualityOf(accept, 'application/json');
}

function qualityOf(accept: string, mediaType: string): number {
  for (const range of accept.split(',')) {
    const [name, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    if (name !== mediaType) continue;
    const quality = parameters.find((parameter) => parameter.startsWith('q='));
    const value = quality === undefined ? 1 : Number(quality.slice(2));
    return value >= 0 && value <= 1 ? value : 0;
  }
  return 0;
}
