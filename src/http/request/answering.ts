/** Reads the head of a request, sends its answer and records it, for both Koa and the fast path. */
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import type { Route } from '../../contract/routes.js';
import { type Refusal, refused } from '../../errors.js';
import { limits } from '../../limits.js';
import type { HttpDeps, IdName, RequestObserver } from '../deps.js';
import { apiKeyOf } from './auth.js';
import { isAnswerable, readJson } from './body.js';
import { headRefusal, hostCount, isRequestId, parseTarget, type Target } from './head.js';
import type { Incoming } from './pipeline.js';
import { type Exchange, refusalReply, replyHeaders, type WireReply, wants, wireReply } from './reply.js';
import type { ApiReply } from './request.js';

export function targetOf(
  request: IncomingMessage,
): Target | { readonly code: 'uri_too_long' | 'headers_too_large' | 'invalid_parameter' | 'expectation_failed' } {
  const url = request.url ?? '';
  const refusal = headRefusal(url, request.rawHeaders);
  if (refusal !== undefined) return { code: refusal };
  // RFC 9112, section 6.1: framing that HTTP before 1.1 does not know.
  const { httpVersionMajor: major, httpVersionMinor: minor } = request;
  if (major !== 1 || (minor === 0 && request.headers['transfer-encoding'] !== undefined))
    return { code: 'invalid_parameter' };
  // RFC 9112, section 3.2. Node would refuse a request without Host without a body, and accept two.
  const hosts = hostCount(request.rawHeaders);
  if (hosts > 1 || (hosts === 0 && request.httpVersion === '1.1')) return { code: 'invalid_parameter' };
  if (hasForeignExpectation(request)) return { code: 'expectation_failed' };
  if (url === '*' && request.method === 'OPTIONS') return { path: '*', query: '' };
  return parseTarget(url) ?? { code: 'invalid_parameter' };
}

/** Returns whether a request has an expectation that is not met (RFC 9110, section 10.1.1). HTTP/1.0 has none. */
export function hasForeignExpectation({ headers, httpVersion }: IncomingMessage): boolean {
  const { expect } = headers;
  return expect !== undefined && httpVersion !== '1.0' && expect.trim().toLowerCase() !== '100-continue';
}

export function exchangeOf(headers: IncomingHttpHeaders): Exchange {
  const given = headers['x-request-id'];
  const offered = Array.isArray(given) ? given[0] : given;
  return {
    // Random: a counter would tell any caller how busy the node is.
    requestId: isRequestId(offered) ? offered : randomUUID(),
    problem: wants('application/problem+json', headers.accept),
    keySent: apiKeyOf(headers['x-peer-api-key']) !== undefined,
    ifNoneMatch: headers['if-none-match'],
  };
}

export function incomingOf(
  request: IncomingMessage,
  { body }: Route,
  captures: readonly string[],
  { path, query }: Target,
): Incoming {
  const { headers, socket } = request;
  return {
    headers,
    captures,
    path,
    query,
    remote: socket,
    readBody: (reading) => readJson(request, body?.bytesMax ?? limits.eventBodyBytes, reading),
  };
}

export function failureReply({ log }: Pick<HttpDeps, 'log'>, { requestId }: Exchange, error: unknown): ApiReply {
  log.error({ err: error, request_id: requestId }, 'a request failed');
  // The answer contains only the request id, by which the operator finds the error in the log.
  return refusalReply(refused('internal_error', { details: { request_id: requestId } }));
}

/** `isDraining`: connections must close after their answer. */
export interface AnsweringDeps extends Pick<HttpDeps, 'metrics' | 'log'> {
  readonly isDraining: () => boolean;
}

export interface Answering {
  readonly exchange: Exchange;
  readonly startedAt: number;
  readonly route: Route | undefined;
}

