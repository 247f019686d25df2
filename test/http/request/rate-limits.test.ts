/**
 * Limits per peer and per address: off by default, the same on the fast path and through Koa, and told as the contract
 * says.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CallerLimit } from '../../../src/http/request/rate-limits.js';
import { limits } from '../../../src/limits.js';
import { until } from '../../support/until.js';
import { type Answer, ask } from '../exchange.js';
import { type FaceOptions, startFace } from '../face.js';
import { activeKey } from '../group-double.js';
import { eventBody } from '../samples.js';

const scores = '/api/v1/trust-scores?ids=a';

const faceWith = (settings: FaceOptions['settings'] = {}) => startFace({ settings });

/** Asks more often than a second's share is worth, whenever the second began; the last answer of each status. */
async function many(count: number, one: () => Promise<Answer>): Promise<Map<number, Answer>> {
  const answers = await Promise.all(Array.from({ length: count }, one));
  return new Map(answers.map((answer) => [answer.status, answer]));
}

/** A wait of so many seconds, less those that went by since `startedAt`: on a busy machine one may. */
function holdsWait(header: string | undefined, seconds: number, startedAt: number): void {
  const waitS = Number(header);
  const gone = (performance.now() - startedAt) / 1000;
  assert.ok(waitS <= seconds && waitS >= seconds - gone, `${header} after ${gone} s`);
}

test('without a limit nothing is refused', async () => {
  await using face = await faceWith();
  assert.equal([...(await many(200, () => ask(face.url, scores, { key: activeKey }))).keys()], [200]);
});

for (const [path, how] of [
  [scores, {}],
  ['/api/v1/peers', {}],
  ['/api/v1/events', { json: eventBody() }],
] as const) {
  test(`a peer beyond its limit gets 429 with fields that say when to retry (${path})`, async () => {
    await using face = await faceWith({ rateLimitPeerPerS: 2 });
    const answers = await many(20, () => ask(face.url, path, { key: activeKey, ...how }));
    const refused = answers.get(429);
    assert.ok(answers.size === 2 && refused !== undefined);
    const details = { limit: 'peer', per_s: 2 };
    assert.equal(refused.body, { error: 'too many requests; try again later', code: 'rate_limited', details });
    assert.is(refused.headers['retry-after'], '1');
    assert.is(refused.headers['ratelimit-policy'], '"peer";q=2;w=1');
    assert.is(refused.headers.ratelimit, '"peer";r=0;t=1');
    // A caller without a valid key is no peer, so that this limit does not apply to it.
    assert.is((await ask(face.url, scores)).status, 200);
  });
}

test('an address beyond its limit gets 429 before its key is looked at, and probes are always answered', async () => {
  await using face = await faceWith({ rateLimitAddressPerS: 2 });
  const answers = await many(20, () => ask(face.url, '/api/v1/audit', { key: 'a guess' }));
  assert.equal([...answers.keys()].sort(), [401, 429]);
  assert.is(answers.get(429)?.headers['ratelimit-policy'], '"address";q=2;w=1');
  assert.equal([...(await many(20, () => ask(face.url, '/api/v1/ready'))).keys()], [200]);
});

test('an address registers a limited number of peers an hour, and then learns how long to wait', async () => {
  await using face = await faceWith({ registrationsPerAddressPerHour: 2 });
  // A long query, which reads wait for, changes nothing.
  const path = `/api/v1/peers/register?${'x'.repeat(2 * limits.shortQueryLength)}`;
  const register = (json: unknown) => ask(face.url, path, { json });
  const valid = { peer_name: 'P', game_ids: ['g'] };
  // A registration with an invalid body does not count.
  for (let i = 0; i < 3; i++) assert.is((await register({ ...valid, game_ids: [] })).status, 400);
  assert.equal([(await register(valid)).status, (await register(valid)).status], [201, 201]);
  const { body, headers } = await register(valid);
  assert.equal([body.code, body.details], ['rate_limited', { limit: 'registrations', per_hour: 2 }]);
  assert.is(headers['ratelimit-policy'], '"registrations";q=2;w=3600');
  assert.ok(Number(headers['retry-after']) > 3500);
  assert.is((await ask(face.url, '/api/v1/peers')).status, 200);
});

test('a batch counts its events: one above the limit is accepted, and delays the next request', async () => {
  await using face = await faceWith({ rateLimitPeerPerS: 10 });
  const events = Array.from({ length: 50 }, (_, i) => eventBody({ event_id: `e-${i}` }));
  const startedAt = performance.now();
  assert.is((await ask(face.url, '/api/v1/events/batch', { key: activeKey, json: { events } })).status, 200);
  const next = await ask(face.url, scores, { key: activeKey });
  assert.is(next.status, 429);
  // 50 events at 10 per second.
  holdsWait(next.headers['retry-after'], 5, startedAt);
});

test('the limit is lifted when its second is over', async () => {
  const limit = new CallerLimit('peer', 1);
  const taken = async (): Promise<boolean> => (await limit.consume('a')) === null;
  assert.equal([await taken(), await taken()], [true, false]);
  await until(taken);
});

test('a refused request extends no wait, neither its own nor that after an admitted batch', async () => {
  const limit = new CallerLimit('peer', 10);
  const startedAt = performance.now();
  const answers = await Promise.all(Array.from({ length: 100 }, () => limit.consume('a')));
  assert.is(answers.filter((one) => one === null).length, 10);
  await limit.charge('a', 40);
  // 10 requests and 40 more events at 10 per second.
  holdsWait((await limit.consume('a'))?.headers?.['Retry-After'], 5, startedAt);
});

const statusesOf = (limit: CallerLimit, callers: readonly string[]) =>
  Promise.all(callers.map(async (caller) => (await limit.consume(caller))?.status ?? 200));

test('callers beyond the bound share one count', async () => {
  const limit = new CallerLimit('address', 1, 1, 2);
  assert.equal(await statusesOf(limit, ['first', 'second', 'late', 'later']), [200, 200, 200, 429]);
});

test('a caller that waits after a batch keeps its own count', async () => {
  const limit = new CallerLimit('address', 1, 1, 1);
  await limit.consume('waits');
  await limit.charge('waits', 59);
  const now = performance.now;
  // A place without a wait is free again after a second.
  performance.now = () => now.call(performance) + 1_100;
  try {
    assert.equal(await statusesOf(limit, ['late', 'later', 'waits']), [200, 429, 429]);
  } finally {
    performance.now = now;
  }
});

test.run();
