/** The bounds of connections: unread answers, late requests, pipelines. `arriving.test.ts` has those of bodies. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Arrived, ConnectionGuard, type GuardBounds } from '../../../src/http/server/connection-guard.js';
import { limits } from '../../../src/limits.js';
import { until } from '../../support/until.js';

const nothing: Arrived = { request: undefined, complete: false };

/** Time that stands still until `pass`. */
class ManualTime {
  #now = 0;
  #due: { readonly at: number; readonly run: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): void {
    this.#due.push({ at: this.#now + ms, run });
  }

  /** Lets `ms` pass, a millisecond at a time. */
  pass(ms: number): void {
    for (const end = this.#now + ms; this.#now < end; ) {
      this.#now += 1;
      const due = this.#due.filter(({ at }) => at <= this.#now);
      this.#due = this.#due.filter(({ at }) => at > this.#now);
      for (const { run } of due) run();
    }
  }
}

function guarded(bounds: Partial<GuardBounds> = {}) {
  const time = new ManualTime();
  const ended: unknown[] = [];
  const seen = { arrived: nothing };
  const end = (socket: unknown, code: string) => {
    assert.is(code, 'request_timeout');
    ended.push(socket);
  };
  const guard = new ConnectionGuard({ arrivedOn: () => seen.arrived, end }, { ...limits, ...bounds }, time);
  const open = () => {
    const socket = new Socket();
    guard.watch(socket);
    guard.watchParsed(socket);
    return socket;
  };
  return { time, ended, seen, guard, open };
}

/** A connection that was reported as late when `arrived` had come. */
function late(arrived: Arrived) {
  const one = guarded();
  one.seen.arrived = arrived;
  const socket = one.open();
  one.guard.reportLate(socket);
  return { ...one, socket };
}

const longMs = 10 * (limits.headersTimeoutMs + limits.requestTimeoutMs);

const arrivedWith = (complete: boolean): Arrived => ({ request: { complete }, complete });

test('a connection whose request is as late as it was reported is ended once, in its turn', () => {
  const { time, ended, socket } = late(nothing);
  assert.equal(ended, []);
  time.pass(1);
  assert.equal(ended, [socket]);
  time.pass(longMs);
  assert.is(ended.length, 1);
});

test('a request that arrived completely before its turn, or in the time of a request, is left alone', () => {
  const early = late(nothing);
  early.seen.arrived = arrivedWith(true);
  early.time.pass(longMs);
  const inTime = late(nothing);
  const request = { complete: false };
  inTime.seen.arrived = { request, complete: false };
  inTime.time.pass(limits.requestTimeoutMs / 2);
  inTime.seen.arrived = { request, complete: true };
  inTime.time.pass(longMs);
  const closed = late(nothing);
  closed.socket.destroy();
  closed.time.pass(longMs);
  assert.equal([early.ended, inTime.ended, closed.ended], [[], [], []], 'and so is one that is closed');
});

test('a head that came before its turn has the time of a request for its body, and is ended after it', () => {
  const { time, ended, seen } = late(nothing);
  seen.arrived = arrivedWith(false);
  time.pass(limits.requestTimeoutMs);
  assert.equal(ended, []);
  time.pass(2);
  assert.is(ended.length, 1);
});

// Found on a busy machine: a head that was cut where reading stopped was called late in the moment in which it was read
// from again.
test('a caller that was not read from until now is not late, and has the time limit of a head', () => {
  const { time, ended, guard, open } = guarded();
  const socket = open();
  socket.pause();
  guard.reportLate(socket);
  time.pass(10 * limits.headersTimeoutMs);
  assert.equal(ended, [], 'it is not read from');
  socket.resume();
  socket.emit('resume');
  const before = time.now();
  while (ended.length === 0) time.pass(1);
  assert.ok(time.now() - before >= limits.headersTimeoutMs, `${time.now() - before} ms`);
  assert.ok(time.now() - before <= 2 * limits.headersTimeoutMs + 2, `${time.now() - before} ms`);
});

test('late connections are ended in order, a few in each millisecond, also those reported meanwhile', () => {
  const { time, ended, guard, open } = guarded();
  const sockets = Array.from({ length: 5 * limits.connectionsEndedPerMs + 1 }, open);
  for (const socket of sockets) guard.reportLate(socket);
  assert.equal(ended, []);
  for (let ms = 1; ended.length < sockets.length; ms++) {
    time.pass(1);
    assert.is(ended.length, Math.min(sockets.length, ms * limits.connectionsEndedPerMs));
    if (ms > 3) continue;
    sockets.push(open());
    guard.reportLate(sockets.at(-1)!);
  }
  assert.ok(ended.every((socket, i) => socket === sockets[i]));
});

