/** Calls of the client against a scripted node, in virtual time: budgets, retries, the circuit, signals, the end. */
import { getEventListeners } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bounds } from '../../../src/client/bounds.js';
import type { Fallback } from '../../../src/client/call-types.js';
import type { TrustClientOptions } from '../../../src/client/client-options.js';
import { saltCheckOf } from '../../../src/client/ids/salt-check.js';
import { subjectHash } from '../../../src/client/ids/subject.js';
import type { TransportResponse } from '../../../src/client/transport/transport.js';
import { TrustClient } from '../../../src/client/trust-client.js';
import { TrustError } from '../../../src/client/trust-error.js';
import { EventSpool } from '../../../src/client/write/spool/event-spool.js';
import { rejectionAs } from '../../store/log-contract.js';
import { temporaryFolder } from '../../support/process.js';
import {
  brokenConnection,
  event,
  matchAnswer,
  refusal,
  refusedConnection,
  ScriptedTransport,
  type Step,
  saltCheckPath,
  stored,
} from '../scripted-transport.js';
import { thrownBy } from '../thrown-by.js';
import { VirtualRuntime } from '../virtual-runtime.js';

interface Scene {
  readonly client: TrustClient;
  readonly transport: ScriptedTransport;
  readonly runtime: VirtualRuntime;
}

function scene(
  answer: ConstructorParameters<typeof ScriptedTransport>[0],
  options: Partial<TrustClientOptions> = {},
): Scene {
  const runtime = new VirtualRuntime();
  const transport = new ScriptedTransport(answer);
  const client = new TrustClient({ url: 'http://node', peerId: 'peer', apiKey: 'key', transport, runtime, ...options });
  return { client, transport, runtime };
}

/** The ids of the events in the body of a batch. */
function idsIn(body: string | undefined): string[] {
  const { events } = JSON.parse(body ?? '') as { events: { event_id: string }[] };
  return events.map(({ event_id }) => event_id);
}

/** Events `e-0`, `e-1` and so on. */
const eventsOf = (count: number) => Array.from({ length: count }, (_, index) => ({ ...event, eventId: `e-${index}` }));

/** The given steps one after the other, the last one for ever. */
function steps(...all: Step[]): (request: unknown, index: number) => Step {
  return (_, index) => all[Math.min(index, all.length - 1)]!;
}

const rejection = (work: Promise<unknown>) => rejectionAs(TrustError, work);

test('the answer to an event means the same alone and in a batch', async () => {
  const duplicate = { error: 'stored before', code: 'duplicate_event' };
  const details = { event_id: 'e-1', originally_received_at: '2026-01-01T00:00:00.000Z', reason: 'subject_erased' };
  const outcome = { eventId: 'e-1', code: null, reason: null };
  for (const [status, more, expected] of [
    [201, {}, { ...outcome, status: 'accepted' }],
    [201, { counts: false }, { ...outcome, status: 'accepted', counts: false }],
    [409, duplicate, { ...outcome, status: 'duplicate' }],
    [409, { ...duplicate, details }, { ...outcome, status: 'duplicate', subjectErased: true }],
  ] as const) {
    const body = status === 201 ? { event_id: 'e-1', status: 'accepted', ...more } : more;
    const one = scene(steps(brokenConnection(), { status, body }));
    assert.equal(await one.runtime.until(one.client.submit(event)), expected);
    const many = scene(() => ({ status: 200, body: { results: [{ event_id: 'e-1', status, ...more }] } }));
    assert.equal((await many.runtime.until(many.client.submitMany([event]))).results, [expected]);
  }
});

test('128 players are one call, 129 are two, and the order is that of the ids', async () => {
  const { client, transport, runtime } = scene(matchAnswer);
  const ids = Array.from({ length: 128 }, (_, index) => (index % 3 === 0 ? `unknown-${index}` : `player-${index}`));
  const trusts = await runtime.until(client.scores(ids));
  assert.is(transport.requests.length, 1);
  assert.equal(
    trusts.map(({ playerId, known }) => `${playerId} ${known}`),
    ids.map((id) => `${id} ${!id.startsWith('unknown')}`),
  );
  await runtime.until(client.scores([...ids.map((id) => `${id}x`), 'another']));
  assert.is(transport.requests.length, 3);
});

test('ids that are long when encoded are split over calls that fit in a head', async () => {
  const { client, transport, runtime } = scene(matchAnswer);
  const ids = Array.from({ length: 128 }, (_, index) => `${String(index).padStart(3, '0')}${'ø'.repeat(125)}`);
  await runtime.until(client.scores(ids));
  assert.ok(transport.requests.length > 1);
  // 33 KiB is the contract's bound for the whole head.
  for (const { path } of transport.requests) assert.ok(path.length < 32 * 1024);
  const asked = transport.requests.flatMap(({ path }) => path.split('ids=')[1]!.split(',').map(decodeURIComponent));
  assert.equal(asked, ids);
});

test('an id with a comma travels by itself, and the order of the answer is that of the ids', async () => {
  const { client, transport, runtime } = scene(matchAnswer);
  const trusts = await runtime.until(client.scores(['unknown,1', 'b', 'c,2', 'unknown']));
  assert.is(transport.requests[0]!.path.split('?')[1], 'ids=b,unknown&id=unknown%2C1&id=c%2C2');
  assert.equal(
    trusts.map(({ playerId, known }) => `${playerId} ${known}`),
    ['unknown,1 false', 'b true', 'c,2 true', 'unknown false'],
  );
});

