/**
 * Converts a reply to its wire form: error bodies, also as problem details (RFC 9457), entity tags, caching and
 * security headers. The same reply and exchange give the same bytes through Koa and on the fast path.
 */
import { hash } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { ErrorBody, ProblemBody } from '../../contract/error-bodies.js';
import type { Route } from '../../contract/routes.js';
import { getOrMake } from '../../core/get-or-make.js';
import { errorMembers, errors, type Refusal } from '../../errors.js';
import { retryAfterOf } from '../../group/refusals.js';
import type { ApiReply, Position } from './request.js';

export interface Exchange {
  readonly requestId: string;
  readonly problem: boolean;
  readonly keySent: boolean;
  readonly ifNoneMatch: string | undefined;
}

interface SharedHead {
  readonly status: number;
  readonly type: string;
  readonly caching: string;
  readonly vary: string;
  readonly text: string;
}

export interface WireReply {
  readonly status: number;
  readonly shared: SharedHead;
  readonly more: Readonly<Record<string, string>> | undefined;
  readonly position: Position | undefined;
  readonly requestId: string;
  readonly tag: string | undefined;
  /** Bytes of the payload; undefined if no length is sent. */
  readonly length: number | undefined;
  /** Empty with 204 and 304, and if a stream follows. */
  readonly payload: string | Uint8Array;
}

const jsonType = 'application/json; charset=utf-8';
const problemType = 'application/problem+json; charset=utf-8';
const streamType = 'text/event-stream; charset=utf-8';

/** `public`: a score may be two seconds old, so that a burst of readers costs one computation. */
const publicCache = 'public, max-age=2';

export function ok(body: unknown): ApiReply {
  return { status: 200, body };
}

/** `json` must be ASCII. `tag` must differ whenever the body at the same URL does; by default that of the body. */
export function okJson(json: string, tag?: { readonly text: string }): ApiReply {
  return { status: 200, body: undefined, json, tag };
}

export function refusalReply(refusal: Refusal): ApiReply {
  const { status } = errors[refusal.code];
  const body: ErrorBody = errorMembers(refusal);
  const headers = refusalHeaders(refusal, status);
  return headers === undefined ? { status, body, error: body } : { status, body, error: body, headers };
}

const apiKeyChallenge = 'ApiKey realm="ptf", header="X-Peer-API-Key"';
/** Required coverage of a signature (RFC 9421, section 5.1). A request without a body needs no digest. */
const acceptSignature = 'sig1=("@method" "@path" "content-digest" "x-peer-api-key");created;alg="ed25519";tag="ptf"';

function refusalHeaders(refusal: Refusal, status: number): Record<string, string> | undefined {
  if (status === 401) {
    if (refusal.code.startsWith('signature_')) {
      return { 'WWW-Authenticate': 'Signature realm="ptf"', 'Accept-Signature': acceptSignature };
    }
    return { 'WWW-Authenticate': refusal.code === 'invalid_session' ? 'Session realm="ptf"' : apiKeyChallenge };
  }
  // Close, because the rest of an oversized or unfinished body is not read.
  if (status === 413 || status === 417) return { Connection: 'close' };
  const retryAfterS = retryAfterOf(refusal);
  if (retryAfterS === undefined) return undefined;
  if (status === 503) return { 'Retry-After': String(retryAfterS) };
  return { 'Retry-After': String(retryAfterS), RateLimit: `"${refusal.code}";r=0;t=${retryAfterS}` };
}

const noBody = { length: undefined, payload: '' } as const;

/** Applies the contract's rules on forms, tags and caching. `route` is undefined if none matched. */
export function wireReply(route: Route | undefined, reply: ApiReply, exchange: Exchange): WireReply {
  const { requestId, keySent } = exchange;
  const vary = route?.auth === 'optional' ? 'Accept, X-Peer-API-Key' : 'Accept';
  const noStore = keySent ? 'private, no-store' : 'no-store';
  const { status, headers: more, position } = reply;
  if (status === 204 || reply.stream !== undefined) {
    const type = status === 204 ? '' : streamType;
    const shared = sharedHead(status, type, noStore, vary);
    return { status, shared, more, position, requestId, tag: undefined, ...noBody };
  }
  const payload = payloadOf(reply, exchange);
  const isPublic = status === 200 && route?.cache === 'public' && !keySent;
  const tag = isPublic ? `"${reply.tag?.text ?? digestOf(payload)}"` : undefined;
  const caching = isPublic ? publicCache : noStore;
  if (tag !== undefined && matchesTag(exchange.ifNoneMatch, tag)) {
    return { status: 304, shared: sharedHead(304, '', caching, vary), more, position, requestId, tag, ...noBody };
  }
  const type = reply.contentType ?? (reply.error !== undefined && exchange.problem ? problemType : jsonType);
  const length = reply.json?.length ?? Buffer.byteLength(payload);
  return { status, shared: sharedHead(status, type, caching, vary), more, position, requestId, tag, length, payload };
}

