/** The checks of one endpoint, on bounds and a group that answer as they are told. */
import { EventEmitter } from 'node:events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type OperationId, type Route, routes } from '../../../src/contract/routes.js';
import { type ErrorCode, granted, type Refusal, refused } from '../../../src/errors.js';
import { nothingNotOffered } from '../../../src/group/api.js';
import type { ClusterHealth } from '../../../src/group/cluster-api.js';
import type { HttpDeps } from '../../../src/http/deps.js';
import { CheckedEndpoint, type Incoming, type SharedBounds } from '../../../src/http/request/pipeline.js';
import type { ApiReply, ApiRequest, BodyReading, MaybeAsync } from '../../../src/http/request/request.js';
import { BatchPace } from '../../../src/http/room/batch-pace.js';
import { limits } from '../../../src/limits.js';
import { activeKey, nodeDouble, type Replaced, suspendedKey } from '../group-double.js';
import { eventBody } from '../samples.js';

interface Around {
  readonly group?: Replaced & { readonly cluster?: ClusterHealth | null };
  readonly isReady?: boolean;
  readonly rates?: object;
  readonly work?: object;
  readonly signing?: object;
  readonly bodies?: object;
  readonly pace?: object;
  readonly handle?: (request: ApiRequest<unknown>) => ApiReply;
  readonly body?: unknown;
  readonly incoming?: Partial<Incoming>;
}

const json = { 'content-type': 'application/json', 'x-peer-api-key': activeKey };
const arriving = { end: () => undefined };

/** Answers one request. The body is read as node:http would have read it: in its turn, after it has arrived. */
async function answerOf(id: OperationId, around: Around = {}): Promise<ApiReply> {
  const { group = {}, isReady = true, handle = () => ({ status: 200, body: 'handled' }), body = eventBody() } = around;
  const node = { ...nodeDouble(group), isReady };
  const settings = { authEnabled: true, registrationMode: 'open' };
  const deps = { node, settings, clock: Date, sessionHolds: () => true } as unknown as HttpDeps;
  const bounds = {
    rates: { peer: null, address: null, registrations: null, ...around.rates },
    bodies: { beginBody: () => arriving, ...around.bodies },
    pace: around.pace ?? new BatchPace(),
    signing: { check: () => granted(null), ...around.signing },
    work: {
      nextBody: () => undefined,
      nextRead: () => undefined,
      parsed: () => undefined,
      eventsBefore: () => 0,
      eventsOf: () => 0,
      hasRoomFor: () => true,
      ...around.work,
    },
  } as unknown as SharedBounds;
  const readBody = async ({ inTurn, check, use }: BodyReading): Promise<ApiReply> =>
    use((await inTurn(100)) ?? check?.([]) ?? granted(body));
  const remote = { remoteAddress: '192.0.2.1', destroyed: false };
  const incoming = { headers: json, captures: ['a'], path: '/', query: '', remote, readBody, ...around.incoming };
  return new CheckedEndpoint(id, handle as never, deps, bounds).answer(incoming as unknown as Incoming);
}

const codeOf = async (reply: Promise<ApiReply>) => (await reply).error?.code ?? (await reply).body;
const failed = {
  ready: false,
  writable: false,
  reason: 'log_failed',
  lastSeq: 0,
  weights: { basedOnSeq: 0, computedAt: null },
} as const;
const cluster = { isStale: false, appliedSeq: 1_234, stalenessMs: 1.2 } as ClusterHealth;

test('a group that is not ready answers nothing but about itself, one that may be behind no reads', async () => {
  for (const [id, route] of Object.entries<Route>(routes) as [OperationId, Route][]) {
    const check = () => refused('signature_invalid');
    const isOpen = route.whileNotReady;
    const { error } = await answerOf(id, { isReady: false, group: { health: () => failed }, signing: { check } });
    const refusal = ['dependency_unavailable', { reason: 'log_failed' }];
    assert.equal([error?.code, error?.details], isOpen ? ['signature_invalid', undefined] : refusal, id);
    const behind = await answerOf(id, { group: { cluster: { ...cluster, isStale: true } }, signing: { check } });
    const isRead = route.method === 'GET';
    assert.is(behind.error?.code, isRead && !isOpen ? 'stale' : 'signature_invalid', id);
    assert.equal(behind.position, isRead ? { appliedSeq: 1_200, stalenessMs: 2 } : undefined, id);
    assert.is((await answerOf(id, { signing: { check } })).position, undefined, id);
  }
});