test('a read that a proxy refuses as too long is split, and later reads are short from the start, not much more', async () => {
  const nginx = { status: 414, body: '<html>414 Request-URI Too Large</html>' };
  for (const headMax of [2_000, 5_000]) {
    const { client, transport, runtime } = scene(({ path, ...request }) =>
      path.length > headMax ? nginx : matchAnswer({ path, ...request }),
    );
    const idsOf = (match: number) => Array.from({ length: 128 }, (_, i) => `${match}-${String(i).padStart(57, '0')}`);
    const trusts = await runtime.until(client.scores(idsOf(1)));
    assert.equal(
      trusts.filter(({ known, source }) => known && source === 'node').map(({ playerId }) => playerId),
      idsOf(1),
    );
    const before = transport.requests.length;
    await runtime.until(client.scores(idsOf(2)));
    const later = transport.requests.slice(before).map(({ path }) => path.length);
    assert.ok(later.every((length) => length <= headMax) && later.length <= 16_000 / headMax, later.join());
  }
  const refusing = scene(() => nginx);
  const [failed] = await refusing.runtime.until(refusing.client.scores(['a', 'b']));
  assert.equal([failed!.source, failed!.cause], ['assumed', 'uri_too_long']);
});

test('a player that is asked for twice travels once and is answered twice, and no player makes no call', async () => {
  const { client, transport, runtime } = scene(matchAnswer);
  assert.equal(await runtime.until(client.scores([])), []);
  assert.is(transport.requests.length, 0);
  const [first, second, third] = await runtime.until(client.scores(['a', 'b', 'a']));
  assert.is(transport.requests[0]?.path, '/api/v1/trust-scores?ids=a,b');
  assert.equal([first?.playerId, second?.playerId, third?.playerId], ['a', 'b', 'a']);
});

test('reads carry no key, writes do; with the salt no raw id leaves, and the caller reads the ids it wrote', async () => {
  const { client, transport, runtime } = scene(
    (request) => (request.method === 'GET' ? matchAnswer(request) : stored),
    { groupSalt: 'a salt of the group' },
  );
  const trust = await runtime.until(client.score('steam:1'));
  await runtime.until(client.submit({ ...event, playerId: 'steam:1' }));
  assert.is(trust.playerId, 'steam:1');
  const [read, write] = transport.requests;
  assert.equal([read?.headers['x-peer-api-key'], write?.headers['x-peer-api-key']], [undefined, 'key']);
  // printf 'steam:1a salt of the group' | sha256sum
  const hash = 'f567e4b1d8534a795b2abc048beb7dee8ca75a89c030946a5a3935b84a1fe183';
  assert.is(read?.path, `/api/v1/trust-scores?ids=${hash}`);
  assert.match(write?.body ?? '', `"player_id":"${hash}"`);
  for (const request of transport.requests) assert.not.match(JSON.stringify(request), 'steam:1');
});

test('a read ends within its budget, whatever the node does, with a neutral answer that is marked', async () => {
  const { client, runtime } = scene(() => 'silence');
  const { asOf, ...trust } = await runtime.until(client.score('a'));
  assert.equal([runtime.elapsedMs(), asOf], [100, null]);
  const values = { score: 50, confidence: 0, verdict: 'neutral', known: false };
  assert.equal(trust, { playerId: 'a', ...values, source: 'assumed', cause: 'timeout' });
});

test('a read falls back to the last known values, with their age, until they are too old', async () => {
  let isUp = true;
  const { client, runtime } = scene((request) => (isUp ? matchAnswer(request) : 'silence'));
  const fresh = await runtime.until(client.score('a'));
  assert.is(fresh.source, 'node');
  isUp = false;
  await runtime.advance(60_000);
  const known = await runtime.until(client.score('a'));
  assert.equal({ ...known, cause: null }, { ...fresh, source: 'last-known' });
  assert.is(runtime.now() - known.asOf!, 60_100);
  assert.is((await runtime.until(client.score('a', { fallback: 'neutral' }))).source, 'assumed');
  await runtime.advance(bounds.lastKnownMs);
  assert.is((await runtime.until(client.score('a'))).source, 'assumed');
});

test('within its budget a read tries again', async () => {
  const { client, transport, runtime } = scene((request, index) =>
    index === 0 ? brokenConnection() : matchAnswer(request),
  );
  runtime.dice = 0.5;
  const trust = await runtime.until(client.score('a'));
  assert.is(trust.source, 'node');
  assert.is(transport.requests.length, 2);
  assert.is(runtime.elapsedMs(), bounds.backoffBaseMs / 2);
});

test('one call of several that fails leaves the players of the others', async () => {
  const { client, runtime } = scene((request) => (request.path.includes('late') ? 'silence' : matchAnswer(request)));
  const ids = [...Array.from({ length: 128 }, (_, index) => `p${index}`), 'late'];
  const trusts = await runtime.until(client.scores(ids));
  assert.is(trusts.filter(({ source }) => source === 'node').length, 128);
  assert.is(trusts.at(-1)?.source, 'assumed');
});

test('an error of the caller rejects instead of using the fallback', async () => {
  const { client, transport, runtime } = scene(() => refusal(422, 'subject_hash_required'));
  assert.is((await rejection(runtime.until(client.score('a')))).code, 'subject_hash_required');
  assert.is((await rejection(runtime.until(client.scores(['a', ''])))).code, 'invalid_argument');
  assert.is((await rejection(runtime.until(client.score('\ud800')))).code, 'invalid_argument');
  assert.is(transport.requests.length, 1);
});

