/** Bytes on the wire: heads and bodies that no client library would send, and what closes a connection. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { connect, type Socket } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { limits } from '../../../src/limits.js';
import { until } from '../../support/until.js';
import { ask, askRaw, received } from '../exchange.js';
import { startFace, type TestFace } from '../face.js';
import { activeKey, unobserved } from '../group-double.js';
import { eventBody } from '../samples.js';

let face: TestFace;

test.before(async () => {
  face = await startFace();
});

test.after(() => face.drain());

const host = 'Host: x\r\n';
const close = 'Connection: close\r\n';
const events = { method: 'POST', path: '/api/v1/events' };

/** The head of an event submission up to its own fields. */
function submission(fields: string): string {
  return `POST /api/v1/events HTTP/1.1\r\n${host}X-Peer-API-Key: ${activeKey}\r\nContent-Type: application/json\r\n${fields}\r\n`;
}

async function codes(pieces: readonly (string | Uint8Array)[], row = {}): Promise<unknown[]> {
  return (await askRaw(face.port, pieces, row)).map(({ status, body }) =>
    body?.code ? [status, body.code] : [status],
  );
}

test('bytes that are not HTTP get 400 in the form of every error, and the connection ends', async () => {
  const garbage = [
    'hello\r\n\r\n',
    'GET\r\n\r\n',
    'GET / HTTP/9.9\r\n\r\n',
    'GET / HTTP/1.1\r\nBad Header: x\r\n\r\n',
    'GET / HTTP/1.1\r\nHost x\r\n\r\n',
    `POST /api/v1/events HTTP/1.1\r\n${host}Content-Length: -1\r\n\r\n`,
    `POST /api/v1/events HTTP/1.1\r\n${host}Content-Length: 1\r\nContent-Length: 2\r\n\r\nx`,
    `POST /api/v1/events HTTP/1.1\r\n${host}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    `CONNECT a:1 HTTP/1.1\r\n${host}\r\n`,
  ];
  for (const bytes of garbage) {
    const [answer] = await askRaw(face.port, [Buffer.from(bytes, 'latin1')]);
    assert.equal(
      [answer?.status, answer?.body.code, answer?.headers.connection],
      [400, 'invalid_parameter', 'close'],
      bytes,
    );
  }
});

test('a caller that asks for a tunnel and hangs up does no harm', async () => {
  const tunnels = Array.from({ length: 50 }, async () => {
    const socket = connect(face.port, '127.0.0.1');
    socket.once('connect', () => socket.write(`CONNECT a:1 HTTP/1.1\r\n${host}\r\n`, () => socket.resetAndDestroy()));
    await received(socket);
  });
  await Promise.all(tunnels);
  assert.is((await ask(face.url, '/api/v1/health')).status, 200);
});

test('a tunnel is opened for a node that may have it, however its head arrives', async () => {
  const tunnelled: string[] = [];
  await using taking = await startFace({
    tunnel: (authority, socket, rest) => {
      tunnelled.push(`${authority} ${rest.toString()}`);
      if (authority === 'a:1') socket.end('tunnel');
      return authority === 'a:1';
    },
  });
  // The node's side of the last connection; the node runs in this process.
  let served: Socket | undefined;
  const accept = (message: unknown) => {
    served = (message as { socket: Socket }).socket;
  };
  subscribe('net.server.socket', accept);
  const answered = async (pieces: readonly string[]) => {
    served = undefined;
    const socket = connect(taking.port, '127.0.0.1');
    const all = received(socket);
    for (const piece of pieces) {
      await until(() => served?.bytesRead === socket.bytesWritten);
      socket.write(piece);
    }
    return (await all).slice(0, 'HTTP/1.1 400'.length);
  };
  const head = (authority: string) => `CONNECT ${authority}:1 HTTP/1.1\r\n${host}`;
  assert.is(await answered([`${head('a')}\r\nrest`]), 'tunnel');
  assert.is(await answered([head('a'), '\r\n']), 'tunnel');
  assert.is(await answered([`${head('b')}\r\n`]), 'HTTP/1.1 400');
  assert.is(await answered([head('b'), '\r\n']), 'HTTP/1.1 400');
  unsubscribe('net.server.socket', accept);
  assert.equal(tunnelled, ['a:1 rest', 'a:1 ', 'b:1 ', 'b:1 ']);
});

test('only so many requests for a tunnel get an answer in a second; the others are reset, and all are counted', async () => {
  const max = limits.tunnelsAnsweredPerS;
  let counted = 0;
  await using flooded = await startFace({ metrics: { ...unobserved, requestAnswered: () => void counted++ } });
  const ends = Array.from({ length: 3 * max }, async () => {
    const socket = connect(flooded.port, '127.0.0.1');
    socket.write(`CONNECT a:1 HTTP/1.1\r\n${host}\r\n`);
    return (await received(socket)) !== '';
  });
  const answered = (await Promise.all(ends)).filter(Boolean).length;
  // The second may end meanwhile.
  assert.ok(answered > 0 && answered <= 2 * max, `${answered} answers`);
  assert.is(counted, ends.length);
  assert.is((await ask(flooded.url, '/api/v1/health')).status, 200);
});

const health = { path: '/api/v1/health' };
const headOf = (target: string, fields = host, version = '1.1') =>
  `GET ${target} HTTP/${version}\r\n${fields}${close}\r\n`;
const fieldsOf = (count: number): string => Array.from({ length: count }, (_, at) => `A${at}: a\r\n`).join('');
const malformed = [400, 'invalid_parameter'];
const tooLong = [414, 'uri_too_long'];
const tooLarge = [431, 'headers_too_large'];

const heads: readonly (readonly [what: string, head: string, answer: readonly unknown[]])[] = [
  ['HTTP/1.1 without Host', headOf(health.path, ''), malformed],
  ['HTTP/1.0 without Host', headOf(health.path, '', '1.0'), [200]],
  ['an absolute target', headOf(`http://x${health.path}`), [200]],
  ['a target with raw bytes beyond ASCII', headOf('/api/v1/players/\xc3\xa9/verdict'), malformed],
  ['a target with a fragment', headOf(`${health.path}#x`), malformed],
  ['an absolute target that is no address', headOf('http://[::1'), malformed],
  ['a target without a slash', headOf('api/v1/health'), malformed],
  ['64 header fields', headOf(health.path, host + fieldsOf(62)), [200]],
  ['65 header fields', headOf(health.path, host + fieldsOf(63)), tooLarge],
  ['1,000 header fields', headOf(health.path, host + fieldsOf(1_000)), tooLarge],
  ...[limits.headBytes, limits.parserHeadBytes, 2 * limits.parserHeadBytes].flatMap((size) => [
    [`a target of ${size} bytes`, headOf(`/${'a'.repeat(size)}`), tooLong] as const,
    [`a field of ${size} bytes`, headOf('/', `${host}A: ${'a b '.repeat(size / 4)}\r\n`), tooLarge] as const,
  ]),
];

for (const [what, head, answer] of heads) {
  test(`a request with ${what} is answered with ${answer.join(' ')}`, async () => {
    const row = answer[0] === 200 ? health : {};
    assert.equal(await codes([Buffer.from(head, 'latin1')], row), [answer]);
  });
}

test('a request that does not arrive in time is 408', async () => {
  const [head, body] = await Promise.all([
    askRaw(face.port, ['GET / HTTP/1.1\r\nHost: x\r\nA: ']),
    askRaw(face.port, [submission('Content-Length: 100\r\n'), '{']),
  ]);
  for (const answers of [head, body]) {
    assert.equal(
      answers.map((one) => [one.status, one.body.code, one.headers.connection]),
      [[408, 'request_timeout', 'close']],
    );
  }
});

test('a body may come in chunks, cut anywhere', async () => {
  const text = Buffer.from(JSON.stringify(eventBody({ player_id: 'pl\u00e4yer \u{1F600}' })));
  const chunks = [...text].map((byte) =>
    Buffer.concat([Buffer.from('1\r\n'), Buffer.from([byte]), Buffer.from('\r\n')]),
  );
  const pieces = [submission(`Transfer-Encoding: chunked\r\n${close}`), ...chunks, '0\r\n\r\n'];
  const [answer] = await askRaw(face.port, pieces, events);
  assert.equal([answer?.status, answer?.body.player_id], [201, 'pl\u00e4yer \u{1F600}']);
});

test('an invalid chunk is 400', async () => {
  const pieces = [submission('Transfer-Encoding: chunked\r\n'), 'zz\r\n{}\r\n'];
  assert.equal(await codes(pieces, events), [[400, 'invalid_parameter']]);
});

/** Reads no further than the first answer. */
const untilAnswered = { ...events, until: (text: string) => text.includes('}') };

test('a body that is too long is 413 as soon as that is known, and the connection ends', async () => {
  const chunk = `1000\r\n${'a'.repeat(0x1000)}\r\n`;
  const flood = [submission('Transfer-Encoding: chunked\r\n'), ...Array(300).fill(chunk), '0\r\n\r\n'];
  for (const [pieces, row] of [
    [[submission(`Content-Length: ${limits.eventBodyBytes + 1}\r\n`)], untilAnswered],
    [flood, events],
  ] as const) {
    const answers = await askRaw(face.port, pieces, row);
    assert.equal(
      answers.map(({ status, headers }) => [status, headers.connection]),
      [[413, 'close']],
    );
  }
  const huge = submission('Content-Length: 99999999999999999999\r\n');
  assert.equal(await codes([huge], untilAnswered), [[400, 'invalid_parameter']]);
});

const expect = 'Expect: 100-continue\r\n';

test('a caller that expects 100 gets it, or is refused before it sends the body', async () => {
  const text = JSON.stringify(eventBody());
  const pieces = [submission(`Content-Length: ${text.length}\r\n${expect}${close}`), text];
  assert.equal(await codes(pieces, events), [[201]]);
  const refused = [submission(`Content-Length: 9000000\r\n${expect}`)];
  assert.equal(await codes(refused, untilAnswered), [[413, 'payload_too_large']]);
});

test('a caller that sends Expect with a long body that no route reads gets 100 Continue', async () => {
  const head = `PUT /api/v1/peers HTTP/1.1\r\n${host}${expect}Content-Length: 2000000\r\n\r\n`;
  // Nothing is answered before that: a caller that is told nothing ends with 408.
  const until = (received: string) => received.startsWith('HTTP/1.1 100 Continue\r\n\r\n');
  assert.equal(await codes([head], { path: '/api/v1/peers', method: 'PUT', until }), []);
});

test('pipelined requests are answered in order, and garbage after them last', async () => {
  const get = (id: string): string => `GET /api/v1/health HTTP/1.1\r\n${host}X-Request-Id: ${id}\r\n\r\n`;
  const answers = await askRaw(face.port, [`${get('a')}${get('b')}garbage\r\n\r\n`], { path: '/api/v1/health' });
  assert.equal(
    answers.map(({ status, headers }) => [status, status === 200 ? headers['x-request-id'] : '']),
    [
      [200, 'a'],
      [200, 'b'],
      [400, ''],
    ],
  );
});

test('requests before a tunnel are answered before the tunnel is refused', async () => {
  const health = `GET /api/v1/health HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`;
  const tunnel = `CONNECT x:80 HTTP/1.1\r\n${host}\r\n`;
  const answered = await codes([health + health + tunnel], { path: '/api/v1/health' });
  assert.equal(answered, [[200], [200], [400, 'invalid_parameter']]);
  const event = JSON.stringify(eventBody());
  const write = `${submission(`Content-Length: ${event.length}\r\n`)}${event}`;
  assert.equal(await codes([write + write + tunnel], events), [[201], [201], [400, 'invalid_parameter']]);
});

test('a log line has the route and never the address, an id or a key', async () => {
  await ask(face.url, '/api/v1/players/very-secret-player/verdict?x=hidden', { key: activeKey });
  const text = JSON.stringify(face.logged);
  assert.ok(text.includes('/api/v1/players/{id}/verdict'));
  for (const word of ['very-secret-player', 'hidden', activeKey]) assert.not(text.includes(word), word);
});

test.run();