test('an answer states the position from before it was computed', async () => {
  const moving = { ...cluster };
  const handle = () => {
    moving.appliedSeq = 9_999;
    return { status: 200, body: null };
  };
  const reply = await answerOf('getVerdict', { group: { cluster: moving }, handle });
  assert.is(reply.position?.appliedSeq, 1_200);
});

test('a node of a cluster asks for new peers before it refuses an unknown key', async () => {
  let asked = 0;
  const refresh = (isFresh: boolean) => async () => {
    asked += 1;
    return isFresh;
  };
  const answer = (isFresh: boolean, more: Replaced, key = 'unknown') => {
    const incoming = { headers: key === '' ? {} : { 'x-peer-api-key': key } };
    return codeOf(answerOf('listAudit', { group: { refresh: refresh(isFresh), ...more }, incoming }));
  };
  assert.is(await answer(true, { cluster }), 'invalid_api_key');
  assert.is(await answer(false, { cluster }), 'stale');
  assert.is(asked, 2);
  assert.is(await answer(true, { cluster: null }), 'invalid_api_key');
  assert.is(await answer(true, { cluster }, ''), 'missing_api_key');
  assert.is(await answer(true, { cluster }, suspendedKey), 'peer_not_active');
  assert.is(await answer(true, { cluster }, activeKey), 'handled');
  assert.is(asked, 2);
});

test('the checks of a write come in the order of the contract', async () => {
  const refusal = (code: ErrorCode) => ({ status: 400, body: null, error: { error: code, code } });
  const rate = (code: ErrorCode) => ({ consume: async () => refusal(code), charge: async () => undefined });
  const steps: readonly (readonly [code: unknown, failing: Around])[] = [
    ['dependency_unavailable', { isReady: false }],
    ['rate_limited', { rates: { address: rate('rate_limited') } }],
    ['missing_api_key', { incoming: { headers: {} } }],
    ['overloaded', { rates: { peer: rate('overloaded') } }],
    ['signature_invalid', { signing: { check: () => refused('signature_invalid') } }],
    ['unsupported_media_type', { incoming: { headers: { 'x-peer-api-key': activeKey } } }],
    ['payload_too_large', { incoming: { headers: { ...json, 'content-length': `${limits.eventBodyBytes + 1}` } } }],
    ['overloaded', { group: { admits: () => false } }],
    ['signature_replayed', { signing: { check: () => granted(() => refused('signature_replayed')) } }],
    ['schema_validation_failed', { body: {} }],
    ['handled', {}],
  ];
  for (const [place, [code]] of steps.entries()) {
    const failing = steps.slice(place).toReversed();
    const rates = Object.assign({}, ...failing.map(([, one]) => one.rates));
    const around: Around = Object.assign({}, ...failing.map(([, one]) => one), { rates });
    assert.is(await codeOf(answerOf('submitEvent', around)), code, String(place));
  }
});

test('a path parameter is decoded once, and one that is not UTF-8 is refused by its name', async () => {
  const handle = ({ params }: ApiRequest<unknown>) => ({ status: 200, body: params });
  const answer = (capture: string) => answerOf('getVerdict', { handle, incoming: { captures: [capture] } });
  assert.equal((await answer('a%2525')).body, { id: 'a%25' });
  assert.is((await answer('%ff')).error?.error, 'id is not percent-encoded UTF-8');
});

