/** How many batches a node takes in at a time, and what stays of a body. */
import { hash } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { on, once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { refused } from '../../../src/errors.js';
import type { Holder } from '../../../src/group/ports/pool.js';
import { ConnectionGuard } from '../../../src/http/server/connection-guard.js';
import { limits } from '../../../src/limits.js';
import { deferred } from '../../support/deferred.js';
import { until } from '../../support/until.js';
import { ask, askRaw } from '../exchange.js';
import { startFace } from '../face.js';
import { acceptAfter, activeKey, peerView } from '../group-double.js';
import { eventBody } from '../samples.js';

interface Given {
  readonly holder?: Holder;
  readonly now?: number;
  readonly overloaded?: boolean;
  readonly isFirst?: boolean;
}

/** A table, with the codes of the bodies that it ended. */
function tableOf() {
  const ended: string[] = [];
  const table = new ConnectionGuard({
    arrivedOn: () => ({ request: undefined, complete: false }),
    end: (_socket, code) => ended.push(code),
  });
  const begin = ({ holder = 'one', now = 0, overloaded = true, isFirst = false }: Given = {}) =>
    table.beginBody({ holder, socket: {} as Socket, now, overloaded, isFirst });
  return { table, ended, begin };
}

test('in an overload only so many batches arrive at a time, and further ones once those are there', () => {
  const { begin } = tableOf();
  const arriving = Array.from({ length: limits.batchesArriving }, () => begin()!);
  assert.is(begin({ now: 1 }), undefined);
  arriving[5]!.end();
  assert.ok(begin({ now: 1 }));
  assert.is(begin({ now: 1 }), undefined);
});

test('slow batches do not block batches of other peers', () => {
  const { begin } = tableOf();
  for (let i = 0; i < limits.batchesArriving; i++) begin({ now: i === 0 ? 0 : 10 });
  assert.is(begin({ now: limits.arrivingMs - 1 }), undefined);
  assert.ok(begin({ now: limits.arrivingMs }));
  assert.is(begin({ now: limits.arrivingMs }), undefined);
});

test('a new holder is admitted beyond that, up to its share', () => {
  const { begin } = tableOf();
  while (begin() !== undefined);
  assert.is(begin({ holder: 'two' }), undefined);
  let taken = 0;
  while (begin({ holder: 'two', isFirst: true }) !== undefined) taken += 1;
  assert.is(taken, limits.batchesArriving / 2);
  assert.is(begin({ isFirst: true }), undefined, 'the first holder has more than its share');
});

test('a node that is not overloaded admits every event', () => {
  const { begin } = tableOf();
  for (let i = 0; i < 10 * limits.batchesArriving; i++) assert.ok(begin({ overloaded: false }));
});

test('bytes count as they arrive, and the largest body of the holder with the most gives way', () => {
  const { begin, ended } = tableOf();
  const size = limits.batchBodyBytes;
  const many = Array.from({ length: limits.arrivingBytes / size }, () => begin({ overloaded: false })!);
  for (const body of many) body.arrived(size - 1);
  const large = begin({ overloaded: false })!;
  assert.ok(large.arrived(many.length));
  const dropped: number[] = [];
  for (const [i, body] of many.entries()) body.onDrop = () => void dropped.push(i);
  const other = begin({ holder: 'two', overloaded: false })!;
  assert.ok(other.arrived(2 * size));
  assert.equal(dropped, [0, 1, 2].slice(0, dropped.length));
  assert.equal(
    ended,
    dropped.map(() => 'overloaded'),
  );
  assert.ok(dropped.length >= 2);
  // The holder with the most has no room for more.
  while (large.arrived(size));
  assert.ok(large.isClosed);
  assert.ok(!other.isClosed);
});

test('the room of a body is freed once when it ends, however often it ends', () => {
  const { begin, ended } = tableOf();
  for (let i = 0; i < 10; i++) {
    const body = begin({ overloaded: false })!;
    assert.ok(body.arrived(limits.arrivingBytes));
    for (let again = 0; again < 2; again++) body.end();
  }
  assert.equal(ended, []);
});

test('a body that is too slow ends, but neither a fast one nor one that has just begun', () => {
  const { table, begin, ended } = tableOf();
  const [slow, fast] = [begin()!, begin()!];
  for (let look = 1; look <= limits.arrivingSlowLooks; look++) {
    slow.arrived(limits.arrivingBytesPerLook - 1);
    fast.arrived(limits.arrivingBytesPerLook);
    const late = begin({ now: limits.arrivingMs * 2 * look })!;
    table.endSlowBodies();
    assert.not(late.isClosed);
    late.end();
    assert.is(slow.isClosed, look === limits.arrivingSlowLooks);
  }
  assert.not(fast.isClosed);
  assert.equal(ended, ['request_timeout']);
});

test('a node that was stopped between two looks closes no connection', () => {
  const { table, begin, ended } = tableOf();
  const body = begin()!;
  for (let seconds = 0; seconds < 10; seconds++) {
    table.endSlowBodies();
    table.endSlowBodies();
    body.arrived(limits.arrivingBytesPerLook);
  }
  assert.equal(ended, []);
});

test('half-sent bodies block no batch of another peer, and end with 408, on the fast path and through Koa', async () => {
  const peers = [activeKey, 'ptf_dev_other'].map((key, index) => ({ key, view: peerView(index) }));
  const byDigest = new Map(peers.map(({ key, view }) => [hash('sha256', key, 'hex'), view]));
  const whole = batchHead(limits.batchBodyBytes);
  const halves = [`${whole}{`, `${whole.replace(/Content-Length: .*/, 'Transfer-Encoding: chunked')}1\r\n{\r\n`];
  for (const fastPath of [true, false]) {
    await using face = await startFace({ fastPath, group: { peerByKeyDigest: (digest) => byDigest.get(digest) } });
    const answers = halves.flatMap((half) =>
      Array.from({ length: limits.arrivingBytes / limits.batchBodyBytes }, async () => {
        const [answer] = await askRaw(face.port, [half], { method: 'POST', path: '/api/v1/events/batch' });
        return answer?.status;
      }),
    );
    const { status } = await ask(face.url, '/api/v1/events/batch', { key: 'ptf_dev_other', json: { events: [{}] } });
    assert.is(status, 200);
    for (const answer of answers) assert.is(await answer, 408);
  }
});

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options?: { readonly type: 'minor' }) => void;

