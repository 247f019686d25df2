/**
 * Creates the fast path, which answers the four most frequent requests of game servers (one score, the scores of a
 * match, one event, a batch of events) before node:http and Koa, and saves a third of the time of a read. `node.ts`
 * plugs it into the server; with `FAST_PATH=false` Koa answers everything.
 *
 * Rules:
 *
 * 1. It contains no rule of the contract. It calls the same endpoints as Koa, with their checks, handlers and form of
 * answers.
 * 2. It refuses nothing. A request that is not exactly one of the four, in the plainest form of HTTP/1.1, goes to
 * node:http with every unanswered byte. Such a connection never returns to the fast path.
 * 3. It accepts nothing that another parser could read differently: no folded line, no bare line feed, no duplicate
 * field, no framing except one length, no byte beyond ASCII in a head.
 * 4. Requests of one connection are answered one by one, in order.
 * 5. It uses only public interfaces of Node.
 * 6. Only `node.ts` imports this folder, and only this file. Server and handlers work without it.
 *
 * Tests compare it with Koa in every run of CI: `test/fuzz/heads.slow.test.ts`, `smuggling.test.ts`, `cut.slow.test.ts`
 * and, for whole conversations, `fuzz.slow.test.ts` and `npm run fuzz`. `through-koa.slow.test.ts` runs the tests of
 * the contract without it.
 */
import type { CreateFastPath } from '../server/fast-path-port.js';
import { createConnectionPath } from './connection-path.js';
import { createFastRoutes } from './fast-routes.js';
import { createRequestPath } from './request-path.js';

export const createFastPath: CreateFastPath = (endpoints, deps, isDraining) => {
  const routeOf = createFastRoutes(endpoints);
  return { ...createConnectionPath(routeOf, deps, isDraining), answer: createRequestPath(routeOf, deps, isDraining) };
};
