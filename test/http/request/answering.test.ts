import { once } from 'node:events';
import { Agent, createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { routes } from '../../../src/contract/routes.js';
import { refused } from '../../../src/errors.js';
import type { RequestObserver } from '../../../src/http/deps.js';
import {
  countRefusedIds,
  exchangeOf,
  failureReply,
  hasForeignExpectation,
  recordAnswer,
  sendReply,
  targetOf,
} from '../../../src/http/request/answering.js';
import { isRequestId } from '../../../src/http/request/head.js';

test('ids of requests have a form that a caller could send, and do not count the requests of the node', () => {
  const ids = Array.from({ length: 10_000 }, () => exchangeOf({}).requestId);
  assert.is(new Set(ids).size, ids.length);
  for (const [i, id] of ids.entries()) {
    assert.ok(isRequestId(id), id);
    // A counter would be the same up to its last digits.
    if (i > 0) assert.is.not(id.slice(0, 8), ids[i - 1]!.slice(0, 8));
  }
});

function requestOf(url: string, fields: Readonly<Record<string, string>>, method = 'GET', httpVersion = '1.1') {
  const headers = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name.toLowerCase(), value]));
  const [major, minor] = httpVersion.split('.').map(Number);
  const versions = { httpVersion, httpVersionMajor: major, httpVersionMinor: minor };
  return { url, method, headers, rawHeaders: Object.entries(fields).flat(), ...versions } as unknown as IncomingMessage;
}

test('a head is refused for its size, framing, hosts, expectation and target, in this order', () => {
  const host = { Host: 'x' };
  const { Expect, Chunked, Two } = {
    Expect: { ...host, Expect: 'a beer' },
    Chunked: { ...host, 'Transfer-Encoding': 'chunked' },
    Two: { ...host, HOST: 'y' },
  };
  const cases: readonly (readonly [request: IncomingMessage, result: unknown])[] = [
    [requestOf('/a?b', host), { path: '/a', query: 'b' }],
    [requestOf('/a', Chunked), { path: '/a', query: '' }],
    [requestOf('/a', {}, 'GET', '1.0'), { path: '/a', query: '' }],
    [requestOf('*', host, 'OPTIONS'), { path: '*', query: '' }],
    [requestOf(`/${'a'.repeat(40_000)}`, Two), { code: 'uri_too_long' }],
    [requestOf('#', Chunked, 'GET', '1.0'), { code: 'invalid_parameter' }],
    [requestOf('/a', Chunked, 'GET', '1.0'), { code: 'invalid_parameter' }],
    [requestOf('/a', host, 'GET', '2.0'), { code: 'invalid_parameter' }],
    [requestOf('/a', Two, 'GET', '1.0'), { code: 'invalid_parameter' }],
    [requestOf('/a', {}), { code: 'invalid_parameter' }],
    [requestOf('#', Expect), { code: 'expectation_failed' }],
    [requestOf('#', host), { code: 'invalid_parameter' }],
    [requestOf('*', host, 'GET'), { code: 'invalid_parameter' }],
  ];
  for (const [request, result] of cases) assert.equal(targetOf(request), result, request.url?.slice(0, 9));
});

