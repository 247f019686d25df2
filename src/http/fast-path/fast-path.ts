/**
 * Creates the fast path, which answers the four most frequent requests of game servers (one score, the scores of a
 * match, one event, a batch) before node:http and Koa, and saves a third of the time of a read. With `FAST_PATH=false`
 * Koa answers everything. It holds no rule of the contract, but calls the same endpoints; it refuses nothing: what is
 * not exactly one of the four, in the plainest form of HTTP/1.1, goes to node:http with every unanswered byte, for
 * good; it accepts nothing that another parser could read differently. Requests of one connection are answered in
 * order. `test/fuzz/` compares it with Koa, and `through-koa.slow.test.ts` runs the tests of the contract without it.
 */
import type { CreateFastPath } from '../server/fast-path-port.js';
import { createConnectionPath } from './connection-path.js';
import { createFastRoutes } from './fast-routes.js';
import { createRequestPath } from './request-path.js';

export const createFastPath: CreateFastPath = (endpoints, deps, isDraining) => {
  const routeOf = createFastRoutes(endpoints);
  return { ...createConnectionPath(routeOf, deps, isDraining), answer: createRequestPath(routeOf, deps, isDraining) };
};
