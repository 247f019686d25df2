/**
 * The guarantees of a connection: an order among its requests, an end without loss, and no error for a client that
 * disconnects.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { PeersApi } from '../../../src/group/api.js';
import { limits } from '../../../src/limits.js';
import { deferred } from '../../support/deferred.js';
import { askRaw, received } from '../exchange.js';
import { startFace, type TestFace } from '../face.js';
import { acceptAfter, activeKey } from '../group-double.js';
import { eventBody } from '../samples.js';

const submissionHead = `POST /api/v1/events HTTP/1.1\r\nHost: x\r\nX-Peer-API-Key: ${activeKey}\r\nContent-Type: application/json\r\n`;
const peersRead = 'GET /api/v1/peers HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';

function submission(): string {
  const text = JSON.stringify(eventBody());
  return `${submissionHead}Content-Length: ${text.length}\r\n\r\n${text}`;
}

/** Runs on both lanes: neither may know a rule of its own. */
async function onBothLanes(run: (face: TestFace) => Promise<void>, group: Partial<PeersApi> = {}): Promise<void> {
  for (const fastPath of [true, false]) {
    await using face = await startFace({ group, fastPath });
    await run(face);
  }
}

/** Resolves once the face has answered another connection: it has read what others sent before. */
async function hasRead({ port }: TestFace): Promise<void> {
  const [answer] = await askRaw(port, [peersRead], { path: '/api/v1/peers' });
  assert.is(answer?.status, 200);
}

function opened(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }, () => resolve(socket));
    socket.once('error', reject);
  });
}

/** The statuses that come back for these bytes, after which the caller closes its half if `ends`. */
async function statusesOf(port: number, bytes: string, ends = false): Promise<number[]> {
  const socket = await opened(port);
  const all = received(socket);
  if (ends) socket.end(bytes);
  else socket.write(bytes);
  return statusesIn(await all);
}

const statusesIn = (text: string) => Array.from(text.matchAll(/HTTP\/1\.1 (\d+)/g), ([, status]) => Number(status));

test('a read pipelined after a write sees the write', async () => {
  let written = 0;
  const seen: number[] = [];
  const group: Partial<PeersApi> = {
    submit: acceptAfter(async () => {
      await turnOfLoop();
      written += 1;
    }),
    peers: () => {
      seen.push(written);
      return [];
    },
  };
  await onBothLanes(async ({ port }) => {
    written = 0;
    assert.equal(await statusesOf(port, submission() + submission() + peersRead), [201, 201, 200]);
  }, group);
  assert.equal(seen, [2, 2]);
});

const chunked = `${submissionHead}Transfer-Encoding: chunked\r\n\r\n`;

for (const [what, bytes, ends, statuses] of [
  ['a request that is pipelined behind a closing answer is not begun', peersRead + submission(), false, [200]],
  [
    'garbage in the body behind a write does not cost the write its answer',
    `${submission()}${chunked}zz\r\n`,
    false,
    [201, 400],
  ],
  [
    'garbage behind a write is answered though the caller has closed its half',
    `${submission()}GET %20/ HTTP/1.1\r\nHost: x\r\n\r\n`,
    true,
    [201, 400],
  ],
] as const) {
  test(what, async () => {
    let submitted = 0;
    const submit = acceptAfter(() => {
      submitted++;
      return turnOfLoop();
    });
    await onBothLanes(async ({ port }) => assert.equal(await statusesOf(port, bytes, ends), statuses), { submit });
    assert.is(submitted, 2 * statuses.filter((status) => status === 201).length);
  });
}

test('requests behind a write are answered once and in order, also after the caller closed its half', async () => {
  let committed = deferred();
  const submit = acceptAfter(() => committed.promise);
  const score = 'GET /api/v1/players/nobody/trust-score HTTP/1.1\r\nHost: x\r\n\r\n';
  const health = score.replace('players/nobody/trust-score', 'health');
  for (const behind of [[score], [health], [health, score], [score, health], [health, health]]) {
    await onBothLanes(
      async (face) => {
        committed = deferred();
        const socket = await opened(face.port);
        const all = received(socket);
        socket.write(submission() + behind[0]);
        await hasRead(face);
        socket.end(behind[1] ?? '');
        await hasRead(face);
        committed.resolve();
        const expected = [201, ...behind.map((one) => (one === score ? 404 : 200))];
        assert.equal(statusesIn(await all), expected, behind.join(''));
      },
      { submit },
    );
  }
});

