/** Behaviour of a failing group: refusals of every route, faults, and the end of a node. */

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Route, routes } from '../../src/contract/routes.js';
import { refused } from '../../src/errors.js';
import type { PeersApi } from '../../src/group/api.js';
import type { ClusterHealth } from '../../src/group/cluster-api.js';
import { limits } from '../../src/limits.js';
import { deferred } from '../support/deferred.js';
import { until } from '../support/until.js';
import { type Ask, ask } from './exchange.js';
import { startFace, type TestFace } from './face.js';
import { acceptAfter, activeKey, type Replaced } from './group-double.js';
import { eventBody } from './samples.js';

const bodies: Readonly<Record<string, () => unknown>> = {
  '/api/v1/events': () => eventBody(),
  '/api/v1/events/batch': () => ({ events: [eventBody()] }),
  '/api/v1/subjects/{hash}/disputes': () => ({ text: 'a text' }),
  '/api/v1/peers/register': () => ({ peer_name: 'Peer', game_ids: ['arena'] }),
};

/** A request of each route that would succeed but for the group. */
function requests(): { readonly route: Route; readonly path: string; readonly how: Ask }[] {
  return Object.values<Route>(routes).map((route) => {
    const path = route.path
      .replace('{hash}', 'ab'.repeat(32))
      .replace('{asset}', 'start.js')
      .replace(/\{\w+\}/, 'x');
    const json = bodies[route.path]?.();
    const how = { method: route.method, key: activeKey, ...(json === undefined ? {} : { json }) };
    return { route, path: route.path === routes.getTrustScores.path ? `${path}?ids=x` : path, how };
  });
}

async function withFace(group: Replaced, run: (face: TestFace) => Promise<void>): Promise<void> {
  await using face = await startFace({ group });
  await run(face);
}

test('a group that is not ready answers 503 on every route but those about itself', async () => {
  for (const reason of ['recovering', 'draining', 'log_failed'] as const) {
    const group = {
      isReady: false,
      health: () => ({
        ready: false,
        writable: false,
        reason,
        lastSeq: 0,
        weights: { basedOnSeq: 0, computedAt: null },
      }),
    };
    await withFace(group, async (face) => {
      for (const { route, path, how } of requests()) {
        const { status, body } = await ask(face.url, path, how);
        const isHealth = route.path === routes.getHealth.path || route.path === routes.getReadiness.path;
        assert.is(status, route.whileNotReady && !isHealth ? 200 : 503, path);
        if (status === 503) assert.equal([body.code, body.details.reason], ['dependency_unavailable', reason]);
      }
    });
  }
});

const sentence = 'a secret sentence of /some/library.js:1:1';

test('an internal error is 500 with only the request id, and is logged with its stack', async () => {
  const fails = (): never => {
    throw new Error(sentence);
  };
  const rejects = async (): Promise<never> => fails();
  const group: Partial<PeersApi> = {
    submit: rejects,
    register: rejects,
    withdraw: rejects,
    erase: rejects,
    dispute: rejects,
    audit: rejects,
    playerEvents: rejects,
    peers: fails,
    ownErasures: fails,
    trust: fails,
    trusts: fails,
  };
  await withFace(group, async (face) => {
    for (const { route, path, how } of requests()) {
      // A stream fails behind its head, if it does.
      if (route.whileNotReady || route.path === routes.streamVerdicts.path) continue;
      const { status, body, text, headers } = await ask(face.url, path, how);
      assert.is(status, 500, path);
      assert.equal(body, {
        error: 'internal error',
        code: 'internal_error',
        details: { request_id: headers['x-request-id'] },
      });
      assert.not(text.includes('secret'));
      const line = face.logged.find((one) => one.request_id === headers['x-request-id'] && one.err !== undefined);
      assert.match(JSON.stringify(line?.err), /a secret sentence/);
    }
  });
});

