/**
 * Creates the fast path, which answers the four most frequent requests of game servers (one score, the scores of a
 * match, one event, a batch) before node:http and Koa: a third of the time of a read. It holds no rule of the contract,
 * but calls the same endpoints; it refuses nothing, but passes what is not exactly one of the four, in the plainest
 * HTTP/1.1, to node:http; it accepts nothing that another parser could read differently. `test/fuzz/` compares it with
 * Koa, `through-koa.slow.test.ts` runs without it.
 */
import type { CreateFastPath } from '../server/fast-path-port.js';
import { createConnectionPath } from './connection-path.js';
import { createFastRoutes } from './fast-routes.js';
import { createRequestPath } from './request-path.js';

export const createFastPath: CreateFastPath = (endpoints, deps, isDraining) => {
  const routeOf = createFastRoutes(endpoints);
  return { ...createConnectionPath(routeOf, deps, isDraining), answer: createRequestPath(routeOf, deps, isDraining) };
};
