/**
 * Creates the fast path, which answers the four most frequent requests of game servers (one score, the scores of a
 * match, one event, a batch) before node:http and Koa: a third of the time of a read. It holds no rule of the contract,
 * but calls the same endpoints; it refuses nothing, but passes what is not exactly one of the four, in the plainest
 * HTTP/1.1, to node:http; it accepts nothing that another parser could read differently. `test/fuzz/` compares it with
 * Koa, `through-koa.slow.test.ts` runs without it.
 */
import { exchangeOf, failureReply, incomingOf, sendReply, targetOf } from '../request/answering.js';
import type { ApiReply } from '../request/request.js';
import type { CreateFastPath } from '../server/fast-path-port.js';
import { createConnectionPath } from './connection-path.js';
import { createFastRoutes } from './fast-routes.js';

export const createFastPath: CreateFastPath = (endpoints, deps) => {
  const routeOf = createFastRoutes(endpoints);
  return {
    ...createConnectionPath(routeOf, deps),
    answer(request, response) {
      const target = targetOf(request);
      if ('code' in target) return false;
      const found = routeOf(request.method ?? '', target.path, request.headers);
      if (found === undefined) return false;
      const { endpoint, captures } = found;
      const { route } = endpoint;
      const answering = { exchange: exchangeOf(request.headers), startedAt: performance.now(), route };
      const finish = (reply: ApiReply) => sendReply(deps, request, response, answering, reply);
      const fail = (error: unknown) => finish(failureReply(deps, answering.exchange, error));
      try {
        const reply = endpoint.answer(incomingOf(request, route, captures, target));
        if (reply instanceof Promise) reply.then(finish).catch(fail);
        else finish(reply);
      } catch (error) {
        fail(error);
      }
      return true;
    },
  };
};