test('an answer outside the contract is a transport error, not a score', async () => {
  for (const [what, body] of Object.entries({
    text: '<html>',
    'another shape': { data: 1 },
    'too few rows': { data: [] },
    'a row without a verdict': { data: [{ player_id: 'a', score: 1, confidence: 1 }] },
  })) {
    const { client, runtime } = scene(() => ({ status: 200, body }));
    const { source, cause } = await runtime.until(client.score('a'));
    assert.equal([source, cause], ['assumed', 'unexpected_answer'], what);
  }
});

test('an answer of 2xx without the event does not count as a successful write, and leaves its outcome open', async () => {
  for (const body of [{}, [], { event_id: 'e-2', status: 'accepted', withdrawn_at: '2026-01-01T00:00:00.000Z' }]) {
    const { client, runtime } = scene(() => ({ status: 200, body }));
    for (const call of [() => client.submit(event), () => client.withdraw('e-1')]) {
      const error = await rejection(runtime.until<unknown>(call()));
      assert.equal([error.code, error.outcomeUnknown], ['unexpected_answer', true], JSON.stringify(body));
    }
    assert.is((await rejection(runtime.until(client.explain('p')))).code, 'unexpected_answer');
  }
});

test('a read falls back if the answer is about the transport, and not about its ids', async () => {
  for (const [status, code] of [
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [404, 'route_not_found'],
    [408, 'request_timeout'],
  ] as const) {
    const { client, runtime } = scene(() => refusal(status, code));
    const { source, cause } = await runtime.until(client.score('a'));
    assert.equal([source, cause], ['assumed', code]);
  }
  const { client, runtime } = scene(() => refusal(400, 'invalid_parameter'));
  assert.is((await rejection(runtime.until(client.score('a')))).code, 'invalid_parameter');
});

test('no answer of 4xx is retried except 408 and 429, the latter after Retry-After', async () => {
  for (const [status, code] of [
    [400, 'schema_validation_failed'],
    [401, 'invalid_api_key'],
    [403, 'peer_not_active'],
    [404, 'event_not_found'],
    [413, 'payload_too_large'],
    [422, 'unknown_peer'],
  ] as const) {
    const { client, transport, runtime } = scene(() => refusal(status, code));
    const error = await rejection(runtime.until(client.submit(event)));
    assert.equal([error.code, error.status, transport.requests.length], [code, status, 1]);
  }
  for (const [refused, pauseMs] of [
    [refusal(408, 'request_timeout'), 0],
    [refusal(429, 'rate_limited', { 'retry-after': '3' }), 3_000],
  ] as const) {
    const { client, transport, runtime } = scene(steps(refused, stored));
    runtime.dice = 0;
    assert.is((await runtime.until(client.submit(event))).status, 'accepted');
    assert.equal([transport.requests.length, runtime.elapsedMs()], [2, pauseMs]);
  }
});

test('a Retry-After beyond the deadline rejects at once instead of waiting', async () => {
  const { client, transport, runtime } = scene(() => refusal(429, 'rate_limited', { 'retry-after': '60' }));
  const { retryAfterMs } = await rejection(runtime.until(client.submit(event)));
  assert.equal([retryAfterMs, transport.requests.length, runtime.elapsedMs()], [60_000, 1, 0]);
});

test("a proxy's page delays the next attempt as its Retry-After says, and is described by its status", async () => {
  const page = { status: 429, body: '<html>', headers: { 'retry-after': '3' } };
  const { client, runtime } = scene(steps(page, stored));
  runtime.dice = 0;
  await runtime.until(client.submit(event));
  assert.is(runtime.elapsedMs(), 3_000);
  const { client: moved, runtime: time } = scene(() => ({ status: 301, body: '<html>' }));
  const error = await rejection(time.until(moved.submit(event)));
  assert.equal([error.code, error.message], ['unexpected_answer', 'the answer 301 does not come from the service']);
});

test('pauses between retries are anything up to a window that doubles', async () => {
  const { client, runtime, transport } = scene(
    steps(brokenConnection(), brokenConnection(), brokenConnection(), stored),
  );
  runtime.dice = 1;
  await runtime.until(client.submit(event));
  // 50, 100, 200: base times two to the attempt, with the dice at its end.
  assert.is(runtime.elapsedMs(), 350);
  assert.is(transport.requests.length, 4);
  assert.is(new Set(transport.requests.map(({ body }) => body)).size, 1, 'the same event every time');
});

test('a read without any time sends nothing, and opens no circuit for the other reads', async () => {
  const { client, runtime, transport } = scene(matchAnswer);
  for (let n = 0; n < bounds.breakerFailures; n++) {
    const { source, cause } = await runtime.until(client.score('a', { budgetMs: 0 }));
    assert.equal([source, cause], ['assumed', 'timeout']);
  }
  assert.is(transport.requests.length, 0);
  assert.is((await runtime.until(client.score('a'))).source, 'node');
});

test('a write gives up at its deadline, and reports that the outcome is open', async () => {
  const { client, runtime } = scene(() => 'silence', { attemptMs: 1_000, deadlineMs: 4_000 });
  const error = await rejection(runtime.until(client.submit(event)));
  assert.equal([error.code, error.outcomeUnknown], ['timeout', true]);
  assert.ok(runtime.elapsedMs() <= 4_000);
});