test('listings and reads with a query over 512 characters wait for a turn, and no write does', async () => {
  const turnsOf = async (id: OperationId, query: string): Promise<number> => {
    const turns: unknown[] = [];
    await answerOf(id, { work: { nextRead: async (holder: unknown) => turns.push(holder) }, incoming: { query } });
    return turns.length;
  };
  const [short, long] = ['x'.repeat(limits.shortQueryLength), 'x'.repeat(limits.shortQueryLength + 1)];
  assert.equal([await turnsOf('listPeers', ''), await turnsOf('listAudit', '')], [1, 1]);
  assert.equal([await turnsOf('getTrustScores', short), await turnsOf('getTrustScores', long)], [0, 1]);
  assert.is(await turnsOf('submitEvent', long), 0);
});

test('a batch is refused as overloaded wherever its events find no room, and gives up its place', async () => {
  const admitsAtFirst = (times: number) => {
    let asked = 0;
    return () => asked++ < times;
  };
  const noted: string[] = [];
  const countOf = (what: string) => noted.filter((one) => one === what).length;
  const noteRefusal = () => void noted.push('refusal');
  const bodies = { beginBody: () => ({ end: () => noted.push('end') }) };
  const paces: boolean[] = [];
  const pace = { begin: () => ({ waitMs: 0, ended: (isRefused: boolean) => paces.push(isRefused) }) };
  const cases: readonly Around[] = [
    { pace: { begin: () => ({ waitMs: null }) } },
    { bodies: { beginBody: () => undefined }, group: { noteRefusal } },
    { group: { admits: () => false } },
    { work: { hasRoomFor: () => false } },
    { group: { admits: admitsAtFirst(1) }, work: { nextBody: async () => noted.push('turn') } },
  ];
  for (const [place, around] of cases.entries()) {
    const reply = answerOf('submitEvents', { pace, bodies, body: { events: [{}] }, ...around });
    assert.is(await codeOf(reply), 'overloaded', String(place));
  }
  assert.equal([countOf('refusal'), countOf('end'), countOf('turn')], [1, 3, 1]);
  assert.equal(paces, [true, true, true, true]);
  assert.is(await codeOf(answerOf('submitEvents', { pace, bodies, body: { events: [{}] } })), 'handled');
  assert.is(await codeOf(answerOf('submitEvents', { pace, bodies, body: {} })), 'schema_validation_failed');
  assert.equal(paces.slice(4), [false, false]);
  const gone = { remote: { destroyed: true } as Incoming['remote'] };
  assert.is(await codeOf(answerOf('submitEvents', { pace, bodies, incoming: gone })), 'malformed_json');
  const failing = { readBody: () => Promise.reject(new Error('of the disk')) };
  const failure = await answerOf('submitEvents', { pace, bodies, incoming: failing }).catch(String);
  assert.is(failure, 'Error: of the disk');
  assert.equal(paces.slice(6), [false, false]);
  assert.is(countOf('end'), 6);
  const atOnce = { readBody: ({ use }: BodyReading) => use(granted({ events: [{}] })) };
  assert.is(await codeOf(answerOf('submitEvents', { pace, bodies, incoming: atOnce })), 'handled');
  assert.is(countOf('end'), 7);
});

test('a batch that must wait is read after its pause, or at once where its caller disconnects', async () => {
  const remote = Object.assign(new EventEmitter(), { destroyed: false });
  const waiting = (waitMs: number) => {
    const pace = { begin: () => ({ waitMs, ended: () => undefined }) };
    const incoming = { remote: remote as unknown as Incoming['remote'] };
    return codeOf(answerOf('submitEvents', { pace, body: { events: [{}] }, incoming }));
  };
  assert.is(await waiting(1), 'handled');
  const paused = waiting(3_600_000);
  remote.destroyed = true;
  remote.emit('close');
  assert.is(await paused, 'malformed_json');
  assert.is(remote.listenerCount('close'), 0);
});

