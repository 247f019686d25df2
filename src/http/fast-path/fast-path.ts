/**
 * The fast path: it answers the four requests that game servers send all day (one score, the scores of a match, one
 * event, a batch of events) in front of node:http and Koa, and buys a third of all reads. `node.ts` plugs it into the
 * server; `FAST_LANE=false` leaves it out, and then Koa answers everything.
 *
 * Its rules:
 *
 * 1. It holds no rule of the contract. Checks, handlers and the form of answers are the endpoints that Koa calls, too.
 * 2. It refuses nothing. A request that is not exactly one of the four, in the plainest form of HTTP/1.1, goes to
 *    node:http with every byte that was not answered; a connection that is handed over never comes back.
 * 3. It accepts nothing that another parser could read in two ways: no folded line, no bare line feed, no field twice,
 *    no framing but one length, no byte beyond ASCII in a head.
 * 4. Requests of one connection are answered one by one, in their order.
 * 5. It uses public interfaces of Node alone.
 * 6. Only `node.ts` imports this folder, and only this file. Server and handlers work without it.
 *
 * The tests that hold it to the way through Koa: `test/fuzz/heads.test.ts`, `smuggling.test.ts` and `cut.test.ts`
 * compare both ways in every `npm test`, `fuzz.slow.test.ts` and `npm run fuzz` whole conversations, and
 * `through-koa.slow.test.ts` runs the tests of the contract without it.
 */
import type { CreateFastPath } from '../server/fast-path-port.js';
import { createConnectionPath } from './connection-path.js';
import { createFastRoutes } from './fast-routes.js';
import { createRequestPath } from './request-path.js';

export const createFastPath: CreateFastPath = (endpoints, deps, isDraining) => {
  const routeOf = createFastRoutes(endpoints);
  return { ...createConnectionPath(routeOf, deps, isDraining), answer: createRequestPath(routeOf, deps, isDraining) };
};