test('an id that another peer has used is no success, since the event is not stored', async () => {
  const taken = { error: 'no', code: 'duplicate_event', details: { event_id: 'e-1', owner: 'other' } };
  const one = scene(() => ({ status: 409, body: taken }));
  assert.is((await rejection(one.runtime.until(one.client.submit(event)))).code, 'duplicate_event');
  const many = scene(() => ({ status: 200, body: { results: [{ event_id: 'e-1', status: 409, ...taken }] } }));
  const { duplicates, results } = await many.runtime.until(many.client.submitMany([event]));
  assert.equal([duplicates, results[0]?.status, results[0]?.code], [0, 'rejected', 'duplicate_event']);
});

test('an answer outside the contract leaves the outcome of a write open', async () => {
  const tooLarge = { status: 201, body: ' '.repeat(bounds.answerBytes + 1) };
  const registering = scene(() => tooLarge);
  const registration = registering.client.register({ peerName: 'a', gameIds: ['g'] });
  const error = await rejection(registering.runtime.until(registration));
  assert.equal([error.code, error.status, error.outcomeUnknown], ['unexpected_answer', 201, true]);
  assert.is(registering.transport.requests.length, 1);
  for (const results of [undefined, [], [{}, {}], ['stored'], [{ status: 500, code: 'internal_error' }]]) {
    const body = { results };
    const { client, runtime } = scene(() => ({ status: 200, body }));
    assert.ok((await rejection(runtime.until(client.submitMany([event])))).outcomeUnknown, JSON.stringify(body));
  }
});

test('a registration is sent again only where the node certainly made no peer', async () => {
  const registered = { status: 201, body: { peer_id: 'p', api_key: 'k', status: 'active' } };
  const registration = { peerName: 'n', gameIds: ['g'] };
  const certain = scene(steps(refusedConnection(), refusal(503, 'overloaded', { 'retry-after': '1' }), registered));
  assert.is((await certain.runtime.until(certain.client.register(registration))).apiKey, 'k');
  const open = scene(steps(brokenConnection(), registered));
  const error = await rejection(open.runtime.until(open.client.register(registration)));
  assert.equal([error.code, error.outcomeUnknown, open.transport.requests.length], ['unreachable', true, 1]);
});

test('a withdrawal whose answer was lost is done when the repetition finds no event', async () => {
  const lost = scene(steps(brokenConnection(), refusal(404, 'event_not_found')));
  await lost.runtime.until(lost.client.withdraw('e-1'));
  const unknown = scene(steps(refusedConnection(), refusal(404, 'event_not_found')));
  assert.is((await rejection(unknown.runtime.until(unknown.client.withdraw('e-1')))).code, 'event_not_found');
});

test('an erasure is not sent again where its receipt may be lost, and forgets the player here', async () => {
  const salt = { groupSalt: 'a salt of the group' };
  const lost = scene(() => brokenConnection(), salt);
  assert.ok((await rejection(lost.runtime.until(lost.client.eraseSubject('a')))).outcomeUnknown);
  assert.is(lost.transport.requests.length, 1);

  let isUp = true;
  const { client, runtime } = scene((request) => {
    if (request.method === 'DELETE') return { status: 200, body: { receipt: 'r', events_erased: 2 } };
    return isUp ? matchAnswer(request) : 'silence';
  }, salt);
  await runtime.until(client.score('a'));
  const erased = await runtime.until(client.eraseSubject('a'));
  assert.equal([erased.status, erased.eventsErased], ['erased', 2]);
  isUp = false;
  assert.is((await runtime.until(client.score('a'))).source, 'assumed');
});

test('an erasure that a stopping node recorded is open and not sent again; a refused one is sent again', async () => {
  const hash = 'ab'.repeat(32);
  const unavailable = (details: Readonly<Record<string, unknown>>) => ({
    status: 503,
    body: { error: 'stopping', code: 'dependency_unavailable', details },
    headers: { 'retry-after': '1' },
  });
  const recorded = scene(steps(unavailable({ recorded: true }), refusal(404, 'subject_not_found')));
  const error = await rejection(recorded.runtime.until(recorded.client.eraseSubject(hash)));
  assert.equal([error.code, error.outcomeUnknown], ['dependency_unavailable', true]);
  assert.is(recorded.transport.requests.length, 1);
  const untaken = scene(steps(unavailable({ reason: 'disk_low' }), { status: 200, body: { receipt: 'r' } }));
  assert.is((await untaken.runtime.until(untaken.client.eraseSubject(hash))).receipt, 'r');
});

test('every call refuses an invalid player id or event id, and sends nothing', async () => {
  for (const groupSalt of [undefined, 'a salt of the group']) {
    const { client, transport, runtime } = scene(() => stored, { groupSalt });
    const refused = async (work: Promise<unknown>) =>
      assert.is((await rejection(runtime.until(work))).code, 'invalid_argument');
    // 128 characters travel; with the salt only the hash does, and identity tokens may be long.
    const tooLong = groupSalt === undefined ? 129 : 4_097;
    for (const id of ['', '\ud800', '\u{1f600}'.repeat(tooLong), 7 as unknown as string]) {
      await refused(client.score(id));
      await refused(client.explain(id));
      await refused(client.submit({ ...event, playerId: id }));
      await refused(client.eraseSubject(id));
    }
    for (const id of ['', '\ud800', 'a/b', 'x'.repeat(129), undefined as unknown as string]) {
      await refused(client.withdraw(id));
    }
    assert.is(transport.requests.length, 0);
    const longest = '\u{1f600}'.repeat(tooLong - 1);
    await runtime.until(client.submit({ ...event, playerId: longest }));
    assert.is(transport.requests.length, 1);
  }
});