test('after an answer that ends the connection no request is carried out or refused', async () => {
  let submitted = 0;
  const submit = acceptAfter(() => submitted++);
  await onBothLanes(
    async (face) => {
      const last = 'GET /api/v1/health HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\nContent-Length: 5\r\n\r\nhello';
      const noChunk =
        'GET /api/v1/health HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloX0\r\n\r\n';
      for (const behind of [submission(), noChunk, 'GET #x HTTP/1.1\r\n\r\n']) {
        const socket = await opened(face.port);
        const all = received(socket);
        socket.write(last + behind);
        assert.equal(
          (await all).match(/HTTP\/1\.1 \d+|Connection: .*/g),
          ['HTTP/1.1 200', 'Connection: close'],
          behind,
        );
      }
    },
    { submit },
  );
  assert.is(submitted, 0);
});

test('a caller that sends CONNECT after an event and resets early ends no other connection', async () => {
  let [submitted, commit] = [deferred(), deferred()];
  const submit = acceptAfter(() => {
    submitted.resolve();
    return commit.promise;
  });
  await onBothLanes(
    async (face) => {
      [submitted, commit] = [deferred(), deferred()];
      const socket = await opened(face.port);
      const gone = received(socket);
      // The first leaves the lane of whole sockets; the tunnel makes node:http leave the connection.
      const health = 'GET /api/v1/health HTTP/1.1\r\nHost: x\r\n\r\n';
      socket.write(`${health}${submission()}CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n`);
      await submitted.promise;
      socket.resetAndDestroy();
      await gone;
      for (let again = 0; again < 3; again++) await hasRead(face);
      commit.resolve();
    },
    { submit },
  );
});

test('a request that breaks off in its body is refused under its own id and in the form that it accepts', async () => {
  await onBothLanes(async (face) => {
    const asked = 'X-Request-Id: my-id-1\r\nAccept: application/problem+json\r\nTransfer-Encoding: chunked\r\n\r\n';
    const [answer] = await askRaw(face.port, [`${submissionHead}${asked}1\r\n{\r\nzz\r\n`]);
    assert.equal(
      [answer?.status, answer?.headers['x-request-id'], answer?.headers['content-type']],
      [400, 'my-id-1', 'application/problem+json; charset=utf-8'],
    );
  });
});

test('a caller that hangs up in its body is no internal error', async () => {
  await onBothLanes(async (face) => {
    const socket = await opened(face.port);
    const gone = received(socket);
    socket.write(`${submissionHead}Content-Length: 100\r\nExpect: 100-continue\r\n\r\n{`);
    await new Promise((resolve) => socket.once('data', resolve));
    const plain = await opened(face.port);
    const plainGone = received(plain);
    plain.write(`${submissionHead}Content-Length: 100\r\n\r\n{`);
    await hasRead(face);
    socket.destroy();
    plain.destroy();
    await Promise.all([gone, plainGone]);
    await face.drain();
    // pino's number for error is 50.
    assert.equal(
      face.logged.filter(({ level, status }) => Number(level) >= 50 || Number(status) >= 500),
      [],
    );
  });
});

test('draining lets a request arrive that has begun, and answers one that takes too long', async () => {
  await onBothLanes(async (face) => {
    const text = JSON.stringify(eventBody());
    const head = `${submissionHead}Content-Length: ${text.length}\r\n\r\n`;
    const [slow, stuck, silent] = [await opened(face.port), await opened(face.port), await opened(face.port)];
    const answers = [slow, stuck, silent].map(received);
    for (const socket of [slow, stuck]) socket.write(head + text.slice(0, 10));
    await hasRead(face);
    const drained = face.drain();
    // Longer than until the first sweep over the connections, and long before the last.
    setTimeout(() => slow.write(text.slice(10)), limits.connectionsCheckingIntervalMs + 100);
    const [late = '', never = '', nothing] = await Promise.all(answers);
    await drained;
    assert.is(nothing, '', 'who says nothing is not waited for');
    assert.match(late, /^HTTP\/1\.1 201 [\s\S]*Connection: close/);
    assert.match(never, /^HTTP\/1\.1 408 [\s\S]*request_timeout/);
  });
});

