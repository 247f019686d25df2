/** Answers of a connection of the fast path, as they leave. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { routes } from '../../../src/contract/routes.js';
import { type Outcome, refused } from '../../../src/errors.js';
import { createFastPath } from '../../../src/http/fast-path/fast-path.js';
import type { Endpoints } from '../../../src/http/handlers/endpoints.js';
import type { Incoming } from '../../../src/http/request/pipeline.js';
import { okJson } from '../../../src/http/request/reply.js';
import type { ApiReply, MaybeAsync } from '../../../src/http/request/request.js';
import type { FastPathDeps } from '../../../src/http/server/server.js';

type Answer = (incoming: Incoming, id: string) => MaybeAsync<ApiReply>;

/** A connection of the fast path whose endpoints answer as `answer` says, with their id and captures by default. */
function connectionOf(
  answer: Answer = ({ captures }, id) => okJson(JSON.stringify([id, ...captures])),
  work: FastPathDeps['work'] = { isTurnOver: false },
) {
  const state = {
    text: '',
    writes: 0,
    left: undefined as string | undefined,
    isEnded: false,
    isDraining: false,
    isReading: true,
  };
  const codes: string[] = [];
  const untaken: (() => void)[] = [];
  const write = (chunk: Buffer, _: string, taken: () => void) => {
    state.text += chunk.toString('latin1');
    state.writes += 1;
    if (state.isReading) taken();
    else untaken.push(taken);
  };
  const duplex = new Duplex({ read() {}, write, allowHalfOpen: true, writableHighWaterMark: 1 });
  const timeoutsMs: number[] = [];
  const setTimeout = (ms: number) => timeoutsMs.push(ms) && socket;
  const socket = Object.assign(duplex, { setTimeout }) as unknown as Socket;
  const ids = ['getTrustScore', 'getTrustScores', 'submitEvent', 'submitEvents'] as const;
  const endpoints = Object.fromEntries(
    ids.map((id) => [id, { route: routes[id], answer: (incoming: Incoming) => answer(incoming, id) }]),
  ) as unknown as Endpoints;
  const metrics = { requestAnswered: (...[, , status, code]: unknown[]) => codes.push(`${status} ${code}`.trim()) };
  const deps = { log: pino({ level: 'silent' }), metrics, isDraining: () => state.isDraining, work };
  const path = createFastPath(endpoints, deps as unknown as Parameters<typeof createFastPath>[1]);
  path.open(socket, (rest, isEnded) => Object.assign(state, { left: rest.toString('latin1'), isEnded }));
  const send = async (...texts: readonly (string | Buffer | null)[]) => {
    for (const text of texts) duplex.push(typeof text === 'string' ? Buffer.from(text, 'latin1') : text);
    for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
  };
  const bodies = () => state.text.split('HTTP/1.1 ').flatMap((one) => one.split('\r\n\r\n')[1] ?? []);
  return { state, codes, timeoutsMs, untaken, socket, path, send, bodies };
}

const get = (target: string, fields = '') => `GET ${target} HTTP/1.1\r\nHost: x\r\n${fields}\r\n`;
const post = (target: string, body: string, fields = 'Content-Type: application/json\r\n') =>
  `POST ${target} HTTP/1.1\r\nHost: x\r\n${fields}Content-Length: ${body.length}\r\n\r\n${body}`;
const score = get('/api/v1/players/a/trust-score');

test('the answers to the requests of one read leave in one write, in their order', async () => {
  let answered = 0;
  const { state, bodies, send } = connectionOf(() => okJson(`${++answered}`));
  await send(score.repeat(3));
  assert.equal([bodies(), state.writes], [['1', '2', '3'], 1]);
});

test('requests of one read take turns with other callers, are all answered, and keep the connection', async () => {
  let answered = 0;
  const { bodies, send, path, socket } = connectionOf(
    () => okJson(`${++answered}`),
    Object.defineProperty({ isTurnOver: false }, 'isTurnOver', { get: () => answered % 2 === 0 }),
  );
  socket.push(Buffer.from(score.repeat(5)));
  const inTurn: number[] = [];
  for (let turn = 0; turn < 4; turn++) {
    await new Promise(setImmediate);
    inTurn.push(answered);
    if (answered < 5) assert.not(path.isIdle(socket));
  }
  assert.equal(inTurn.slice(0, 3), [2, 4, 5]);
  await send(score);
  assert.equal(bodies(), ['1', '2', '3', '4', '5', '6']);
});