test('an argument of another type, as of a caller without types, rejects, and sends nothing', async () => {
  const { client, transport, runtime } = scene(() => stored);
  const of = <T>(value: unknown) => value as T;
  for (const call of [
    ...[undefined, 'id', 'i', { length: 1 }].map((value) => () => client.scores(of(value))),
    ...[undefined, null, 'event', [event]].map((value) => () => client.submit(of(value))),
    () => client.submitMany(of(undefined)),
    () => client.submitMany([of(undefined)]),
  ]) {
    assert.is((await rejection(runtime.until<unknown>(call()))).code, 'invalid_argument');
  }
  assert.is(transport.requests.length, 0);
});

test('a bare id without the salt is not a subject that can be erased', async () => {
  const { client, runtime, transport } = scene(() => stored);
  assert.is((await rejection(runtime.until(client.eraseSubject('a')))).code, 'invalid_argument');
  assert.is(transport.requests.length, 0);
});

test('many events go in batches of 500, in order, and each has its outcome', async () => {
  const progress: number[] = [];
  const { client, transport, runtime } = scene(({ body }) => {
    const results = idsIn(body).map((event_id, index) =>
      index === 0
        ? { event_id, status: 400, code: 'schema_validation_failed', error: 'no' }
        : { event_id, status: index === 1 ? 409 : 201 },
    );
    return { status: 200, body: { results } };
  });
  const events = eventsOf(1_001);
  const outcome = await runtime.until(client.submitMany(events, { onProgress: (done) => progress.push(done) }));
  assert.equal(progress, [500, 1_000, 1_001]);
  assert.is(transport.requests.length, 3);
  assert.equal(
    outcome.results.map(({ eventId }) => eventId),
    events.map(({ eventId }) => eventId),
  );
  assert.equal([outcome.accepted, outcome.duplicates, outcome.rejected], [996, 2, 3]);
  assert.is(outcome.results[500]?.code, 'schema_validation_failed');
});

test('one invalid event among many refuses the call and is named, before anything is sent', async () => {
  const { client, runtime, transport } = scene(() => stored);
  for (const fault of [{ playerId: '' }, { eventId: 'a b' }, { at: Number.NaN }]) {
    const error = await rejection(runtime.until(client.submitMany([event, event, { ...event, ...fault }])));
    assert.is(error.code, 'invalid_argument');
    assert.match(error.message, /^events\[2\]: /);
  }
  assert.is(transport.requests.length, 0);
});

test('one invalid player id among many refuses the read and is named', async () => {
  for (const groupSalt of [undefined, 'a salt of the group']) {
    const { client, runtime, transport } = scene(matchAnswer, { groupSalt });
    for (const id of ['', '\ud800', 'x'.repeat(9_000), 7 as unknown as string]) {
      const error = await rejection(runtime.until(client.scores(['a', 'b', id, ''])));
      assert.is(error.code, 'invalid_argument');
      assert.match(error.message, /^playerIds\[2\]: a player id /);
    }
    // An error about a single id names no index.
    assert.match((await rejection(runtime.until(client.score('')))).message, /^a player id /);
    assert.is(transport.requests.length, 0);
  }
});

test('a listener that throws throws for itself: the events are submitted', async () => {
  const { client, runtime } = scene(() => ({ status: 200, body: { results: [{ event_id: 'e-1', status: 201 }] } }));
  const thrown = await thrownBy(async (fault) => {
    const onProgress = () => {
      throw fault;
    };
    assert.is((await runtime.until(client.submitMany([event], { onProgress }))).accepted, 1);
  });
  assert.is(thrown.length, 1);
});

test('only the events that a batch could not store at once are sent again', async () => {
  const sent: string[][] = [];
  const { client, runtime } = scene(({ body }, index) => {
    const ids = idsIn(body);
    sent.push(ids);
    const statusOf = (id: string) => (index === 0 && id !== 'e-0' ? 503 : 201);
    const results = ids.map((event_id) => ({ event_id, status: statusOf(event_id), code: 'overloaded' }));
    return { status: 200, body: { results } };
  });
  assert.is((await runtime.until(client.submitMany(eventsOf(3)))).accepted, 3);
  assert.equal(sent, [
    ['e-0', 'e-1', 'e-2'],
    ['e-1', 'e-2'],
  ]);
});

test('a batch that fails in time is sent in smaller ones, and the deadline counts from the last success', async () => {
  const sizes: number[] = [];
  const { client, runtime } = scene(({ body }) => {
    const ids = idsIn(body);
    sizes.push(ids.length);
    if (ids.length > 150) return 'silence';
    return { status: 200, body: { results: ids.map((event_id) => ({ event_id, status: 201 })) } };
  });
  const events = eventsOf(1_000);
  const { accepted, results } = await runtime.until(client.submitMany(events));
  assert.is(accepted, 1_000);
  assert.equal(
    results.map(({ eventId }) => eventId),
    events.map(({ eventId }) => eventId),
  );
  assert.equal(sizes, [500, ...Array.from({ length: 8 }, () => 125)]);
  const hung = scene(() => 'silence');
  const error = await rejection(hung.runtime.until(hung.client.submitMany(events)));
  assert.equal([error.code, error.outcomeUnknown], ['timeout', true]);
  assert.ok(hung.runtime.elapsedMs() <= bounds.deadlineMs);
  const away = scene(() => refusedConnection());
  // An open circuit says nothing about why it opened.
  assert.is((await rejection(away.runtime.until(away.client.submitMany(events)))).code, 'unreachable');
});

