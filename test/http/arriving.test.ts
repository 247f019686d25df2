/** How many batches a node takes in at a time, and what stays of a body. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ArrivingBatches } from '../../src/http/arriving.js';
import { limits } from '../../src/limits.js';
import { until } from '../support/until.js';
import { ask } from './exchange.js';
import { startFace } from './face.js';
import { activeKey } from './group-double.js';
import { eventBody } from './samples.js';

test('in an overload only so many batches arrive at a time, and further ones once those are there', () => {
  const batches = new ArrivingBatches();
  const arriving = Array.from({ length: limits.batchesArriving }, () => batches.begin(0, true, 1)!);
  assert.is(batches.begin(1, true, 1), undefined);
  batches.end(arriving[5]!);
  assert.ok(batches.begin(1, true, 1));
  assert.is(batches.begin(1, true, 1), undefined);
});

test('batches that take long to arrive keep no others out', () => {
  const batches = new ArrivingBatches();
  for (let i = 0; i < limits.batchesArriving; i++) batches.begin(i === 0 ? 0 : 10, true, 1);
  assert.is(batches.begin(limits.arrivingMs - 1, true, 1), undefined);
  assert.ok(batches.begin(limits.arrivingMs, true, 1));
  assert.is(batches.begin(limits.arrivingMs, true, 1), undefined);
});

test('a node that is not overloaded takes in whatever comes', () => {
  const batches = new ArrivingBatches();
  for (let i = 0; i < 10 * limits.batchesArriving; i++) assert.ok(batches.begin(0, false, 1));
});

test('batches on their way in hold so many bytes at most, overloaded or not and however long they take', () => {
  const batches = new ArrivingBatches();
  const size = limits.batchBodyBytes;
  const arriving = Array.from({ length: limits.arrivingBytes / size }, () => batches.begin(0, false, size)!);
  const late = 10 * limits.arrivingMs;
  assert.is(batches.begin(late, false, 1), undefined);
  for (let again = 0; again < 2; again++) batches.end(arriving[0]!);
  assert.ok(batches.begin(late, false, size));
  assert.is(batches.begin(late, false, 1), undefined);
});

test('bodies that stay half sent keep further batches out in every lane, and no longer than they are there', async () => {
  const head = `POST /api/v1/events/batch HTTP/1.1\r\nHost: x\r\nX-Peer-API-Key: ${activeKey}\r\nContent-Type: application/json\r\n`;
  const halves = [`Content-Length: ${limits.batchBodyBytes}\r\n\r\n{`, 'Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n'];
  for (const fastLane of [true, false]) {
    const face = await startFace({ settings: { fastLane } });
    const isRefused = async () =>
      (await ask(face.url, '/api/v1/events/batch', { key: activeKey, json: { events: [{}] } })).status === 503;
    for (const half of halves) {
      const sockets = Array.from({ length: limits.arrivingBytes / limits.batchBodyBytes }, () => {
        const socket = connect(face.port, '127.0.0.1');
        socket.on('error', () => undefined);
        socket.write(head + half);
        return socket;
      });
      await until(isRefused);
      for (const socket of sockets) socket.destroy();
      await until(async () => !(await isRefused()));
    }
    await face.drain();
  }
});

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function batchHead(bytes: number): string {
  return (
    `POST /api/v1/events/batch HTTP/1.1\r\nHost: x\r\nX-Peer-Api-Key: ${activeKey}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`
  );
}

/** Sends a body that is read and refused, and leaves the connection open. */
async function send(port: number, body: Buffer): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.write(batchHead(body.length));
  socket.write(body);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  assert.match(answer.toString(), /^HTTP\/1\.1 400 /);
  return socket;
}

test('a connection that rests holds nothing of the body that it sent', async () => {
  const face = await startFace();
  const body = Buffer.from(JSON.stringify('x'.repeat(1_000_000)));
  const sockets: Socket[] = [];
  try {
    sockets.push(await send(face.port, body));
    collect();
    const before = process.memoryUsage().arrayBuffers;
    for (let i = 0; i < 24; i++) sockets.push(await send(face.port, body));
    let kept = Number.POSITIVE_INFINITY;
    // What the node holds never goes; what waits for its turn to be freed does.
    for (let look = 0; look < 100 && kept >= 6 * body.length; look++) {
      await delay(20);
      collect();
      kept = process.memoryUsage().arrayBuffers - before;
    }
    assert.ok(kept < 6 * body.length, `${kept} bytes of ${24 * body.length} are kept`);
  } finally {
    for (const socket of sockets) socket.destroy();
    await face.drain();
  }
});

const ways = [
  { way: 'the lane on the socket', fastLane: true, pieces: 1 },
  { way: 'the lane behind node:http', fastLane: true, pieces: 2 },
  { way: 'Koa', fastLane: false, pieces: 1 },
];
for (const { way, fastLane, pieces } of ways) {
  test(`nor does one that waits for its commit (${way})`, async () => {
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let waiting = 0;
    const face = await startFace({
      settings: { fastLane },
      group: {
        submit: async (_caller, events) => {
          waiting += 1;
          await released;
          return events.map(() => ({ ok: true, value: { receivedAt: 0 } }));
        },
      },
    });
    const paddedBytes = 40_000;
    const body = JSON.stringify({ events: [eventBody()] }).padEnd(paddedBytes);
    const sockets: Socket[] = [];
    const open = async (count: number): Promise<void> => {
      for (let i = 0; i < count; i++) sockets.push(connect(face.port, '127.0.0.1').on('error', () => undefined));
      for (const socket of sockets.slice(-count)) socket.write(batchHead(body.length) + (pieces === 1 ? body : ''));
      if (pieces > 1) await delay(100);
      for (const socket of sockets.slice(-count)) if (pieces > 1) socket.write(body);
      await until(() => waiting === sockets.length);
    };
    try {
      await open(10);
      collect();
      const before = process.memoryUsage().heapUsed;
      const count = 60;
      await open(count);
      collect();
      const kept = (process.memoryUsage().heapUsed - before) / count;
      assert.ok(kept < paddedBytes / 2, `${kept} bytes of a request are kept`);
    } finally {
      release();
      for (const socket of sockets) socket.destroy();
      await face.drain();
    }
  });
}

test('nor anything of what was read from it', async () => {
  const face = await startFace();
  const marked = { events: 'none', mark: 'x'.repeat(300_000) };
  const read: WeakRef<object>[] = [];
  const parse = JSON.parse;
  JSON.parse = (...given: Parameters<typeof parse>) => {
    const value: unknown = parse(...given);
    if (typeof value === 'object' && value !== null && 'mark' in value) read.push(new WeakRef(value));
    return value;
  };
  const sockets: Socket[] = [];
  try {
    for (let i = 0; i < 8; i++) sockets.push(await send(face.port, Buffer.from(JSON.stringify(marked))));
    assert.is(read.length, sockets.length);
    let kept = read.length;
    for (let look = 0; look < 100 && kept > 1; look++) {
      await delay(20);
      collect();
      kept = read.filter((body) => body.deref() !== undefined).length;
    }
    // The newest stays with the errors that the validator found last.
    assert.ok(kept <= 1, `${kept} of ${read.length} are kept`);
  } finally {
    JSON.parse = parse;
    for (const socket of sockets) socket.destroy();
    await face.drain();
  }
});

test.run();
