/** Routes of a failing group: a fault tells its caller nothing, and a refusal says when to try again. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Route, routes } from '../../src/contract/routes.js';
import { type Refusal, refused } from '../../src/errors.js';
import type { PeersApi } from '../../src/group/api.js';
import type { ClusterHealth } from '../../src/group/cluster-api.js';
import { type Ask, ask } from './exchange.js';
import { startFace } from './face.js';
import { activeKey } from './group-double.js';
import { eventBody } from './samples.js';

const bodies: Readonly<Record<string, () => unknown>> = {
  '/api/v1/events': () => eventBody(),
  '/api/v1/events/batch': () => ({ events: [eventBody()] }),
  '/api/v1/subjects/{hash}/disputes': () => ({ text: 'a text' }),
  '/api/v1/peers/register': () => ({ peer_name: 'Peer', game_ids: ['arena'] }),
};

/** A request of each route that would succeed but for the group. */
function requests(): { readonly route: Route; readonly path: string; readonly how: Ask }[] {
  // The stream answers before it asks the group, and counts its readers itself.
  const asking = Object.values<Route>(routes).filter(({ path }) => path !== routes.streamVerdicts.path);
  return asking.map((route) => {
    const path = route.path
      .replace('{hash}', 'ab'.repeat(32))
      .replace('{asset}', 'start.js')
      .replace(/\{\w+\}/, 'x');
    const json = bodies[route.path]?.();
    const how = { method: route.method, key: activeKey, ...(json === undefined ? {} : { json }) };
    return { route, path: route.path === routes.getTrustScores.path ? `${path}?ids=x` : path, how };
  });
}

/** A group of which each answer that it promises is that of `outcome`. */
function answeringGroup(outcome: () => Promise<Refusal>): Partial<PeersApi> {
  return {
    submit: async (_caller, events) => {
      const refusal = await outcome();
      return events.map(() => refusal);
    },
    register: outcome,
    withdraw: outcome,
    erase: outcome,
    dispute: outcome,
    audit: outcome,
    playerEvents: outcome,
  };
}

test('a group that is not ready answers 503 about itself too, with the reason', async () => {
  const health = { ready: false, writable: false, lastSeq: 0, weights: { basedOnSeq: 0, computedAt: null } };
  const reason = 'log_failed';
  await using face = await startFace({ group: { isReady: false, health: () => ({ ...health, reason }) } });
  for (const path of ['/api/v1/health', '/api/v1/ready', '/api/v1/peers']) {
    const { status, body } = await ask(face.url, path);
    assert.equal([status, body.code, body.details.reason], [503, 'dependency_unavailable', reason], path);
  }
});

test('an internal error is 500 with only the request id, and is logged with its stack', async () => {
  const fails = (): never => {
    throw new Error('a secret sentence of /some/library.js:1:1');
  };
  const group = {
    ...answeringGroup(async () => fails()),
    peers: fails,
    ownErasures: fails,
    trust: fails,
    trusts: fails,
  };
  await using face = await startFace({ group });
  for (const { route, path, how } of requests()) {
    if (route.whileNotReady) continue;
    const { status, body, headers } = await ask(face.url, path, how);
    assert.is(status, 500, path);
    const details = { request_id: headers['x-request-id'] };
    assert.equal(body, { error: 'internal error', code: 'internal_error', details }, path);
    const line = face.logged.find((one) => one.request_id === headers['x-request-id'] && one.err !== undefined);
    assert.match(JSON.stringify(line?.err), /a secret sentence/);
  }
});

for (const [code, isPossible] of [
  ['overloaded', (route: Route) => route.codes.includes('overloaded')],
  ['no_leader', (route: Route) => route.method !== 'GET'],
] as const) {
  test(`a request that the group refuses as ${code} is 503 with Retry-After`, async () => {
    const refusal = refused(code, { retryAfterS: 3 });
    await using face = await startFace({ group: answeringGroup(async () => refusal) });
    for (const { route, path, how } of requests()) {
      if (!isPossible(route)) continue;
      const { status, body, headers } = await ask(face.url, path, how);
      assert.equal([status, body.code, headers['retry-after']], [503, code, '3'], path);
    }
  });
}

test('a read of a node that is behind is 503 with Retry-After, and an unknown key is not called invalid', async () => {
  const cluster = { isStale: true, appliedSeq: 4_187, stalenessMs: 60_000 } as ClusterHealth;
  await using behind = await startFace({ group: { cluster } });
  const { status, body, headers } = await ask(behind.url, '/api/v1/peers');
  assert.equal([status, body.code, headers['retry-after']], [503, 'stale', '1']);
  assert.is(headers['x-applied-seq'], '4100');
  const current = { cluster: { ...cluster, isStale: false }, refresh: async () => false };
  await using face = await startFace({ group: current });
  assert.is((await ask(face.url, '/api/v1/audit', { key: 'ptf_dev_unknown' })).body.code, 'stale');
});

test.run();
