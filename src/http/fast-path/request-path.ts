/** Answers requests of the fast routes on connections that `connection-path.ts` has passed to node:http. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpDeps } from '../deps.js';
import { brokeOff, exchangeOf, recordAnswer, send, targetOf } from '../request/answering.js';
import { readJson } from '../request/body.js';
import type { Incoming } from '../request/pipeline.js';
import { type Exchange, internalErrorReply, wireReply } from '../request/reply.js';
import type { ApiReply } from '../request/request.js';
import type { FastPath } from '../server/fast-path-port.js';
import type { FastRoute, FastRoutes } from './fast-routes.js';

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
      readBody: (reading) => readJson(request, fastRoute.endpoint.route.body!.bytesMax, reading),
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
