/**
 * The shapes that a game server sends all day, and that the lanes in front of Koa take: one score, the scores of a match, one
 * event, a batch of events. Only plain JSON of a stated, admissible length; everything else has rules that Koa's way holds.
 */
import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { granted, type Outcome, refused } from '../errors.js';
import type { Endpoints } from './endpoints.js';
import type { Endpoint } from './pipeline.js';

/** A request whose route is known: what is to be asked, and the path parameters as sent. */
export interface HotShape {
  readonly endpoint: Endpoint;
  readonly captures: readonly string[];
}

/** The shape of a request, or undefined where it is none of these. `path` is not decoded. */
export type HotShapes = (method: string, path: string, headers: IncomingHttpHeaders) => HotShape | undefined;

const playersPath = '/api/v1/players/';
const scorePath = '/trust-score';

export function createHotShapes({ getTrustScore, getTrustScores, submitEvent, submitEvents }: Endpoints): HotShapes {
  const match: HotShape = { endpoint: getTrustScores, captures: [] };
  const posts = new Map<string, HotShape>(
    [submitEvent, submitEvents].map((endpoint) => [endpoint.route.path, { endpoint, captures: [] }]),
  );
  return (method, path, headers) => {
    if (method === 'POST') {
      const shape = posts.get(path);
      return shape !== undefined && hasPlainBody(headers, shape) ? shape : undefined;
    }
    if (method !== 'GET') return undefined;
    if (path === getTrustScores.route.path) return match;
    if (!path.startsWith(playersPath) || !path.endsWith(scorePath)) return undefined;
    const id = path.slice(playersPath.length, -scorePath.length);
    return id === '' || id.includes('/') ? undefined : { endpoint: getTrustScore, captures: [id] };
  };
}

function hasPlainBody(headers: IncomingHttpHeaders, { endpoint }: HotShape): boolean {
  const length = headers['content-length'];
  if (length === undefined || Number(length) > endpoint.route.body!.bytesMax || Number(length) === 0) return false;
  return (
    headers['content-type'] === 'application/json' &&
    headers['content-encoding'] === undefined &&
    headers.expect === undefined
  );
}

/** The text of a body, or undefined where it is not UTF-8. */
export function bodyText(bytes: Buffer): string | undefined {
  const text = bytes.toString();
  // Decoding replaces what is not UTF-8; only where its mark appears are the bytes worth a second look.
  return text.includes('\uFFFD') && !isUtf8(bytes) ? undefined : text;
}

/** The value of a JSON body, or `malformed_json`. */
export function parseJson(text: string | undefined): Outcome<unknown> {
  if (text === undefined) return refused('malformed_json');
  try {
    return granted(JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text) as unknown);
  } catch {
    return refused('malformed_json');
  }
}