/** Shared heads by their four parts. No caller chooses a part, so there are few. */
const sharedHeads = new Map<string, SharedHead>();
/** Most answers are of the same kind as the one before. */
let newestHead: SharedHead | undefined;

/** Builds the head of a kind once: building it for each answer cost more than the score. */
function sharedHead(status: number, type: string, caching: string, vary: string): SharedHead {
  const newest = newestHead;
  if (newest?.status === status && newest.type === type && newest.caching === caching && newest.vary === vary)
    return newest;
  const key = [status, type, caching, vary].join('\n');
  const head = getOrMake(sharedHeads, key, () => {
    return { status, type, caching, vary, text: headText(status, fieldsOf({ type, caching, vary })) };
  });
  newestHead = head;
  return head;
}

function headText(status: number, fields: Readonly<Record<string, string | number>>): string {
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}`;
}

/** Returns the shared fields as a new object. Copying an object took six times as long as this literal. */
function fieldsOf({ type, caching, vary }: Omit<SharedHead, 'status' | 'text'>): Record<string, string | number> {
  const fields: Record<string, string> = {
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    'Referrer-Policy': 'no-referrer',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'Cache-Control': caching,
    Vary: vary,
  };
  if (type !== '') fields['Content-Type'] = type;
  return fields;
}

export function replyHeaders(reply: WireReply): Record<string, string | number> {
  const { shared, more, position, requestId, tag, length } = reply;
  const headers = fieldsOf(shared);
  headers['X-Request-Id'] = requestId;
  if (position !== undefined) {
    headers['X-Applied-Seq'] = position.appliedSeq;
    headers['X-Staleness-Ms'] = position.stalenessMs;
  }
  if (more !== undefined) Object.assign(headers, more);
  if (tag !== undefined) headers.ETag = tag;
  if (length !== undefined) headers['Content-Length'] = length;
  return headers;
}

/** Returns a reply as text. `date`: an HTTP date; `connection`: the field line to add if the reply has none. */
export function replyText(
  { shared, more, position, requestId, tag, length, payload }: WireReply,
  date: string,
  connection: string,
): string {
  const head = more === undefined ? shared.text : headText(shared.status, { ...fieldsOf(shared), ...more });
  const positionLines =
    position === undefined
      ? ''
      : `X-Applied-Seq: ${position.appliedSeq}\r\nX-Staleness-Ms: ${position.stalenessMs}\r\n`;
  const tagLine = tag === undefined ? '' : `ETag: ${tag}\r\n`;
  const lengthLine = length === undefined ? '' : `Content-Length: ${length}\r\n`;
  const connectionLine = more?.Connection === undefined ? connection : '';
  return `${head}X-Request-Id: ${requestId}\r\n${positionLines}${tagLine}${lengthLine}Date: ${date}\r\n${connectionLine}\r\n${payload}`;
}

/** Digests of bytes that are served repeatedly, so that a page's script is not hashed at every request. */
const knownDigests = new WeakMap<Uint8Array, string>();

function digestOf(payload: string | Uint8Array): string {
  if (typeof payload === 'string') return hash('sha256', payload, 'base64url');
  const known = knownDigests.get(payload) ?? hash('sha256', payload, 'base64url');
  knownDigests.set(payload, known);
  return known;
}

function payloadOf(reply: ApiReply, exchange: Exchange): string | Uint8Array {
  if (reply.json !== undefined) return reply.json;
  if (reply.body instanceof Uint8Array) return reply.body;
  const { status, error } = reply;
  if (!exchange.problem || error === undefined) return JSON.stringify(reply.body);
  const { code, error: detail } = error;
  // RFC 9457. The type is a URN, because there is no page about it beyond the contract.
  const problem: ProblemBody = { type: `urn:ptf:error:${code}`, title: errors[code].text, status, detail, ...error };
  return JSON.stringify(problem);
}

/** RFC 9110, section 13.1.2: a list of tags, or `*`, compared weakly. */
export function matchesTag(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.split(',').some((one) => one.trim().replace(/^W\//, '') === tag);
}

/** Whether `Accept` names a media type and does not prefer plain JSON (RFC 9110, section 12.5.1). */
export function wants(mediaType: string, accept: string | undefined): boolean {
  if (accept === undefined || !accept.toLowerCase().includes(mediaType)) return false;
  const quality = qualityOf(accept, mediaType);
  return quality > 0 && quality >= qualityOf(accept, 'application/json');
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