test('a connection that had a stream before keeps nothing of it', async () => {
  const times: number[] = [];
  const requestAnswered = (...[, , , , ms]: Parameters<RequestObserver['requestAnswered']>) => times.push(ms);
  const metrics = { requestAnswered, idRefused() {} } as unknown as RequestObserver;
  const deps = { metrics, log: pino({ level: 'silent' }), isDraining: () => false };
  const answering = { exchange: exchangeOf({}), startedAt: performance.now(), route: routes.streamVerdicts };
  const listeners: number[] = [];
  const server = createServer((request, response) => {
    listeners.push(request.socket.listenerCount('end'));
    sendReply(deps, request, response, answering, { status: 200, body: undefined, stream: (to) => void to.end('x') });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  try {
    for (let i = 0; i < 3; i++) {
      const [answer] = await once(get({ agent, port: (server.address() as AddressInfo).port }), 'response');
      await once(answer.resume(), 'close');
    }
  } finally {
    agent.destroy();
    server.close();
  }
  assert.equal(listeners, [listeners[0], listeners[0], listeners[0]]);
  assert.is(times.filter((ms) => ms >= 0 && ms <= performance.now() - answering.startedAt).length, 3);
});

test('an expectation other than 100-continue is foreign, except in HTTP/1.0', () => {
  const isForeign = (expect: string, version?: string) =>
    hasForeignExpectation(requestOf('/', { expect }, 'GET', version));
  assert.equal([isForeign(' 100-Continue '), isForeign('other'), isForeign('other', '1.0')], [false, true, false]);
  assert.is(hasForeignExpectation(requestOf('/', {})), false);
});

test('an exchange takes over a usable id, the form of refusals, the tag and whether a key was sent', () => {
  const { requestId, ...plain } = exchangeOf({ 'x-request-id': 'not usable' });
  assert.equal([requestId.length, plain], [36, { problem: false, keySent: false, ifNoneMatch: undefined }]);
  assert.is(exchangeOf({ 'x-peer-api-key': ' ' }).keySent, false, 'a blank key is none');
  const repeated = { 'x-request-id': ['first', 'second'] };
  assert.is(exchangeOf(repeated as unknown as IncomingMessage['headers']).requestId, 'first');
  const headers = { 'x-request-id': 'an.id', accept: 'application/problem+json', 'if-none-match': '"a"' };
  const all = exchangeOf({ ...headers, 'x-peer-api-key': 'k' });
  assert.equal(all, { requestId: 'an.id', problem: true, keySent: true, ifNoneMatch: '"a"' });
});

test('an answer is counted by its route and a known method, and logged for debugging only', () => {
  const counted: unknown[][] = [];
  const logged: Record<string, unknown>[] = [];
  const metrics = {
    requestAnswered: (...args: unknown[]) => counted.push(args.slice(0, 4)),
    idRefused: () => undefined,
  };
  const record = (method: string, reply: object, level = 'info') =>
    recordAnswer({ metrics, log: pino({ level }, { write: (line) => logged.push(JSON.parse(line)) }) } as never, {
      route: 'body' in reply ? routes.getVerdict : undefined,
      reply: { status: 200, body: null, ...reply },
      method,
      requestId: 'an-id',
      ms: 3,
    });
  for (const method of ['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS', 'PUT', 'PATCH', 'BREW']) record(method, {});
  assert.equal(
    counted.splice(0).map(([, method]) => method),
    ['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS', 'PUT', 'PATCH', 'other'],
  );
  assert.is(logged.length, 0);
  record('GET', { body: 1, status: 404, error: { error: 'x', code: 'player_not_found' } }, 'debug');
  assert.equal(counted, [[routes.getVerdict.path, 'GET', 404, 'player_not_found']]);
  const { route, status, ms, request_id } = logged[0] ?? {};
  assert.equal([route, status, ms, request_id], [routes.getVerdict.path, 404, 3, 'an-id']);
});

test('an internal error is answered with its request id alone, and logged as an error with the same id', () => {
  const logged: Record<string, unknown>[] = [];
  const log = pino({}, { write: (line: string) => logged.push(JSON.parse(line)) });
  const exchange = { requestId: 'an-id', problem: false, keySent: false, ifNoneMatch: undefined };
  const { status, error } = failureReply({ log }, exchange, new Error('a secret'));
  assert.equal([status, error?.code, error?.details], [500, 'internal_error', { request_id: 'an-id' }]);
  assert.equal([logged[0]?.level, logged[0]?.request_id], [50, 'an-id']);
});

test('ids refused for their characters are counted by name: of a parameter, and of every field of a body', () => {
  const counted: string[] = [];
  const count = (details: object | undefined) => {
    countRefusedIds({ details } as never, { idRefused: (id) => counted.push(id) });
    return counted.splice(0);
  };
  const fault = (field: string, violation = 'pattern') => ({ field, violation, error: '' });
  assert.equal(count(undefined), []);
  assert.equal(count({ per_s: 1 }), []);
  for (const [parameter, name] of Object.entries({ id: 'player_id', ids: 'player_id', event_id: 'event_id' })) {
    assert.equal(count({ parameter, violation: 'pattern' }), [name]);
  }
  const more = [fault('/game_ids/3'), fault('/peer_name', 'type'), fault('/peer_name'), fault('/toString'), fault('')];
  assert.equal(count({ ...fault('/game_id'), more }), ['game_id', 'game_id', 'peer_name']);
  assert.equal(count(fault('/player_id', 'maxLength')), []);
  assert.equal(count({ ...refused('stale') }), []);
});

test.run();