test('a request that arrived completely while the process was stopped is answered, even late in a drain', async () => {
  await onBothLanes(async (face) => {
    const text = JSON.stringify(eventBody());
    const socket = await opened(face.port);
    const answer = received(socket);
    socket.write(`${submissionHead}Content-Length: ${text.length}\r\n\r\n${text.slice(0, 10)}`);
    await hasRead(face);
    const startedAt = performance.now();
    const drained = face.drain();
    await new Promise((resolve) => setTimeout(resolve, limits.connectionsCheckingIntervalMs + 100));
    // From here the event loop looks at its timers first, and only then at its sockets.
    await turnOfLoop();
    // It lies in the kernel until the event loop goes on, after the time that an arriving request is given.
    socket.write(text.slice(10));
    while (performance.now() - startedAt < 2_600);
    assert.match(await answer, /^HTTP\/1\.1 201 /);
    await drained;
  });
});

test('an erasure whose body breaks off or is invalid is refused, and not carried out', async () => {
  let erased = 0;
  const group: Partial<PeersApi> = {
    erase: async () => {
      erased += 1;
      return { ok: true, value: { status: 'erased', reason: null, eventsErased: 0, erasedAt: 0, receipt: 'r' } };
    },
  };
  await onBothLanes(async ({ port }) => {
    erased = 0;
    const path = `/api/v1/subjects/${'a'.repeat(64)}`;
    const head = `DELETE ${path} HTTP/1.1\r\nHost: x\r\nX-Peer-API-Key: ${activeKey}\r\n`;
    const chunked = `${head}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n`;
    const row = { method: 'DELETE', path };
    const status = async (bytes: string) => (await askRaw(port, [bytes], row)).map((answer) => answer.status);
    assert.equal(await status(`${chunked}zz\r\n`), [400]);
    assert.is(erased, 0);
    assert.equal(await status(`${chunked}2\r\n{}\r\n0\r\n\r\n`), [200]);
    assert.equal(await status(`${head}Content-Length: 2\r\nConnection: close\r\n\r\n{}`), [200]);
    assert.is(erased, 2);
  }, group);
});

/** Connects so many times, sends a request on each, sets the flag, and tells how many were answered. */
const manyCallers = `
const { connect } = require('node:net');
const { parentPort, workerData } = require('node:worker_threads');
const { port, count, flag } = workerData;
let [open, closed, answered] = [0, 0, 0];
for (let i = 0; i < count; i++) {
  const socket = connect(port, '127.0.0.1', () => {
    socket.write('GET /api/v1/health HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n', () => {
      open += 1;
      if (open === count) Atomics.notify(flag, 0, Atomics.store(flag, 0, 1));
    });
  });
  socket.once('data', (answer) => {
    if (String(answer).startsWith('HTTP/1.1 200')) answered += 1;
  });
  socket.on('error', () => {});
  socket.once('close', () => {
    closed += 1;
    if (closed === count) parentPort.postMessage(answered);
  });
}`;

test('callers that only the system has accepted when the node stops are answered', async () => {
  for (const fastPath of [true, false]) {
    const face = await startFace({ fastPath });
    const flag = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    const count = 40;
    const callers = new Worker(manyCallers, { eval: true, workerData: { port: face.port, count, flag } });
    // The event loop stands still until all of them have connected and sent.
    Atomics.wait(flag, 0, 0);
    const message = once(callers, 'message');
    await face.drain();
    assert.equal(await message, [count]);
  }
});

test('a body that is announced, not sent and read by no route blocks no new caller', async () => {
  for (const fastPath of [true, false]) {
    await using face = await startFace({ fastPath, settings: { connectionsMax: 2 } });
    for (let i = 0; i < 2; i++) {
      const socket = await opened(face.port);
      void received(socket);
      socket.write('GET /api/v1/peers HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 100\r\n\r\n');
      // Its head was read.
      await once(socket, 'data');
    }
    await hasRead(face);
  }
});

test.run();