test('a batch is offered with its bytes, its events, its holder and what waits before it', async () => {
  const seen: unknown[] = [];
  const note =
    (result: unknown) =>
    (...args: unknown[]) => {
      seen.push(args.slice(0, 3));
      return result;
    };
  const events = 1 + Math.floor(1_280 / limits.batchEventBytesMin);
  const work = { eventsBefore: () => 7, eventsOf: () => 8, nextBody: note(Promise.resolve()) };
  const pace = { begin: note({ waitMs: 0, ended: () => undefined }) };
  const begun: { isFirst?: boolean; overloaded?: boolean }[] = [];
  const bodies = { beginBody: (start: object) => begun.push(start) > 0 && arriving };
  const headers = { ...json, 'content-length': '1280' };
  const around = { work, pace, bodies, body: { events: [{}] } };
  const group = { admits: note(true) as () => boolean };
  await answerOf('submitEvents', { ...around, group, incoming: { headers } });
  assert.equal(seen, [
    [0, 1_280, false],
    [events, 0, { before: 7, own: 8 }],
    [0, events],
    [events, 0, nothingNotOffered],
  ]);
  seen.length = 0;
  await answerOf('submitEvents', { ...around, group: { ...group, overloaded: true } });
  assert.equal(seen[0], [0, limits.readBytes, true], 'without a length');
  await answerOf('submitEvents', { ...around, group: { overloaded: true, hasRoom: () => false } });
  assert.equal(
    begun.map(({ overloaded, isFirst }) => [overloaded, isFirst]),
    [
      [false, false],
      [true, true],
      [true, false],
    ],
  );
});

test('the check of a body is reported if it is valid and no batch, since a refused one may have had no turn', async () => {
  const reported: number[] = [];
  const work = { parsed: (events: number) => reported.push(events) };
  await answerOf('submitEvent', { work });
  await answerOf('submitEvent', { work, body: {} });
  await answerOf('submitEvent', { work, group: { admits: () => false } });
  await answerOf('submitEvents', { work, body: {} });
  await answerOf('submitEvents', { work, body: { events: [{}] } });
  await answerOf('getVerdict', { work });
  assert.equal(reported, [1]);
});

test('only an event needs room in the group beforehand, not a dispute', async () => {
  const admits = (events: number) => events === 1;
  assert.is(await codeOf(answerOf('submitEvent', { group: { admits } })), 'handled');
  const body = { text: 'I was on a LAN.' };
  const group = { admits: () => false };
  assert.is(await codeOf(answerOf('openDispute', { group, body })), 'handled');
  const work = { nextBody: async () => undefined };
  assert.is(await codeOf(answerOf('openDispute', { work, body })), 'handled');
});

test('the events of a batch beyond the first are charged to its address and its peer', async () => {
  const charged: unknown[] = [];
  const rate = (name: string) => ({
    consume: (caller: string): MaybeAsync<Refusal | null> =>
      charged.push([name, caller]) < 0 ? refused('stale') : null,
    charge: async (caller: string, more: number) => void charged.push([name, caller, more]),
  });
  const rates = { address: rate('address'), peer: rate('peer') };
  const peerId = nodeDouble().group.peers(0, 1)[0]!.peerId;
  const once = [
    ['address', '192.0.2.1'],
    ['peer', peerId],
  ];
  await answerOf('submitEvents', { rates, body: { events: [{}, {}, {}] } });
  assert.equal(charged.splice(0), [...once, ['address', '192.0.2.1', 2], ['peer', peerId, 2]]);
  await answerOf('submitEvents', { rates, body: { events: [{}] } });
  await answerOf('submitEvent', { rates });
  assert.equal(charged.splice(0), [...once, ...once]);
  for (const one of ['address', 'peer'] as const) {
    await answerOf('submitEvents', { rates: { [one]: rates[one] }, body: { events: [{}, {}] } });
    assert.equal(charged.splice(0)[1], [one, one === 'peer' ? peerId : '192.0.2.1', 1]);
  }
  await answerOf('getHealth', { rates });
  assert.equal(charged.splice(0), [], 'probes are not counted');
  await answerOf('registerPeer', { rates: { registrations: rate('hour') }, body: { peer_name: 'a', game_ids: ['b'] } });
  assert.equal(charged.splice(0), [['hour', '192.0.2.1']]);
});

test.run();