/** Counts the heads that node:http reads from now on. */
function countHeads() {
  const count = () => {
    heads.count += 1;
  };
  const heads = { count: 0, [Symbol.dispose]: () => void unsubscribe('http.server.request.start', count) };
  subscribe('http.server.request.start', count);
  return heads;
}

function batchHead(bytes: number): string {
  return (
    `POST /api/v1/events/batch HTTP/1.1\r\nHost: x\r\nX-Peer-Api-Key: ${activeKey}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`
  );
}

/** Connections that are cut off with the block that declares them. */
class Sockets extends Array<Socket> implements Disposable {
  [Symbol.dispose](): void {
    for (const socket of this) socket.destroy();
  }
}

/** A connection that is cut off with the block of `sockets`. */
function opened(port: number, sockets: Sockets): Socket {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  sockets.push(socket);
  return socket;
}

/** Sends a body that is read and refused, and leaves the connection open. */
async function send(port: number, sockets: Sockets, body: Buffer): Promise<void> {
  const socket = opened(port, sockets);
  socket.write(batchHead(body.length));
  socket.write(body);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  assert.match(answer.toString(), /^HTTP\/1\.1 400 /);
}

/** Memory of the heap that each of `count` requests keeps, after some that fill what all of them share. */
async function keptBytes(before: number, count: number, request: () => Promise<void>): Promise<number> {
  for (let i = 0; i < before; i++) await request();
  collect();
  const { heapUsed } = process.memoryUsage();
  for (let i = 0; i < count; i++) await request();
  collect();
  return (process.memoryUsage().heapUsed - heapUsed) / count;
}

test('an idle connection retains nothing of the body that it sent', async () => {
  await using face = await startFace();
  const body = Buffer.from(JSON.stringify('x'.repeat(1_000_000)));
  using sockets = new Sockets();
  await send(face.port, sockets, body);
  collect();
  const before = process.memoryUsage().arrayBuffers;
  for (let i = 0; i < 24; i++) await send(face.port, sockets, body);
  // Referenced memory never goes; memory that waits to be freed does.
  await until(() => {
    collect();
    return process.memoryUsage().arrayBuffers - before < 6 * body.length;
  });
});

