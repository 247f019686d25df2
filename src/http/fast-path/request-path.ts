/**
 * Answers requests of the fast routes on connections that `connection-path.ts` has passed to node:http: finds the route
 * of the parsed request and reads the body. Koa gets every other request unchanged.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Outcome, type Refusal, refused } from '../../errors.js';
import type { Holder } from '../../group/holder.js';
import type { HttpDeps } from '../deps.js';
import { brokeOff, exchangeOf, isAnswerable, recordAnswer, send, targetOf } from '../request/answering.js';
import type { Incoming, RoomCheck } from '../request/pipeline.js';
import { type Exchange, internalErrorReply, wireReply } from '../request/reply.js';
import type { ApiReply, ArrivingBody } from '../request/request.js';
import { then } from '../request/then.js';
import type { FastPath } from '../server/fast-path-port.js';
import type { BodyCheck } from '../signing/content-digest.js';
import { bodyText, type FastRoute, type FastRoutes, parseJson } from './fast-routes.js';

/** Answers a request, or returns false without any effect. */
export function createRequestPath(
  routeOf: FastRoutes,
  deps: Pick<HttpDeps, 'metrics' | 'log'>,
  isDraining: () => boolean,
): FastPath['answer'] {
  function finish(request: IncomingMessage, response: ServerResponse, answering: Answering, reply: ApiReply): void {
    if (brokeOff(request)) return;
    const { route } = answering.fastRoute.endpoint;
    const { exchange, startedAt } = answering;
    send(request, response, wireReply(route, reply, exchange), isDraining());
    const ms = performance.now() - startedAt;
    recordAnswer(deps, { route, reply, method: request.method ?? '', requestId: exchange.requestId, ms });
  }

  return (request, response) => {
    const target = targetOf(request);
    if ('code' in target) return false;
    const fastRoute = routeOf(request.method ?? '', target.path, request.headers);
    if (fastRoute === undefined) return false;
    const answering: Answering = { fastRoute, exchange: exchangeOf(request.headers), startedAt: performance.now() };
    const fail = (error: unknown): void => {
      deps.log.error({ err: error, request_id: answering.exchange.requestId }, 'a request failed');
      finish(request, response, answering, internalErrorReply(answering.exchange.requestId));
    };
    const incoming: Incoming = {
      headers: request.headers,
      captures: fastRoute.captures,
      path: target.path,
      query: target.query,
      remote: request.socket,
      readBody: (room, holder, arriving, check) => readJson(request, room, holder, arriving, check),
    };
    try {
      const reply = fastRoute.endpoint.answer(incoming);
      if (reply instanceof Promise) reply.then((late) => finish(request, response, answering, late)).catch(fail);
      else finish(request, response, answering, reply);
    } catch (error) {
      fail(error);
    }
    return true;
  };
}

interface Answering {
  readonly fastRoute: FastRoute;
  readonly exchange: Exchange;
  readonly startedAt: number;
}

/**
 * Resolves to the parsed body, its refusal, or `malformed_json`, also for a body that ends early or arrives too late:
 * neither is an error of the node. Must not keep the body in memory: the request, its listeners and their references
 * live until the next request of the connection.
 */
function readJson(
  request: IncomingMessage,
  room: RoomCheck,
  holder: Holder,
  arriving: ArrivingBody | null,
  check: BodyCheck | null,
): Promise<Outcome<unknown>> {
  return new Promise((resolve) => {
    let chunks: Buffer[] = [];
    // A wrapper instead of `resolve`, which would reference the promise and so the body.
    let pending: typeof resolve | undefined = resolve;
    const takeChunks = (): Buffer[] => {
      const received = chunks;
      chunks = [];
      return received;
    };
    const settle = (outcome: Outcome<unknown>): void => {
      pending?.(outcome);
      pending = undefined;
    };
    const giveUp = (): void => {
      takeChunks();
      settle(refused('malformed_json'));
    };
    if (arriving !== null) arriving.onDrop = giveUp;
    request.on('data', (chunk: Buffer) => {
      if (arriving?.arrived(chunk.length) !== false) chunks.push(chunk);
    });
    request.once('end', () => {
      // A body that has arrived and waits for its turn does not count as slow.
      arriving?.end();
      void then(room.inTurn(holder, arriving), (refusal) => settle(parsed(request, takeChunks(), refusal, check)));
    });
    request.once('error', giveUp);
  });
}

function parsed(
  request: IncomingMessage,
  chunks: readonly Buffer[],
  roomRefusal: Refusal | undefined,
  check: BodyCheck | null,
): Outcome<unknown> {
  const refusal = roomRefusal ?? check?.(chunks);
  if (refusal !== undefined) return refusal;
  const body = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
  return isAnswerable(request) ? parseJson(bodyText(body)) : refused('malformed_json');
}