test('more connections are ended in a millisecond if very many are late', () => {
  const { time, ended, guard, open } = guarded({ connectionsEndedTurns: 8 });
  for (let i = 0; i < 80; i++) guard.reportLate(open());
  time.pass(1);
  assert.is(ended.length, 10);
});

/** The port of a server of this process. */
async function listening(server: Server) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

test('a caller that reads nothing of its answers for too long is disconnected, unless it reads some', async () => {
  const { time, guard } = guarded();
  const sockets: Socket[] = [];
  const server = createServer();
  server.on('connection', (socket) => sockets.push(socket));
  const port = await listening(server);
  const callers = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
  try {
    for (const caller of callers) caller.pause();
    await until(() => sockets.length === 2);
    for (const socket of sockets) {
      guard.watch(socket);
      socket.write(Buffer.alloc(16 * 2 ** 20));
    }
    await until(() => sockets.every((socket) => socket.writableLength > 0));
    guard.endUnread();
    time.pass(limits.unreadTimeoutMs - 1);
    guard.endUnread();
    assert.not(sockets.some(({ destroyed }) => destroyed));
    const reader = callers.find(({ localPort }) => localPort === sockets[0]?.remotePort)!;
    reader.resume();
    await until(() => sockets[0]?.writableLength === 0);
    guard.endUnread();
    time.pass(1);
    guard.endUnread();
    assert.equal(
      sockets.map(({ destroyed }) => destroyed),
      [false, true],
    );
  } finally {
    for (const caller of callers) caller.destroy();
    server.close();
  }
});

test('at the end of a drain connections with unread answers are closed, and no others', () => {
  const { guard, open } = guarded();
  const [read, unread] = [open(), open()];
  Object.defineProperty(unread, 'writableLength', { value: 1 });
  guard.dropUnread();
  assert.equal([read.destroyed, unread.destroyed], [false, true]);
});

// Found on a busy machine: each event that a pipelined flood wrote let its connection flow while it was on its way to
// the disk.
test('a connection with many waiting requests is not read from, even if it is resumed', async () => {
  const { guard } = guarded();
  const requests: IncomingMessage[] = [];
  const server = createServer((request) => requests.push(request));
  server.on('connection', (socket) => {
    guard.watch(socket);
    guard.watchParsed(socket);
  });
  const port = await listening(server);
  const client = connect(port, '127.0.0.1');
  const send = () => client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  // The server reads what arrived before: two further connections, one after the other, pass through its event loop.
  const othersWereRead = async () => {
    for (let i = 0; i < 2; i++) {
      const other = connect(port, '127.0.0.1').resume();
      other.end('no request\r\n\r\n');
      await once(other, 'close');
    }
  };
  try {
    send();
    await until(() => requests.length === 1);
    const socket = requests[0]?.socket as Socket;
    for (let i = 0; i < limits.pipelinedPerConnection; i++) assert.ok(guard.enqueue({ socket, headers: {} }));
    assert.ok(socket.isPaused());
    // As who drops a body does; and as who begins to read one that stops it at once: its socket says that it flows
    // though it does not.
    for (const flow of [() => socket.resume(), () => socket.resume().pause()]) {
      flow();
      send();
      await othersWereRead();
      assert.is(requests.length, 1);
    }
    for (let i = 0; i < limits.pipelinedPerConnection / 2; i++) guard.dequeue({ socket, headers: {} });
    await until(() => requests.length === 3);
  } finally {
    client.destroy();
    server.close();
  }
});

test('waiting bodies take the places of many requests, up to the content of one read', () => {
  const { guard, open } = guarded();
  const socket = open();
  const request = { socket, headers: { 'content-length': String(10 * limits.pipelinedPlaceBytes) } };
  for (let i = 0; i < Math.floor(limits.pipelinedMax / 11); i++) assert.ok(guard.enqueue(request));
  const large = { socket, headers: { 'transfer-encoding': 'chunked' } };
  assert.ok(guard.enqueue(large));
  assert.not.ok(guard.enqueue({ socket, headers: {} }));
  guard.dequeue(large);
  assert.ok(guard.enqueue({ socket, headers: {} }));
});

test('a connection that ends leaves its places to the others', async () => {
  const { guard, open } = guarded();
  const [gone, other] = [open(), open()];
  while (guard.enqueue({ socket: gone, headers: {} }));
  assert.not.ok(guard.enqueue({ socket: other, headers: {} }));
  gone.destroy();
  await once(gone, 'close');
  for (let i = 0; i < limits.pipelinedMax; i++) assert.ok(guard.enqueue({ socket: other, headers: {} }));
  assert.not.ok(guard.enqueue({ socket: other, headers: {} }));
});

test.run();