test('a batch that a proxy refuses as too large is sent in smaller ones, and one event only once', async () => {
  const page = { status: 413, body: '<html>' };
  const { client, runtime, transport } = scene(({ body }) => {
    const ids = idsIn(body);
    return ids.length > 40 ? page : { status: 200, body: { results: ids.map(() => ({ status: 201 })) } };
  });
  assert.is((await runtime.until(client.submitMany(eventsOf(500)))).accepted, 500);
  assert.equal(
    transport.requests.slice(0, 3).map(({ body }) => idsIn(body).length),
    [500, 125, 32],
  );
  const closed = scene(() => page);
  const error = await rejection(closed.runtime.until(closed.client.submitMany([event])));
  assert.equal([error.code, error.outcomeUnknown, closed.transport.requests.length], ['payload_too_large', false, 1]);
});

test('after five failures in a row the node is not called for a while, then one call tries', async () => {
  let isUp = false;
  const { client, transport, runtime } = scene((request) => (isUp ? matchAnswer(request) : brokenConnection()), {
    readBudgetMs: 1,
  });
  runtime.dice = 1;
  for (let index = 0; index < bounds.breakerFailures; index++) await runtime.until(client.score('a'));
  assert.is((await runtime.until(client.score('a'))).cause, 'circuit_open');
  assert.is(transport.requests.length, bounds.breakerFailures, 'nothing was sent');
  isUp = true;
  await runtime.advance(bounds.breakerOpenMs);
  const [first, second] = await runtime.until(Promise.all([client.score('a'), client.score('b')]));
  assert.equal([first.cause, second.cause], [null, 'circuit_open']);
  assert.is((await runtime.until(client.score('b'))).source, 'node');
});

test('reads that exceed a short budget delay no write', async () => {
  const { client, runtime } = scene((request) => (request.method === 'GET' ? 'silence' : stored));
  for (let index = 0; index < 3 * bounds.breakerFailures; index++) await runtime.until(client.score('a'));
  assert.is((await runtime.until(client.score('a'))).cause, 'circuit_open');
  const before = runtime.elapsedMs();
  assert.is((await runtime.until(client.submit(event))).status, 'accepted');
  assert.is(runtime.elapsedMs(), before);
});

test('refusals never open the circuit', async () => {
  const { client, transport, runtime } = scene(() => refusal(404, 'event_not_found'));
  for (let index = 0; index < 3 * bounds.breakerFailures; index++) await rejection(runtime.until(client.withdraw('e')));
  assert.is(transport.requests.length, 3 * bounds.breakerFailures);
});

test('a call rejects with the reason of its own signal, before it, on the way and between tries', async () => {
  const reason = new Error('the match is off');
  const reasonOf = (work: Promise<unknown>) => work.catch((error: unknown) => error);
  const silent = scene(() => 'silence');
  assert.is(await reasonOf(silent.client.score('a', { signal: AbortSignal.abort(reason) })), reason);
  assert.is(silent.transport.requests.length, 0);

  const onTheWay = new AbortController();
  const read = reasonOf(silent.client.score('a', { signal: onTheWay.signal }));
  onTheWay.abort(reason);
  assert.is(await silent.runtime.until(read), reason);

  const broken = scene(() => brokenConnection());
  broken.runtime.dice = 1;
  const between = new AbortController();
  const write = reasonOf(broken.client.submit(event, { signal: between.signal }));
  await broken.runtime.advance(10);
  between.abort(reason);
  assert.is(await broken.runtime.until(write), reason);
  assert.is(broken.runtime.timers, 0, 'no timer is left behind');
});

/** An answer that comes whatever the signal says, once it is let go; `isLeft` when somebody has given its body back. */
function heedless() {
  let letGo: () => void = () => undefined;
  const made = {
    isLeft: false,
    letGo: () => letGo(),
    answer: new Promise<TransportResponse>((resolve) => {
      letGo = () => resolve({ status: 200, header: () => undefined, body: body() });
    }),
  };
  async function* body(): AsyncGenerator<Uint8Array> {
    try {
      yield new Uint8Array(1);
      yield new Uint8Array(1);
    } finally {
      made.isLeft = true;
    }
  }
  return made;
}

test('budget, signal and close apply even if the transport ignores its signal', async () => {
  const late = heedless();
  const { client, runtime } = scene(() => late.answer);
  assert.is((await runtime.until(client.score('a'))).cause, 'timeout');
  assert.is(runtime.elapsedMs(), 100);
  const reason = new Error('the match is off');
  const given = new AbortController();
  const write = client.submit(event, { signal: given.signal }).catch((error: unknown) => error);
  await runtime.advance(10);
  given.abort(reason);
  assert.is(await runtime.until(write), reason);
  const feed = client.follow();
  await runtime.advance(10);
  await runtime.until(feed.close());
  const open = rejection(client.submit(event));
  await runtime.until(client.close());
  assert.is((await open).code, 'closed');
  // Budget, twice ten, and the 5 s that a call under way may have.
  assert.is(runtime.elapsedMs(), 120 + bounds.closeMs);
  late.letGo();
  await runtime.advance(1);
  assert.ok(late.isLeft);
});

