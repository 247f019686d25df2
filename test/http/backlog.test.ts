import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Backlog } from '../../src/http/backlog.js';
import { limits } from '../../src/limits.js';
import { until } from '../support/until.js';

// Found on a busy machine: each event that a pipelined flood wrote let its connection flow while it was on its way to the disk.
test('a connection with many that wait is not read from, whoever lets it flow', async () => {
  const backlog = new Backlog();
  const requests: IncomingMessage[] = [];
  const server = createServer((request) => requests.push(request));
  server.on('connection', (socket) => backlog.watch(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const send = () => client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  try {
    send();
    await until(() => requests.length === 1);
    const socket = requests[0]?.socket as Socket;
    for (let i = 0; i < limits.pipelinedPerConnection; i++) assert.ok(backlog.add({ socket, headers: {} }));
    assert.ok(socket.isPaused());
    // As who drops a body does; and as who begins to read one that stops it at once: its socket says that it flows though it does not.
    for (const flow of [() => socket.resume(), () => socket.resume().pause()]) {
      flow();
      send();
      await delay(100);
      assert.is(requests.length, 1);
    }
    for (let i = 0; i < limits.pipelinedPerConnection / 2; i++) backlog.take({ socket, headers: {} });
    await until(() => requests.length === 3);
  } finally {
    client.destroy();
    server.close();
  }
});

test('bodies that wait take the places of many requests, up to what one read brings', () => {
  const backlog = new Backlog();
  const socket = new Socket();
  const kept = { socket, headers: { 'content-length': String(10 * limits.pipelinedPlaceBytes) } };
  for (let i = 0; i < Math.floor(limits.pipelinedMax / 11); i++) assert.ok(backlog.add(kept));
  const large = { socket, headers: { 'transfer-encoding': 'chunked' } };
  assert.ok(backlog.add(large));
  assert.not.ok(backlog.add({ socket, headers: {} }));
  backlog.take(large);
  assert.ok(backlog.add({ socket, headers: {} }));
});

test('a connection that ends leaves its places to the others', async () => {
  const backlog = new Backlog();
  const [gone, other] = [new Socket(), new Socket()];
  backlog.watch(gone);
  while (backlog.add({ socket: gone, headers: {} }));
  assert.not.ok(backlog.add({ socket: other, headers: {} }));
  gone.destroy();
  await once(gone, 'close');
  for (let i = 0; i < limits.pipelinedMax; i++) assert.ok(backlog.add({ socket: other, headers: {} }));
  assert.not.ok(backlog.add({ socket: other, headers: {} }));
});

test.run();