test('events without room are refused before their body is parsed', async () => {
  const notAsked = (): never => {
    throw new Error('the group was asked');
  };
  const asked: number[] = [];
  const admits = (events: number): boolean => {
    asked.push(events);
    return false;
  };
  await withFace({ admits, submit: notAsked }, async (face) => {
    for (const path of ['/api/v1/events', '/api/v1/events/batch']) {
      const headers = { 'Content-Type': 'application/json' };
      const how = { method: 'POST', key: activeKey, raw: 'no JSON', headers };
      const { status, body, headers: answered } = await ask(face.url, path, how);
      assert.equal([status, body.code, answered['retry-after']], [503, 'overloaded', '1'], path);
      assert.is((await ask(face.url, path, { ...how, key: 'wrong' })).status, 401);
    }
  });
  // A body of 7 bytes holds no more than one event.
  assert.equal(asked, [1, 1]);
});

test('a group that is full answers 503 overloaded with Retry-After', async () => {
  const full = refused('overloaded', { retryAfterS: 3 });
  const group: Partial<PeersApi> = {
    submit: async (_caller, events) => events.map(() => full),
    register: async () => full,
    withdraw: async () => full,
    erase: async () => full,
    dispute: async () => full,
    audit: async () => full,
    playerEvents: async () => full,
  };
  await withFace(group, async (face) => {
    for (const { route, path, how } of requests()) {
      // Readers of the stream are counted by the face itself.
      if (!route.codes.includes('overloaded') || route.path === routes.streamVerdicts.path) continue;
      const { status, body, headers } = await ask(face.url, path, how);
      assert.equal([status, body.code, headers['retry-after']], [503, 'overloaded', '3'], path);
    }
  });
});

const follower: ClusterHealth = {
  role: 'follower',
  hasLeader: true,
  appliedSeq: 4_187,
  stalenessMs: 60_000,
  isStale: true,
  reason: null,
  leaseMs: 0,
  floorSeq: 0,
  takeovers: 0,
  forwarded: 0,
  etcdBytes: 0,
  etcdQuotaBytes: 2e9,
  isScrubIncomplete: false,
  refusedNodes: 0,
};

test('a node that may be behind its group refuses every read but those about itself', async () => {
  await withFace({ cluster: follower }, async (face) => {
    for (const { route, path, how } of requests()) {
      if (route.method !== 'GET') continue;
      const { status, body, headers } = await ask(face.url, path, how);
      assert.is(headers['x-applied-seq'], '4100', path);
      if (route.whileNotReady) assert.is(status, 200, path);
      else assert.equal([status, body.code, headers['retry-after']], [503, 'stale', '1'], path);
    }
  });
  await withFace({ cluster: { ...follower, isStale: false } }, async (face) => {
    assert.is((await ask(face.url, '/api/v1/peers', { key: activeKey })).status, 200);
  });
});

test('a node that may be behind refuses a key that it does not know as stale, and not as invalid', async () => {
  for (const [isFresh, expected] of [
    [false, [503, 'stale']],
    [true, [401, 'invalid_api_key']],
  ] as const) {
    await withFace({ cluster: { ...follower, isStale: false }, refresh: async () => isFresh }, async (face) => {
      const { status, body } = await ask(face.url, '/api/v1/audit', { key: 'ptf_dev_unknown' });
      assert.equal([status, body.code], expected);
    });
  }
});

test('a write that reaches no leader is 503 no_leader with Retry-After', async () => {
  const none = refused('no_leader', { retryAfterS: 1 });
  const group: Partial<PeersApi> = {
    submit: async (_caller, events) => events.map(() => none),
    register: async () => none,
    withdraw: async () => none,
    erase: async () => none,
    dispute: async () => none,
  };
  await withFace(group, async (face) => {
    for (const { route, path, how } of requests()) {
      if (route.method === 'GET') continue;
      const { status, body, headers } = await ask(face.url, path, how);
      assert.equal([status, body.code, headers['retry-after']], [503, 'no_leader', '1'], path);
    }
  });
});

test('a batch that is refused as a whole is one 503, a batch with an answer keeps its results', async () => {
  const group: Partial<PeersApi> = {
    submit: async (_caller, events) =>
      events.map((_event, place) => (place === 0 ? { ok: true, value: { receivedAt: 0 } } : refused('overloaded'))),
  };
  await withFace(group, async (face) => {
    const { status, body } = await ask(face.url, '/api/v1/events/batch', {
      key: activeKey,
      json: { events: [eventBody(), eventBody()] },
    });
    assert.is(status, 200);
    assert.equal(
      body.results.map((one: { status: number; code?: string }) => [one.status, one.code]),
      [
        [201, undefined],
        [503, 'overloaded'],
      ],
    );
    assert.equal([body.accepted, body.duplicates, body.rejected], [1, 0, 1]);
  });
});