test('any number of calls and of waits for a spool is no leak, also with one signal of the game', async () => {
  const warned: Error[] = [];
  const onWarning = (warning: Error) => warned.push(warning);
  process.on('warning', onWarning);
  const { client, runtime } = scene(() => 'silence');
  const options = { folder: temporaryFolder(), to: client, runtime, whenFull: 'wait', bytesMax: 300 } as const;
  const spool = await EventSpool.open(options);
  try {
    await spool.add(event);
    const game = new AbortController();
    const { signal } = game;
    const many = Array.from({ length: 20 });
    const unsignalled = many.flatMap(() => [client.score('a'), spool.drained()].map((work) => work.catch(() => {})));
    const waits = many.flatMap(() => [
      client.score('a', { signal }),
      client.submit(event, { signal }),
      spool.add(event, { signal }),
      spool.drained({ signal }),
    ]);
    await Promise.resolve();
    game.abort('over');
    assert.ok((await Promise.allSettled(waits)).every((one) => one.status === 'rejected' && one.reason === 'over'));
    await runtime.until(spool.close());
    await runtime.until(Promise.all(unsignalled));
    await turn();
    assert.equal(warned, []);
    assert.is(getEventListeners(signal, 'abort').length, 0);
  } finally {
    await runtime.until(spool.close());
    process.off('warning', onWarning);
  }
});

test('close lets calls end, then ends them, and every later call rejects', async () => {
  const { client, transport, runtime } = scene(() => 'silence');
  const write = rejection(client.submit(event));
  const closing = client.close();
  assert.is((await rejection(client.score('a'))).code, 'closed');
  assert.throws(
    () => client.follow(),
    (error: unknown) => error instanceof TrustError && error.code === 'closed',
  );
  await runtime.until(closing);
  const { code, outcomeUnknown } = await write;
  // It was on its way when it was ended.
  assert.equal([code, outcomeUnknown], ['closed', true]);
  assert.is(runtime.elapsedMs(), bounds.closeMs);
  assert.ok(transport.isClosed);
  assert.is(client.close(), closing);
});

test('close ends the check of the salt, which goes on after the read that began it', async () => {
  const runtime = new VirtualRuntime();
  let requests = 0;
  const request = async () => {
    requests += 1;
    throw refusedConnection();
  };
  const transport = { request, close: async () => undefined };
  const client = new TrustClient({ url: 'http://node', groupSalt: 'a salt of sixteen bytes', transport, runtime });
  assert.is((await runtime.until(client.score('a'))).cause, 'timeout');
  await runtime.until(client.close());
  const sent = requests;
  await runtime.advance(bounds.deadlineMs);
  assert.equal([requests, runtime.timers], [sent, 0]);
});

test('an error holds neither key nor salt nor player', async () => {
  const { client, runtime } = scene(() => brokenConnection(), {
    apiKey: 'secret-key',
    groupSalt: 'secret-salt-of-group',
  });
  const error = await rejection(runtime.until(client.submit({ ...event, playerId: 'secret-player' })));
  assert.not.match(`${error.stack} ${JSON.stringify(error)}`, /secret/);
  assert.throws(
    () => new TrustClient({ url: 'http://node', apiKey: 'secret\nkey' }),
    (thrown: Error) => thrown instanceof TrustError && !thrown.message.includes('secret'),
  );
});

test('options that cannot be meant are refused', () => {
  const url = 'http://node';
  const times = ['readBudgetMs', 'attemptMs', 'deadlineMs'] as const;
  // An unset variable of a program without types is undefined.
  const absent = [undefined, null, [], [undefined], [url, undefined]];
  const notToTravel = ['http://user@node', 'http://:password@node', 'http://node/?a=b', 'http://node/#a'];
  for (const options of [
    ...[...absent, 'node:8080', 'ftp://node', ...notToTravel].map((wrong) => ({ url: wrong as string })),
    ...['steam', [], ['Steam'], ['steam64'], ['hwid'], [undefined]].map((kinds) => ({
      url,
      playerIdKinds: kinds as string[],
    })),
    // An environment without the salt gives a hash of nothing; the node takes no salt below 16 bytes.
    ...['', 'x'.repeat(15)].map((groupSalt) => ({ url, groupSalt })),
    // A word that is none of the two would pass for one of them.
    ...['last_known', 'Neutral', '', 5].map((fallback) => ({ url, fallback: fallback as Fallback })),
    // A timer of the platform holds 2^31 - 1 ms, and takes anything above for 1 ms.
    // Text, as from the environment of a program without types, added to a time makes another text, and every call too
    // late.
    ...times.flatMap((name) =>
      [0, Number.NaN, 2 ** 31, Number.POSITIVE_INFINITY, '100'].map((ms) => ({ url, [name]: ms })),
    ),
  ]) {
    assert.throws(
      () => new TrustClient(options),
      (error: unknown) => error instanceof TrustError && error.code === 'invalid_argument',
      JSON.stringify(options),
    );
  }
  new TrustClient({ url, readBudgetMs: 2 ** 31 - 1 });
});

test('a fallback or a budget of one read that cannot be meant is refused; a budget that is over is not', async () => {
  const { client, runtime, transport } = scene(() => 'silence');
  for (const options of [
    ...['last_known', 'Neutral', ''].map((fallback) => ({ fallback: fallback as Fallback })),
    ...[Number.NaN, 2 ** 31, Number.POSITIVE_INFINITY, '100'].map((ms) => ({ budgetMs: ms as number })),
  ]) {
    assert.is((await rejection(runtime.until(client.score('a', options)))).code, 'invalid_argument');
  }
  assert.is(transport.requests.length, 0);
  for (const options of [{ fallback: undefined }, { budgetMs: -1 }]) {
    assert.is((await runtime.until(client.score('a', options))).source, 'assumed');
  }
});

const groupSalt = '0123456789-abcdef';

