/** Requests on a connection of the fast path, in any pieces, get the answers of node:http and Koa. */
import { connect } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { PeersApi } from '../../../src/group/api.js';
import { limits } from '../../../src/limits.js';
import { answersOf } from '../../fuzz/wire.js';
import { deferred } from '../../support/deferred.js';
import { until } from '../../support/until.js';
import { received } from '../exchange.js';
import { startFace, type TestFace } from '../face.js';
import { acceptAfter, activeKey } from '../group-double.js';
import { eventBody } from '../samples.js';

const score = 'GET /api/v1/players/p%C3%A9/trust-score HTTP/1.1\r\nHost: x\r\n\r\n';
const match = 'GET /api/v1/trust-scores?ids=a,%C3%A9,c HTTP/1.1\r\nHost: x\r\nAccept: application/problem+json\r\n\r\n';
const peers = 'GET /api/v1/peers HTTP/1.1\r\nHost: x\r\n\r\n';
const last = 'GET /api/v1/peers?limit=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
const write = writeOf(JSON.stringify(eventBody()));
const unicode = writeOf(JSON.stringify({ ...eventBody(), player_id: 'Žofie 🎮' }));

function writeOf(text: string, key = activeKey): string {
  const head = `POST /api/v1/events HTTP/1.1\r\nHost: x\r\nX-Peer-API-Key: ${key}\r\nContent-Type: application/json\r\n`;
  return `${head}Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
}

/** Conversations, each ended by a request that closes. */
const conversations: readonly (readonly string[])[] = [
  [score, last],
  [score, match, score, write, write, score, last],
  [unicode, score, last],
  [score, peers, score, write, last],
  [writeOf('{"a":'), score, last],
  [writeOf('{}'), writeOf('[]', 'wrong'), writeOf('7', ''), last],
  [
    score.replace('Host', 'X-Request-Id: mine\r\nHost'),
    score.replace('\r\n\r\n', '\r\nIf-None-Match: *\r\n\r\n'),
    last,
  ],
  [score.replace('p%C3%A9', 'a%ZZ'), match.replace('a,', ','), last],
  [score.replace('HTTP/1.1', 'HTTP/1.0')],
  [score, 'nonsense\r\n\r\n'],
  [score, match.slice(0, -4), '\r\nConnection: close\r\n\r\n'],
  [write.replace('POST', 'PUT'), last],
  // Node once put the head of the page in front of the 100 that waited, and so 25 bytes too few behind it.
  [
    write,
    writeOf('{}', ' \t ').replace('Host', 'If-None-Match: Â\r\nHost'),
    'GET /docs HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n\r\n',
    last,
  ],
];

function group(): Partial<PeersApi> {
  const view = {
    score: 12.345,
    confidence: 0.5,
    verdict: 'suspicious',
    eventCount: 3,
    updatedAt: 0,
    isCoarse: false,
  } as const;
  return {
    trust: () => view,
    trusts: ({ count }, trusts) => {
      while (trusts.length < count) trusts.push(trusts.length % 2 === 0 ? view : undefined);
    },
    submit: async (_caller, events) => events.map(() => ({ ok: true, value: { receivedAt: 0 } })),
  };
}

/** All that comes back for these pieces, each sent once the one before was taken from the socket. */
function talk(port: number, pieces: readonly Buffer[], ends: boolean): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true }, () => send(0));
  const send = (i: number): void => {
    const piece = pieces[i];
    if (piece !== undefined) socket.write(piece, () => setImmediate(() => send(i + 1)));
    else if (ends) socket.end();
  };
  return received(socket);
}

/** Without what differs from one request to the next. */
const settled = (text: string): string => text.replace(/(Date|X-Request-Id): (?!mine)[^\r]*/g, '$1');

/** The fields of each answer in the order of their names: neither lane promises another. */
function fieldsSorted(text: string): string {
  return text.replace(
    /(HTTP\/1\.1 \d+ [^\r]*\r\n)((?:[\w-]+:? ?[^\r]*\r\n)+)/g,
    (_, status: string, fields: string) => status + fields.split('\r\n').filter(Boolean).sort().join('\r\n'),
  );
}

async function onBothLanes(run: (face: TestFace) => Promise<string>): Promise<[string, string]> {
  const texts: string[] = [];
  for (const fastPath of [true, false]) {
    await using face = await startFace({ group: group(), fastPath });
    const text = await run(face);
    // Throws where something stands between whole answers. None of the requests is a HEAD.
    answersOf(Buffer.from(text).toString('latin1'), []);
    texts.push(fieldsSorted(settled(text)));
  }
  return [texts[0]!, texts[1]!];
}

for (const [number, conversation] of conversations.entries()) {
  const whole = Buffer.from(conversation.join(''));
  test(`conversation ${number} gets the same answers with and without the fast path, however it is sent`, async () => {
    const pieces = { once: [whole], single: conversation.map((one) => Buffer.from(one)) };
    for (const [how, sent] of Object.entries(pieces)) {
      for (const ends of [false, true]) {
        const [lane, koa] = await onBothLanes((face) => talk(face.port, sent, ends));
        assert.ok(lane.startsWith('HTTP/1.1 '), how);
        assert.is(lane, koa, `${how}, ${ends ? 'half-closed' : 'open'}`);
      }
    }
  });
}

test('a conversation gets the same answers wherever it is cut in two', async () => {
  const whole = Buffer.from([score, unicode, match, peers, write, last].join(''));
  const [expected] = await onBothLanes((face) => talk(face.port, [whole], false));
  await using face = await startFace({ group: group(), fastPath: true });
  for (let from = 1; from < whole.length; from += 64) {
    const cuts = Array.from({ length: Math.min(64, whole.length - from) }, (_, i) => from + i);
    const texts = await Promise.all(
      cuts.map((cut) => talk(face.port, [whole.subarray(0, cut), whole.subarray(cut)], false)),
    );
    for (const [i, text] of texts.entries()) assert.is(fieldsSorted(settled(text)), expected, `cut at ${cuts[i]}`);
  }
});

test('a waiting request is unchanged, whatever other connections send meanwhile', async () => {
  const submitted: string[] = [];
  const answer: (() => void)[] = [];
  await using face = await startFace({
    group: {
      ...group(),
      submit: (_caller, events) => {
        submitted.push(...events.map(({ eventId }) => eventId));
        return new Promise((resolve) => {
          answer.push(() => resolve(events.map(() => ({ ok: true, value: { receivedAt: 0 } }))));
        });
      },
    },
  });
  const ids = Array.from({ length: 20 }, (_, i) => `a pipeline of ${i}`.replaceAll(' ', '-'));
  const said = talk(
    face.port,
    [Buffer.from([...ids.map((event_id) => writeOf(JSON.stringify({ ...eventBody(), event_id }))), last].join(''))],
    false,
  );
  for (let i = 0; i < ids.length; i++) {
    await until(() => answer.length === i + 1);
    // As long as what waits, and longer.
    await talk(face.port, [Buffer.from([score.repeat(100), last].join(''))], false);
    answer[i]!();
  }
  assert.is((await said).match(/HTTP\/1\.1 201 /g)?.length, ids.length);
  assert.equal(submitted, ids);
});

/** All that comes back to one that says no more until it hears something. */
function asksLate(port: number, before: string, after: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1' }, () => socket.write(before));
  socket.once('data', () => socket.write(after));
  return received(socket);
}

/** All that comes back to one that asks for so many scores and lets the answers lie for a while. */
async function readsLate(port: number, asked: number, ms: number): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1' }).pause();
  const all = received(socket);
  socket.write(score.repeat(asked - 1) + last);
  await new Promise((resolve) => setTimeout(resolve, ms));
  socket.resume();
  return all;
}

for (const fastPath of [true, false]) {
  test(`a caller that leaves answers unread for long still gets all of them (fast path ${fastPath})`, async () => {
    await using face = await startFace({ group: group(), fastPath });
    // More than all buffers between the two take, so that requests are cut where reading stops.
    const asked = 30_000;
    // Several at a time, so that some are looked at for their lateness just when they are read from again.
    const callers = Array.from({ length: 4 }, () => readsLate(face.port, asked, limits.headersTimeoutMs + 2_000));
    for (const text of await Promise.all(callers)) assert.is(text.split('HTTP/1.1 200 OK').length - 1, asked);
  });

  test(`a silent connection gets a reason and ends; an idle one is closed (fast path ${fastPath})`, async () => {
    let writes = 0;
    await using face = await startFace({
      group: {
        ...group(),
        submit: acceptAfter(() => writes++),
      },
      fastPath,
    });
    const [silent, resting, late, halved] = await Promise.all([
      talk(face.port, [], false),
      talk(face.port, [Buffer.from(score)], false),
      asksLate(face.port, '', write),
      asksLate(face.port, write.slice(0, -1), write.slice(-1)),
    ]);
    assert.match(silent, /^HTTP\/1\.1 408 [\s\S]*request_timeout/);
    assert.match(resting, /^HTTP\/1\.1 200 /);
    assert.not.match(resting, /HTTP\/1\.1 408/);
    for (const text of [late, halved]) assert.match(text, /^HTTP\/1\.1 408 /);
    assert.is(writes, 0, 'what nobody is told the outcome of is not done');
  });
}

test('at the end of the node an answer in progress is sent and says that the connection closes', async () => {
  const { promise: released, resolve: release } = deferred();
  let writes = 0;
  const face = await startFace({
    fastPath: true,
    group: {
      submit: acceptAfter(() => {
        writes += 1;
        return released;
      }),
    },
  });
  const idle = talk(face.port, [], false);
  const busy = talk(face.port, [Buffer.from(write + write), Buffer.from(write)], false);
  await until(() => writes === 1);
  const drained = face.drain();
  assert.is(await idle, '');
  release();
  const text = await busy;
  assert.match(text, /^HTTP\/1\.1 201 [\s\S]*Connection: close\r\n/);
  assert.is(text.split('HTTP/1.1').length - 1, 1);
  await drained;
  assert.is(writes, 1, 'what stands behind the last answer is not done: nobody would be told');
});

test.run();