test('the four fast requests are answered, and every other one leaves with its bytes unread', async () => {
  const fast: readonly (readonly [request: string, body: string])[] = [
    [get('/api/v1/players/a%20b/trust-score?explain=true'), '["getTrustScore","a%20b"]'],
    [get('/api/v1/trust-scores?ids=a'), '["getTrustScores"]'],
    [post('/api/v1/events', '{}'), '["submitEvent"]'],
    [post('/api/v1/events/batch', '{}'), '["submitEvents"]'],
    [post('/api/v1/events', ' '.repeat(16_384)), '["submitEvent"]'],
  ];
  const plain = 'Content-Type: application/json\r\n';
  const others = [
    get('/api/v1/players//trust-score'),
    get('/api/v1/players/a/b/trust-score'),
    get('/api/v1/players/a/verdict'),
    get('/api/v1/plays/some/trust-score'),
    get('/api/v1/players/abcdefghijklmnop/verdict'),
    get('/api/v1/events'),
    get('/api/v1/trust-scores#'),
    'DELETE /api/v1/trust-scores HTTP/1.1\r\nHost: x\r\n\r\n',
    post('/api/v1/trust-scores', '{}'),
    post('/api/v1/events', ''),
    post('/api/v1/events', ' '.repeat(16_385)),
    post('/api/v1/events', '{}', 'Content-Type: text/plain\r\n'),
    post('/api/v1/events', '{}', `${plain}Content-Encoding: gzip\r\n`),
    post('/api/v1/events', '{}', `${plain}Expect: 100-continue\r\n`),
    `POST /api/v1/events HTTP/1.1\r\nHost: x\r\n${plain}\r\n`,
    post('/api/v1/events', '{}').slice(0, -1),
    score.slice(0, -1),
  ];
  for (const [request, body] of fast) {
    const { state, socket, send, bodies } = connectionOf();
    await send(request);
    assert.equal([bodies(), state.left], [[body], undefined], request.slice(0, 60));
    assert.ok(socket.writable);
    await send(null);
    assert.not(socket.writable, 'the end is answered by an end');
    assert.match(state.text, '\r\nConnection: keep-alive\r\nKeep-Alive: timeout=5\r\n\r\n');
  }
  for (const request of others) {
    const { state, timeoutsMs, socket, path, send, bodies } = connectionOf();
    await send(score + request, 'more');
    assert.equal([bodies().length, state.left], [1, request], request.slice(0, 60));
    assert.equal([timeoutsMs, socket.eventNames(), path.isIdle(socket)], [[5_000, 0], new Duplex().eventNames(), true]);
  }
});

test('a caller that does not read its answers is not read from, and loses nothing', async () => {
  const { state, untaken, socket, path, send, bodies } = connectionOf();
  state.isReading = false;
  await send(score, score, score, null);
  assert.equal([bodies().length, socket.isPaused(), path.isIdle(socket)], [1, true, false]);
  socket.emit('timeout');
  assert.ok(socket.writable, 'the connection has a bound of its own then');
  state.isReading = true;
  for (const taken of untaken.splice(0)) taken();
  await send();
  assert.equal([bodies().length, socket.writable], [3, false]);
});

test('answers beyond 64 KiB of one read wait until those before are taken', async () => {
  const { state, untaken, socket, send, bodies } = connectionOf(() => okJson(`"${'x'.repeat(65_536)}"`));
  state.isReading = false;
  await send(score.repeat(3));
  assert.is(bodies().length, 1);
  state.isReading = true;
  for (const taken of untaken.splice(0)) taken();
  await send();
  assert.equal([bodies().length, socket.isPaused()], [3, false]);
});

test('requests behind one whose answer is pending wait for it, and so does the end of the caller', async () => {
  const pending: ((reply: ApiReply) => void)[] = [];
  const answer: Answer = ({ query }) =>
    query === 'wait' ? new Promise((resolve) => pending.push(resolve)) : okJson(`"${query}"`);
  const { path, socket, send, bodies } = connectionOf(answer);
  const asking = (query: string) => get(`/api/v1/trust-scores?${query}`);
  await send(asking('1') + asking('wait') + asking('2'), asking('3'), null);
  assert.equal([bodies(), path.isIdle(socket), socket.writable], [['"1"'], false, true]);
  path.closeIdle();
  pending.shift()!(okJson('"late"'));
  await send();
  assert.equal(bodies(), ['"1"', '"late"', '"2"', '"3"']);
  assert.is(socket.writable, false, 'the end is answered by an end');
  const other = connectionOf(answer);
  await other.send(asking('wait') + get('/other'), 'rest', null);
  assert.is(other.state.left, undefined);
  pending.shift()!(okJson('"late"'));
  await other.send();
  assert.equal([other.state.left, other.state.isEnded], [`${get('/other')}rest`, true]);
});

test('a request that fails is an internal error, at once and late, and the next one is answered', async () => {
  let asked = 0;
  const { codes, send } = connectionOf(() => {
    asked += 1;
    if (asked === 1) throw new Error('at once');
    return asked === 2 ? Promise.reject(new Error('late')) : okJson('1');
  });
  await send(score.repeat(3));
  assert.equal(codes, ['500 internal_error', '500 internal_error', '200']);
});

