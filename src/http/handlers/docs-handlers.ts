/** Serves health and readiness, the OpenAPI document, and a page that displays it with swagger-ui-dist. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { openApiDocument } from '../../contract/openapi.js';
import { openApi30Document } from '../../contract/openapi-3-0.js';
import type { HealthBody, IndexBody } from '../../contract/response-bodies.js';
import { getOrMake } from '../../core/get-or-make.js';
import { refused } from '../../errors.js';
import { timeText } from '../bodies/bodies.js';
import type { HttpDeps } from '../deps.js';
import { cutCount, raisedCount } from '../public-counts.js';
import { ok, refusalReply, wants } from '../request/reply.js';
import type { ApiReply, ApiRequest, Handlers } from '../request/request.js';

/** Swagger UI sets inline styles on its elements, so the policy permits them. */
const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Peer Trust Federation API</title>
<link rel="icon" type="image/png" href="docs/favicon-32x32.png">
<link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
<div id="swagger-ui"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`;

/** URLs are relative to the page, so that it also works behind a proxy's path prefix. */
const startScript = `SwaggerUIBundle({
  url: new URL('api/v1/openapi.json', document.baseURI).href,
  dom_id: '#swagger-ui',
  deepLinking: true,
  validatorUrl: null,
});
`;

/** The files of swagger-ui-dist that the page uses. No other file of the folder is served. */
const installed: ReadonlyMap<string, string> = new Map([
  ['swagger-ui.css', 'text/css; charset=utf-8'],
  ['swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
  ['favicon-32x32.png', 'image/png'],
]);

const require = createRequire(import.meta.url);

function text(contentType: string, content: string): ApiReply {
  return { status: 200, body: Buffer.from(content), contentType, headers: { 'Content-Security-Policy': pagePolicy } };
}

function json(document: object): ApiReply {
  return { status: 200, body: Buffer.from(JSON.stringify(document)), contentType: 'application/json; charset=utf-8' };
}

export function docsHandlers(version: string) {
  const document = openApiDocument(version);
  const description = json(document);
  const description30 = json(openApi30Document(document));
  const pageReply = text('text/html; charset=utf-8', page);
  const startReply = text('text/javascript; charset=utf-8', startScript);
  /** Contents of the files by name. Each file is read at its first request, and again if reading failed. */
  const assets = new Map<string, Promise<Buffer>>();

  async function getDocsAsset({ params }: ApiRequest<undefined>): Promise<ApiReply> {
    const name = params.asset ?? '';
    if (name === 'start.js') return startReply;
    const contentType = installed.get(name);
    if (contentType === undefined) return refusalReply(refused('route_not_found'));
    const bytes = getOrMake(assets, name, () => readFile(require.resolve(`swagger-ui-dist/${name}`)));
    bytes.catch(() => assets.delete(name));
    return { status: 200, body: await bytes, contentType };
  }

  const index: IndexBody = {
    service: 'peer-trust-federation',
    version,
    docs: 'docs',
    openapi: 'api/v1/openapi.json',
    health: 'api/v1/health',
    peers: 'api/v1/peers',
  };

  function getIndex({ headers }: ApiRequest<undefined>): ApiReply {
    return wants('text/html', headers.accept) ? { status: 302, body: index, headers: { Location: 'docs' } } : ok(index);
  }

  return {
    getIndex,
    getOpenApi: () => description,
    getOpenApi30: () => description30,
    getDocs: () => pageReply,
    getDocsAsset,
  } satisfies Partial<Handlers>;
}

export function healthHandlers({ node, version }: Pick<HttpDeps, 'node' | 'version'>) {
  // The uptime does not depend on the wall clock, which may be set.
  const startedMs = performance.now();

  function health(): ApiReply {
    const { ready, writable, reason, lastSeq, weights } = node.health();
    const { cluster } = node;
    if (!ready || !writable) {
      // The reason why a node left the cluster says more than the staleness that follows from it.
      const why = cluster?.reason ?? reason;
      const details = { ...(why !== undefined && { reason: why }), ...(cluster && { role: cluster.role }) };
      return refusalReply(refused('dependency_unavailable', { details }));
    }
    // An exact number would reveal when an event came. One is rounded up and the other down, so that a lag still shows.
    const roundedSeq = raisedCount(lastSeq);
    const isCovered = weights.basedOnSeq >= lastSeq;
    return ok({
      status: 'ok',
      service: 'peer-trust-federation',
      version,
      environment: node.identity.environment,
      group_id: node.identity.groupId,
      uptime_s: Math.floor((performance.now() - startedMs) / 1000),
      last_seq: roundedSeq,
      weights: {
        based_on_seq: isCovered ? roundedSeq : cutCount(weights.basedOnSeq),
        computed_at: weights.computedAt === null ? null : timeText(weights.computedAt),
      },
      ...(cluster && {
        cluster: { role: cluster.role, has_leader: cluster.hasLeader, staleness_ms: Math.ceil(cluster.stalenessMs) },
      }),
    } satisfies HealthBody);
  }

  return { getHealth: health, getReadiness: health } satisfies Partial<Handlers>;
}
