/**
 * Finds the endpoint of a request on the fast path: one score, the scores of a match, one event, a batch of events. A
 * body must be plain JSON with a declared, admissible length. Koa answers every other request.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Endpoints } from '../koa/endpoints.js';
import type { Endpoint } from '../request/pipeline.js';

export interface FastRoute {
  readonly endpoint: Endpoint;
  readonly captures: readonly string[];
}

export type FastRoutes = (method: string, path: string, headers: IncomingHttpHeaders) => FastRoute | undefined;

const playersPath = '/api/v1/players/';
const scorePath = '/trust-score';

export function createFastRoutes({ getTrustScore, getTrustScores, submitEvent, submitEvents }: Endpoints): FastRoutes {
  const match: FastRoute = { endpoint: getTrustScores, captures: [] };
  const posts = new Map<string, FastRoute>(
    [submitEvent, submitEvents].map((endpoint) => [endpoint.route.path, { endpoint, captures: [] }]),
  );
  return (method, path, headers) => {
    if (method === 'POST') {
      const route = posts.get(path);
      return route !== undefined && hasPlainBody(headers, route) ? route : undefined;
    }
    if (method !== 'GET') return undefined;
    if (path === getTrustScores.route.path) return match;
    if (!path.startsWith(playersPath) || !path.endsWith(scorePath)) return undefined;
    const id = path.slice(playersPath.length, -scorePath.length);
    return id === '' || id.includes('/') ? undefined : { endpoint: getTrustScore, captures: [id] };
  };
}

function hasPlainBody(headers: IncomingHttpHeaders, { endpoint }: FastRoute): boolean {
  const length = headers['content-length'];
  if (length === undefined || Number(length) > endpoint.route.body!.bytesMax || Number(length) === 0) return false;
  return (
    headers['content-type'] === 'application/json' &&
    headers['content-encoding'] === undefined &&
    headers.expect === undefined
  );
}
