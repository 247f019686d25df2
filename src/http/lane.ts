/**
 * A lane in front of Koa for the shapes that a game server sends all day: one score, the scores of a match, one event, a batch
 * of events. It finds the route and reads the body; the checks, the handlers and the form of answers are the same endpoints
 * that Koa calls. Whatever is not exactly such a shape is left to Koa untouched.
 */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { granted, type Outcome, refused } from '../errors.js';
import { exchangeOf, recordAnswer, send, targetOf } from './answering.js';
import type { FaceDeps } from './deps.js';
import type { Endpoints } from './endpoints.js';
import type { Target } from './head.js';
import type { Endpoint, Incoming } from './pipeline.js';
import { type Exchange, internalErrorReply, wireReply } from './reply.js';
import type { ApiReply } from './request.js';

/** Takes a request and answers it, or says that it is not for this lane, having touched nothing. */
export type Lane = (request: IncomingMessage, response: ServerResponse) => boolean;

const playersPath = '/api/v1/players/';
const scorePath = '/trust-score';
const matchPath = '/api/v1/trust-scores';

interface Shape {
  readonly endpoint: Endpoint;
  readonly captures: readonly string[];
}

export function createLane(endpoints: Endpoints, deps: FaceDeps, isDraining: () => boolean): Lane {
  const { getTrustScore, getTrustScores, submitEvent, submitEvents } = endpoints;
  const match: Shape = { endpoint: getTrustScores, captures: [] };
  const posts = new Map<string, Shape>(
    [submitEvent, submitEvents].map((endpoint) => [endpoint.route.path, { endpoint, captures: [] }]),
  );

  function shapeOf(request: IncomingMessage, { path }: Target): Shape | undefined {
    if (request.method === 'POST') return hasPlainBody(request, posts.get(path));
    if (request.method !== 'GET') return undefined;
    if (path === matchPath) return match;
    if (!path.startsWith(playersPath) || !path.endsWith(scorePath)) return undefined;
    const id = path.slice(playersPath.length, -scorePath.length);
    return id === '' || id.includes('/') ? undefined : { endpoint: getTrustScore, captures: [id] };
  }

  function finish(request: IncomingMessage, response: ServerResponse, answering: Answering, reply: ApiReply): void {
    const { route } = answering.shape.endpoint;
    const { exchange, startedAt } = answering;
    send(request, response, wireReply(route, reply, exchange), isDraining());
    const ms = performance.now() - startedAt;
    recordAnswer(deps, { route, reply, method: request.method ?? '', requestId: exchange.requestId, ms });
  }

  return (request, response) => {
    const target = targetOf(request);
    if ('code' in target) return false;
    const shape = shapeOf(request, target);
    if (shape === undefined) return false;
    const answering: Answering = { shape, exchange: exchangeOf(request), startedAt: performance.now() };
    const fail = (error: unknown): void => {
      deps.log.error({ err: error, request_id: answering.exchange.requestId }, 'a request failed');
      finish(request, response, answering, internalErrorReply(answering.exchange.requestId));
    };
    const incoming: Incoming = {
      headers: request.headers,
      captures: shape.captures,
      query: target.query,
      readBody: () => readJson(request),
    };
    try {
      const reply = shape.endpoint.answer(incoming);
      if (reply instanceof Promise) reply.then((late) => finish(request, response, answering, late)).catch(fail);
      else finish(request, response, answering, reply);
    } catch (error) {
      fail(error);
    }
    return true;
  };
}

interface Answering {
  readonly shape: Shape;
  readonly exchange: Exchange;
  readonly startedAt: number;
}

/** Only a body of a stated, admissible length in plain JSON: everything else has rules that Koa's parser holds. */
function hasPlainBody({ headers }: IncomingMessage, shape: Shape | undefined): Shape | undefined {
  const bytesMax = shape?.endpoint.route.body?.bytesMax ?? 0;
  const length = headers['content-length'];
  if (length === undefined || Number(length) > bytesMax || Number(length) === 0) return undefined;
  if (headers['content-type'] !== 'application/json' || headers['content-encoding'] !== undefined) return undefined;
  return headers.expect === undefined ? shape : undefined;
}

/** The parsed body, or `malformed_json`: also where it breaks off, since a caller that hangs up is no fault of ours. */
function readJson(request: IncomingMessage): Promise<Outcome<unknown>> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
    });
    request.once('end', () => {
      const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
      resolve(parseJson(bytes));
    });
    request.once('error', () => resolve(refused('malformed_json')));
  });
}

function parseJson(bytes: Buffer): Outcome<unknown> {
  const text = bytes.toString();
  // Decoding replaces what is not UTF-8; only where its mark appears are the bytes worth a second look.
  if (text.includes('\uFFFD') && !isUtf8(bytes)) return refused('malformed_json');
  try {
    return granted(JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text) as unknown);
  } catch {
    return refused('malformed_json');
  }
}