export function sendReply(
  deps: AnsweringDeps,
  request: IncomingMessage,
  response: ServerResponse,
  { exchange, startedAt, route }: Answering,
  reply: ApiReply,
): void {
  // A caller that left, or got its last answer, before the request had arrived is not counted.
  if (!request.complete && !isAnswerable(request)) return;
  const wire = wireReply(route, reply, exchange);
  const { method = '' } = request;
  if (reply.stream === undefined || method === 'HEAD') send(request, response, wire, deps.isDraining());
  else openStream(response, wire, reply.stream);
  recordAnswer(deps, { route, reply, method, requestId: exchange.requestId, ms: performance.now() - startedAt });
}

export interface Answered {
  readonly route: Route | undefined;
  readonly reply: ApiReply;
  readonly method: string;
  readonly requestId: string;
  readonly ms: number;
}

/** Counts an answer and logs it by its route's template; never a path, a key or an id. */
export function recordAnswer({ metrics, log }: Pick<HttpDeps, 'metrics' | 'log'>, answered: Answered): void {
  const { route, reply, method, requestId, ms } = answered;
  const template = route?.path ?? 'none';
  // A caller may invent methods.
  const label = ['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS', 'PUT', 'PATCH'].includes(method) ? method : 'other';
  metrics.requestAnswered(template, label, reply.status, reply.error?.code ?? '', ms);
  if (reply.error !== undefined) countRefusedIds(reply.error, metrics);
  if (log.isLevelEnabled('debug'))
    log.debug({ route: template, status: reply.status, ms, request_id: requestId }, 'answered');
}

function send(request: IncomingMessage, response: ServerResponse, reply: WireReply, closing: boolean): void {
  if (response.headersSent || response.destroyed) return;
  const headers = replyHeaders(reply);
  if (closing) headers.Connection = 'close';
  // Node sets this only when it writes the head. Data after such an answer is ignored.
  if (headers.Connection === 'close') response.shouldKeepAlive = false;
  response.writeHead(reply.status, headers);
  if (reply.more?.Connection === 'close' && !request.complete) {
    endAfterRequest(request, response, reply.payload);
  } else {
    response.end(reply.payload);
  }
}

function openStream(response: ServerResponse, reply: WireReply, stream: (to: Writable) => void): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(reply.status, replyHeaders(reply));
  // A reader that sends no more has left. Otherwise it would keep its place until a write fails.
  const { socket } = response.req;
  const leave = (): void => void response.destroy();
  socket.once('end', leave);
  response.once('close', () => socket.off('end', leave));
  try {
    stream(response);
  } catch (error) {
    response.destroy();
    throw error;
  }
}

/** Keeps the connection until the caller stops sending: closing at once could lose the answer. */
function endAfterRequest(request: IncomingMessage, response: ServerResponse, payload: string | Uint8Array): void {
  const end = (): void => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, limits.keepAliveTimeoutMs).unref();
  response.write(payload);
  request.once('end', end).once('close', end).resume();
}

const idNames: Readonly<Record<string, IdName>> = {
  player_id: 'player_id',
  id: 'player_id',
  ids: 'player_id',
  event_id: 'event_id',
  game_id: 'game_id',
  game_ids: 'game_id',
  peer_name: 'peer_name',
};

/** Counts ids and names that were refused for their characters: many of them indicate a peer that corrupts ids. */
export function countRefusedIds(refusal: Pick<Refusal, 'details'>, metrics: Pick<RequestObserver, 'idRefused'>): void {
  const { details } = refusal;
  if (details === undefined || !('violation' in details)) return;
  const places =
    'parameter' in details
      ? [details.parameter]
      : [details, ...(details.more ?? [])]
          .filter(({ violation }) => violation === 'pattern')
          .map(({ field }) => field.split('/', 2)[1] ?? '');
  for (const place of places) {
    const name = Object.hasOwn(idNames, place) ? idNames[place] : undefined;
    if (name !== undefined) metrics.idRefused(name);
  }
}
