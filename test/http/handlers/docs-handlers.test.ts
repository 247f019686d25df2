/** The service's statements about itself. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { GroupNode } from '../../../src/group/api.js';
import type { ClusterHealth } from '../../../src/group/cluster-api.js';
import { docsHandlers, healthHandlers } from '../../../src/http/handlers/docs-handlers.js';
import { nodeDouble } from '../group-double.js';

type Health = ReturnType<GroupNode['health']>;
type Body = Readonly<Record<string, unknown>>;

function healthOf(more: Partial<Health> = {}, cluster: Partial<ClusterHealth> | null = null) {
  const { health, ...node } = nodeDouble({ cluster: cluster as ClusterHealth | null });
  const deps = { node: { ...node, health: () => ({ ...health(), ...more }) }, version: '1.2.3' };
  const { status, body, error } = healthHandlers(deps).getHealth();
  return { status, body: body as Body, details: error?.details };
}

test('health states the service and its progress', () => {
  const at = Date.UTC(2026, 0, 2);
  const { uptime_s: _left, ...body } = healthOf({
    lastSeq: 1_001,
    weights: { basedOnSeq: 1_001, computedAt: at },
  }).body;
  assert.equal(body, {
    status: 'ok',
    service: 'peer-trust-federation',
    version: '1.2.3',
    environment: 'dev',
    group_id: 'local',
    last_seq: 1_100,
    weights: { based_on_seq: 1_100, computed_at: '2026-01-02T00:00:00.000Z' },
  });
});

test('health states no exact record from 100 on, and the same for weights only where these are complete', () => {
  for (const [lastSeq, basedOnSeq, shown, shownBased] of [
    [99, 98, 99, 98],
    [1_234, 1_210, 1_300, 1_200],
    [1_234, 1_234, 1_300, 1_300],
    [1_200, 1_199, 1_200, 1_100],
    [1_301, 1_300, 1_400, 1_300],
    [987_654, 987_653, 990_000, 980_000],
  ]) {
    const { body } = healthOf({ lastSeq: lastSeq!, weights: { basedOnSeq: basedOnSeq!, computedAt: null } });
    const weights = { based_on_seq: shownBased, computed_at: null };
    assert.equal([body.last_seq, body.weights], [shown, weights], `${lastSeq}`);
  }
});

test('the uptime is in whole seconds since the start', () => {
  const { now } = performance;
  const times = [70_000, 71_000, 71_999, 72_000];
  performance.now = () => times.shift()!;
  try {
    const { getHealth } = healthHandlers({ node: nodeDouble(), version: '1.2.3' });
    assert.equal(
      [0, 1, 2].map(() => (getHealth().body as Body).uptime_s),
      [1, 1, 2],
    );
  } finally {
    performance.now = now;
  }
});

test('health of a node in a cluster states its role and its staleness, rounded up', () => {
  const cluster = { role: 'follower', hasLeader: false, stalenessMs: 1.2 } as const;
  assert.equal(healthOf({}, cluster).body.cluster, { role: 'follower', has_leader: false, staleness_ms: 2 });
});

test('a node that does not read or write says why, in a cluster by the reason of the cluster first', () => {
  for (const state of [{ ready: false }, { writable: false }]) {
    const { status, details } = healthOf({ ...state, reason: 'disk_low' });
    assert.equal([status, details], [503, { reason: 'disk_low' }]);
  }
  const left = { role: 'left', reason: 'a reason' } as const;
  assert.equal(healthOf({ ready: false, reason: 'stale' }, left).details, { reason: 'a reason', role: 'left' });
  const joining = { role: 'joining', reason: null } as const;
  assert.equal(healthOf({ ready: false, reason: 'recovering' }, joining).details, {
    reason: 'recovering',
    role: 'joining',
  });
});

test('the root answers programs with addresses, and redirects browsers to the page', () => {
  const { getIndex } = docsHandlers('1.2.3');
  const answerTo = (accept?: string) => getIndex({ headers: accept === undefined ? {} : { accept } } as never);
  for (const accept of [undefined, '*/*', 'application/json', 'text/html;q=0', 'application/json,text/html;q=0.9']) {
    const { status, body, headers } = answerTo(accept);
    assert.equal([status, (body as Body).version, headers], [200, '1.2.3', undefined]);
  }
  const { status, headers } = answerTo('text/html,*/*;q=0.8');
  assert.equal([status, headers], [302, { Location: 'docs' }]);
});

test('the page, its script and the files of the library have their types, and no other file is served', async () => {
  const { getDocs, getDocsAsset, getOpenApi, getOpenApi30 } = docsHandlers('1.2.3');
  const assetOf = (asset: string) => getDocsAsset({ params: { asset } } as never);
  const types = ['start.js', 'swagger-ui.css', 'favicon-32x32.png'].map(async (asset) => {
    const { status, contentType, body } = await assetOf(asset);
    assert.ok(status === 200 && body instanceof Uint8Array && body.length > 100, asset);
    assert.is((await assetOf(asset)).body, body, 'read once');
    return contentType;
  });
  const script = 'text/javascript; charset=utf-8';
  assert.equal(await Promise.all(types), [script, 'text/css; charset=utf-8', 'image/png']);
  for (const asset of ['', 'package.json', '../package.json', 'swagger-ui.js']) {
    assert.is((await assetOf(asset)).error?.code, 'route_not_found', asset);
  }
  const { status, contentType, headers } = getDocs();
  assert.equal([status, contentType], [200, 'text/html; charset=utf-8']);
  assert.match(headers?.['Content-Security-Policy'] ?? '', /^default-src 'none'; script-src 'self';/);
  const versions = [getOpenApi(), getOpenApi30()].map(({ body }) => JSON.parse(String(body)).openapi.slice(0, 3));
  assert.equal(versions, ['3.1', '3.0']);
});

test.run();