test('only the valid items of a batch reach the group, in one call', async () => {
  const calls: string[][] = [];
  const group: Partial<PeersApi> = {
    submit: async (_caller, events) => {
      calls.push(events.map((event) => event.eventId));
      return events.map(() => refused('timestamp_in_future'));
    },
  };
  await withFace(group, async (face) => {
    const events = [{}, eventBody({ event_id: 'a' }), 3, eventBody({ event_id: 'b' })];
    const { body } = await ask(face.url, '/api/v1/events/batch', { key: activeKey, json: { events } });
    assert.equal(calls, [['a', 'b']]);
    assert.equal(
      body.results.map((one: { event_id: string; status: number }) => [one.event_id, one.status]),
      [
        [null, 400],
        ['a', 422],
        [null, 400],
        ['b', 422],
      ],
    );
    await ask(face.url, '/api/v1/events/batch', { key: activeKey, json: { events: [1] } });
    assert.is(calls.length, 1);
  });
});

test('an erasure that waits for the operator is 202, one beyond the quota 429', async () => {
  const pending = { status: 'pending', reason: 'operator_mode', eventsErased: 0, erasedAt: 0, receipt: 'r' } as const;
  const path = `/api/v1/subjects/${'AB'.repeat(32)}`;
  await withFace({ erase: async () => ({ ok: true, value: pending }) }, async (face) => {
    const { status, body } = await ask(face.url, path, { method: 'DELETE', key: activeKey });
    assert.is(status, 202);
    const receipt = { subject_hash: 'ab'.repeat(32), status: 'pending', receipt: 'r', reason: 'operator_mode' };
    assert.equal(body, receipt);
  });
  const over = refused('erasure_quota_exceeded', { retryAfterS: 60, details: { quota: 'peer', per_day: 1 } });
  await withFace({ erase: async () => over }, async (face) => {
    const { headers } = await ask(face.url, path, { method: 'DELETE', key: activeKey });
    assert.equal([headers['retry-after'], headers.ratelimit], ['60', '"erasure_quota_exceeded";r=0;t=60']);
  });
});

test('draining answers accepted requests, closes their connections, and accepts nothing new', async () => {
  const { promise: held, resolve: release } = deferred();
  const { promise: here, resolve: arrived } = deferred();
  const face = await startFace({
    group: {
      submit: acceptAfter(() => {
        arrived();
        return held;
      }),
    },
  });
  const answer = ask(face.url, '/api/v1/events', { key: activeKey, json: eventBody() });
  await here;
  const drained = face.drain();
  // Those that the system had taken are, for a moment.
  await until(() =>
    ask(face.url, '/api/v1/health').then(
      ({ headers }) => {
        assert.is(headers.connection, 'close');
        return false;
      },
      (error: Error) => /ECONNREFUSED|ECONNRESET|UND_ERR_SOCKET/.test(JSON.stringify(error)),
    ),
  );
  release();
  const { status, headers } = await answer;
  assert.equal([status, headers.connection], [201, 'close']);
  await drained;
});

test('draining does not wait for silent callers or for requests that never end', async () => {
  const face = await startFace();
  const { connect } = await import('node:net');
  const silent = connect(face.port, '127.0.0.1');
  const half = connect(face.port, '127.0.0.1');
  half.write('POST /api/v1/events HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n');
  half.write(`X-Peer-API-Key: ${activeKey}\r\n\r\n{`);
  await Promise.all([silent, half].map((socket) => new Promise((resolve) => socket.once('connect', resolve))));
  for (const socket of [silent, half]) socket.on('error', () => {});
  // Answered on another connection: the node has read what those two sent.
  assert.is((await ask(face.url, '/api/v1/health')).status, 200);
  const started = performance.now();
  await face.drain();
  assert.ok(performance.now() - started < limits.requestTimeoutMs, 'as long as a request may take to arrive');
});

test.run();