test('with a wrong salt a read is neutral, states the reason, and makes no further call', async () => {
  const { client, transport, runtime } = scene(matchAnswer, { groupSalt });
  transport.saltCheck = '00000000';
  for (let round = 0; round < 3; round++) {
    const [trust] = await runtime.until(client.scores(['p']));
    assert.equal([trust?.verdict, trust?.source, trust?.cause], ['neutral', 'assumed', 'salt_mismatch']);
    assert.is(transport.requests.length, 0);
  }
});

test('ids are spelled as the group spells them, from the first read and the first event of a spool on', async () => {
  const spellings = ['STEAM_0:1:2147480000', '[U:1:4294960001]', 'steam:1100001ffffe381', '76561202255225729'];
  const hash = subjectHash('76561202255225729', groupSalt);
  const ofSteam = () => {
    const made = scene(matchAnswer, { groupSalt });
    made.transport.saltCheck = saltCheckOf(groupSalt);
    made.transport.playerIdKinds = ['steam'];
    return made;
  };
  const { client, transport, runtime } = ofSteam();
  for (const spelling of spellings) await runtime.until(client.score(spelling));
  assert.equal(
    transport.requests.map(({ path }) => path.split('ids=')[1]),
    spellings.map(() => hash),
  );
  const error = await rejection(runtime.until(client.score('BOT')));
  assert.equal([error.code, error.details], ['invalid_argument', { reason: 'placeholder' }]);
  const spooled = ofSteam();
  await spooled.runtime.until(spooled.client.ready());
  assert.is(spooled.client.prepare({ ...event, playerId: spellings[0]! }).player_id, hash);
});

test('the node of another group does not decide which ids are those of players', async () => {
  const { client, transport, runtime } = scene(matchAnswer, { groupSalt });
  transport.saltCheck = '00000000';
  transport.playerIdKinds = ['minecraft'];
  assert.is((await runtime.until(client.score('[U:1:4294960001]'))).cause, 'salt_mismatch');
  await runtime.until(client.ready());
  const prepared = () => client.prepare({ ...event, playerId: '[U:1:4294960001]' }).player_id;
  assert.is(prepared(), subjectHash('[U:1:4294960001]', groupSalt));
  transport.saltCheck = saltCheckOf(groupSalt);
  transport.playerIdKinds = ['steam'];
  await runtime.advance(bounds.saltRecheckMs);
  await runtime.until(client.ready());
  assert.is(prepared(), subjectHash('76561202255225729', groupSalt));
});

test('events that wait for the kinds of the group keep their order, and none waits longer than a second', async () => {
  const { client, transport, runtime } = scene(matchAnswer, { groupSalt });
  transport.request = ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', reject));
  const order: string[] = [];
  const add = (name: string, signal?: AbortSignal) => client.ready({ signal }).finally(() => order.push(name));
  const first = add('first');
  await runtime.advance(500);
  const given = new AbortController();
  const givenUp = add('given up', given.signal).catch((reason: unknown) => reason);
  const second = add('second');
  given.abort('over');
  assert.is(await givenUp, 'over');
  await runtime.advance(bounds.kindsWaitMs - 500);
  await Promise.all([first, add('third')]);
  await runtime.advance(500);
  await second;
  assert.equal(order, ['given up', 'first', 'second', 'third']);
});

test('without kinds of the group ids count as written; an option sets kinds before any contact', () => {
  const { client } = scene(() => 'silence', { groupSalt });
  const prepared = (one: TrustClient) => one.prepare({ ...event, playerId: '[U:1:4294960001]' }).player_id;
  assert.is(prepared(client), subjectHash('[U:1:4294960001]', groupSalt));
  const known = scene(() => 'silence', { groupSalt, playerIdKinds: ['steam'] });
  assert.is(prepared(known.client), subjectHash('76561202255225729', groupSalt));
});

test("with a salt that is not the group's nothing with a hash is sent", async () => {
  const { client, transport, runtime } = scene(steps(stored), { groupSalt });
  transport.saltCheck = '00000000';
  const calls: readonly (() => Promise<unknown>)[] = [
    () => client.submit(event),
    () => client.submitMany([event]),
    () => client.deliver([client.prepare(event)]),
    () => client.eraseSubject('p'),
    () => client.explain('p'),
  ];
  for (const call of calls) {
    const error = await rejection(runtime.until(call()));
    assert.is(error.code, 'salt_mismatch');
    assert.ok(error.message.includes('00000000') && !error.message.includes(groupSalt));
  }
  assert.is(transport.requests.length, 0);
});

test('a wrong salt is checked again after a minute, within the budget of the read that finds it right', async () => {
  const { client, transport, runtime } = scene(matchAnswer, { groupSalt });
  const read = async () => (await runtime.until(client.score('p'))).cause;
  transport.saltCheck = '00000000';
  assert.is(await read(), 'salt_mismatch');
  transport.saltCheck = saltCheckOf(groupSalt);
  assert.is(await read(), 'salt_mismatch');
  await runtime.advance(bounds.saltRecheckMs);
  assert.is(await read(), null);
});

test('the check of the salt counts against the deadline of the call that waits for it', async () => {
  const { client, transport, runtime } = scene(() => 'silence', { groupSalt, deadlineMs: 1_000 });
  transport.saltCheck = saltCheckOf(groupSalt);
  const answer = transport.request.bind(transport);
  transport.request = async (request) => {
    if (request.path === saltCheckPath) await new Promise<void>((resolve) => runtime.after(900, resolve));
    return answer(request);
  };
  assert.is((await rejection(runtime.until(client.submit(event)))).code, 'timeout');
  assert.is(transport.requests.length, 1);
  assert.ok(runtime.elapsedMs() <= 1_000, `${runtime.elapsedMs()} ms`);
});

test.run();