test('nor anything of a long answer', async () => {
  const refuse = async (_caller: unknown, events: readonly unknown[]) =>
    events.map(() => refused('duplicate_event', { text: 'x'.repeat(1_000) }));
  await using face = await startFace({ group: { submit: refuse } });
  const body = JSON.stringify({ events: Array.from({ length: 100 }, () => eventBody()) });
  using sockets = new Sockets();
  using heads = countHeads();
  const kept = await keptBytes(5, 30, async () => {
    const socket = opened(face.port, sockets);
    socket.write(batchHead(body.length));
    await until(() => heads.count === sockets.length);
    socket.write(body);
    let bytes = 0;
    for await (const [chunk] of on(socket, 'data')) {
      bytes += (chunk as Buffer).length;
      if ((chunk as Buffer).toString().endsWith(']}')) break;
    }
    assert.ok(bytes > 100_000, `${bytes} bytes`);
  });
  assert.ok(kept < 50_000, `${kept} bytes of an answer are kept`);
});

test('a body that came long after its head is gone with the next collection, which need not be a full one', async () => {
  // Before the tests whose objects all survive: after these, V8 makes such objects old from the start.
  const collectYoung = () => {
    for (let i = 0; i < 3; i++) collect({ type: 'minor' });
  };
  using heads = countHeads();
  let events = 0;
  // A refusal of all events has a short answer.
  const submit = async (_caller: unknown, given: readonly unknown[]) => {
    events += given.length;
    return given.map(() => refused('overloaded'));
  };
  await using face = await startFace({ group: { submit } });
  const body = JSON.stringify({ events: Array.from({ length: 200 }, () => eventBody()) });
  using sockets = new Sockets();
  const open = async (count: number): Promise<number> => {
    const fresh = Array.from({ length: count }, () => opened(face.port, sockets));
    for (const socket of fresh) socket.write(batchHead(body.length));
    await until(() => heads.count === sockets.length);
    collect();
    collectYoung();
    for (const socket of fresh) {
      socket.write(body);
      await once(socket, 'data');
    }
    collectYoung();
    const { heapUsed } = process.memoryUsage();
    collect();
    return heapUsed - process.memoryUsage().heapUsed;
  };
  await open(5);
  const count = 40;
  const kept = (await open(count)) / count;
  assert.is(events, sockets.length * 200);
  assert.ok(kept < body.length / 2, `${kept} bytes of a body of ${body.length} are kept`);
});

const ways = [
  { way: 'the fast path on the connection', fastPath: true, pieces: 1 },
  { way: 'the fast path behind node:http', fastPath: true, pieces: 2 },
  { way: 'Koa', fastPath: false, pieces: 1 },
];
for (const { way, fastPath, pieces } of ways) {
  test(`nor does one that waits for its commit (${way})`, async () => {
    const { promise: released, resolve: release } = deferred();
    let waiting = 0;
    const submit = acceptAfter(() => {
      waiting += 1;
      return released;
    });
    await using face = await startFace({ fastPath, group: { submit } });
    const paddedBytes = 40_000;
    const body = JSON.stringify({ events: [eventBody()] }).padEnd(paddedBytes);
    using sockets = new Sockets();
    using heads = countHeads();
    try {
      const kept = await keptBytes(10, 60, async () => {
        const socket = opened(face.port, sockets);
        socket.write(batchHead(body.length) + (pieces === 1 ? body : ''));
        if (pieces > 1) {
          await until(() => heads.count === sockets.length);
          socket.write(body);
        }
        await until(() => waiting === sockets.length);
      });
      assert.ok(kept < paddedBytes / 2, `${kept} bytes of a request are kept`);
    } finally {
      release();
    }
  });
}

test('an idle connection retains nothing of the bytes that were read from it', async () => {
  await using face = await startFace();
  const marked = { events: 'none', mark: 'x'.repeat(300_000) };
  const read: WeakRef<object>[] = [];
  const parse = JSON.parse;
  JSON.parse = (...given: Parameters<typeof parse>) => {
    const value: unknown = parse(...given);
    if (typeof value === 'object' && value !== null && 'mark' in value) read.push(new WeakRef(value));
    return value;
  };
  using sockets = new Sockets();
  try {
    for (let i = 0; i < 8; i++) await send(face.port, sockets, Buffer.from(JSON.stringify(marked)));
    assert.is(read.length, sockets.length);
    // The newest stays with the errors that the validator found last.
    await until(() => {
      collect();
      return read.filter((body) => body.deref() !== undefined).length <= 1;
    });
  } finally {
    JSON.parse = parse;
  }
});

test.run();
