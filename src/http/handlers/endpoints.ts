/** Creates the endpoint of every operation, for Koa and the fast path: its checks joined with its handler. */
import { type OperationId, routes } from '../../contract/routes.js';
import type { HttpDeps } from '../deps.js';
import { CheckedEndpoint, type Endpoint } from '../request/pipeline.js';
import { createRateLimits } from '../request/rate-limits.js';
import type { BodyAdmission, Handlers } from '../request/request.js';
import { BatchPace } from '../room/batch-pace.js';
import type { ReadTurns } from '../room/read-turns.js';
import type { WorkTurns } from '../room/work-turns.js';
import { RequestVerifier } from '../signing/request-verifier.js';
import type { StreamReaders } from '../verdict-stream/readers.js';
import { docsHandlers, healthHandlers } from './docs-handlers.js';
import { eventHandlers } from './event-handlers.js';
import { peerHandlers } from './peer-handlers.js';
import { playerHandlers, streamHandlers, subjectHandlers } from './player-handlers.js';

export type Endpoints = Readonly<Record<OperationId, Endpoint>>;

export function createEndpoints(
  deps: HttpDeps,
  readers: StreamReaders,
  bodies: BodyAdmission,
  turns: ReadTurns,
  work: WorkTurns,
): Endpoints {
  const bounds = {
    rates: createRateLimits(deps.settings),
    bodies,
    pace: new BatchPace(),
    work,
    signing: new RequestVerifier(deps),
  };
  const handlers: Handlers = {
    ...healthHandlers(deps),
    ...peerHandlers(deps),
    ...eventHandlers(deps, work),
    ...playerHandlers(deps, turns),
    ...subjectHandlers(deps),
    ...streamHandlers(readers),
    ...docsHandlers(deps.version),
  };
  const entry = <Id extends OperationId>(id: Id): [Id, Endpoint] => [
    id,
    new CheckedEndpoint(id, handlers[id], deps, bounds),
  ];
  return Object.fromEntries((Object.keys(routes) as OperationId[]).map(entry)) as Record<OperationId, Endpoint>;
}
