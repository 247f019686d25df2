/** The client of etcd against members that hang: closing it ends every call. */
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { SharedLogUnavailableError } from '../../../src/group/ports/shared-log.js';
import { EtcdClient } from '../../../src/store/etcd/etcd-client.js';

const sockets = new Set<Socket>();
const server = createServer((socket) => {
  sockets.add(socket);
  socket.on('error', () => undefined);
});

async function hanging(): Promise<EtcdClient> {
  if (!server.listening) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  }
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no address');
  const endpoints = [`http://127.0.0.1:${address.port}`];
  return new EtcdClient({ endpoints, ca: null, cert: null, key: null, username: null, password: null });
}

const causeOf = (call: Promise<unknown>) =>
  call.then(
    () => null,
    (error: unknown) => error,
  );

test.after(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
});

test('closing the client ends the calls under way, however much time they have left', async () => {
  const client = await hanging();
  const calls = [
    client.range({ key: Buffer.from('a') }, 3_600_000),
    client.keepAlive('7', 3_600_000),
    client.defragment(0),
    client.status(0),
  ].map(causeOf);
  const watched = new Promise((ended) =>
    client.watch({ key: Buffer.from('a'), rangeEnd: Buffer.from('b'), revision: '1' }, () => undefined, ended),
  );
  await new Promise((resolve) => setImmediate(resolve));
  client.close();
  for (const cause of await Promise.all(calls)) assert.instance(cause, SharedLogUnavailableError);
  await watched;
});

test('a closed client refuses every call', async () => {
  const client = await hanging();
  client.close();
  assert.instance(
    await causeOf(client.put({ key: Buffer.from('a'), value: Buffer.from('b') })),
    SharedLogUnavailableError,
  );
  assert.instance(await causeOf(client.defragment(0)), SharedLogUnavailableError);
});

test.run();