test('a node that drains closes a connection with its answer, and carries out no request behind it', async () => {
  const { state, codes, socket, path, send } = connectionOf();
  state.isDraining = true;
  await send(score.repeat(2), score);
  assert.equal([codes, socket.writable], [['200'], false]);
  assert.match(state.text, '\r\nConnection: close\r\n\r\n');
  const idle = connectionOf();
  assert.is(idle.path.isIdle(idle.socket), true);
  idle.path.closeIdle();
  assert.is(idle.socket.writable, false);
  socket.destroy();
  await send();
  assert.is(path.isIdle(socket), true);
});

test('a connection without a request in time gets 408, an idle one is closed, and a waiting one stays', async () => {
  const timeout = async (sent: string, answer?: Answer) => {
    const { state, codes, socket, send } = connectionOf(answer);
    await send(sent);
    state.text = '';
    codes.length = 0;
    socket.emit('timeout');
    await send();
    return [codes.join(), state.text.slice(0, 12), socket.writable];
  };
  assert.equal(await timeout(''), ['408 request_timeout', 'HTTP/1.1 408', false]);
  assert.equal(await timeout(score), ['', '', false]);
  assert.equal(await timeout(score, () => new Promise(() => undefined)), ['', '', true]);
});

test('a body is read in its turn, checked and parsed as UTF-8 JSON, and answers are sent as UTF-8', async () => {
  const read = async (body: string, refusal?: ReturnType<typeof refused>, check: unknown = null) => {
    let ended = 0;
    const { state, send } = connectionOf(async ({ readBody }) => {
      const arriving = { arrived: () => true, onDrop: () => undefined, end: () => void ended++ };
      const inTurn = (bytes: number) => (bytes === body.length ? refusal : refused('stale'));
      const use = (outcome: Outcome<unknown>) => {
        assert.is(ended, 1);
        return { status: 200, body: outcome.ok ? outcome.value : outcome.code };
      };
      return readBody({ arriving, check, inTurn, use } as unknown as Parameters<Incoming['readBody']>[0]);
    });
    await send(post('/api/v1/events', body));
    return Buffer.from(state.text.split('\r\n\r\n')[1] ?? '', 'latin1').toString();
  };
  const bytes = (text: string) => Buffer.from(text).toString('latin1');
  assert.equal(
    [await read('[1]'), await read(bytes('"ä€"')), await read('"\xff"')],
    ['[1]', '"ä€"', '"malformed_json"'],
  );
  assert.is(await read('[1]', refused('overloaded')), '"overloaded"');
  const digest = (chunks: readonly Uint8Array[]) =>
    String(chunks[0]) === '[1]' && chunks.length === 1 ? refused('signature_invalid') : undefined;
  assert.equal(
    [await read('[1]', undefined, digest), await read('[2]', undefined, digest)],
    ['"signature_invalid"', '[2]'],
  );
});

test('an answer has the date of the wall clock in whole seconds', async () => {
  const { now } = Date;
  const { state, send } = connectionOf();
  try {
    for (const ms of [1_800_000_000_999, 1_800_000_001_000]) {
      Date.now = () => ms;
      await send(score);
    }
  } finally {
    Date.now = now;
  }
  const dates = [...state.text.matchAll(/^Date: (.*)\r$/gm)].map(([, date]) => date);
  assert.equal(dates, ['Fri, 15 Jan 2027 08:00:00 GMT', 'Fri, 15 Jan 2027 08:00:01 GMT']);
});

test('a request that node:http has parsed is answered if it is one of the four, and left to Koa otherwise', async () => {
  const answers: Answer[] = [
    () => okJson('1'),
    async () => okJson('2'),
    () => {
      throw new Error('at once');
    },
    () => Promise.reject(new Error('late')),
  ];
  const sent: unknown[] = [];
  const ask = async (method: string, url: string, answer: Answer = () => assert.unreachable() as never) => {
    const { path } = connectionOf(answer);
    const versions = { httpVersion: '1.1', httpVersionMajor: 1, httpVersionMinor: 1, complete: true };
    const request = { method, url, headers: { host: 'x' }, rawHeaders: ['Host', 'x'], socket: {}, ...versions };
    const response = { writeHead: (status: number) => sent.push(status), end: (text: string) => sent.push(text) };
    const isTaken = path.answer(request as unknown as IncomingMessage, response as unknown as ServerResponse);
    await new Promise(setImmediate);
    return isTaken;
  };
  const url = '/api/v1/trust-scores?ids=a';
  for (const answer of answers) assert.is(await ask('GET', url, answer), true);
  assert.equal(
    sent.map((one) => (typeof one === 'string' && one.includes('internal_error') ? 'internal_error' : one)),
    [200, '1', 200, '2', 500, 'internal_error', 500, 'internal_error'],
  );
  for (const [method, target] of [
    ['HEAD', url],
    ['GET', '/api/v1/health'],
    ['GET', '#'],
    ['POST', url],
  ] as const) {
    assert.is(await ask(method, target), false, `${method} ${target}`);
  }
  assert.is(sent.length, 8);
});

test.run();
