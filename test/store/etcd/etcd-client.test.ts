/** The client of etcd against members that hang or refuse. Closing it ends every call. */
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { Server, ServerCredentials, status } from '@grpc/grpc-js';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { SharedLogUnavailableError } from '../../../src/group/ports/shared-log.js';
import { limits } from '../../../src/limits.js';
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

/** A member that answers each read with a status code. */
async function answering(codeOf: () => status) {
  const member = new Server();
  const bytes = { serialize: (value: Buffer) => value, deserialize: (value: Buffer) => value };
  const method = {
    path: '/etcdserverpb.KV/Range',
    requestStream: false,
    responseStream: false,
    requestSerialize: bytes.serialize,
    requestDeserialize: bytes.deserialize,
    responseSerialize: bytes.serialize,
    responseDeserialize: bytes.deserialize,
  } as const;
  let calls = 0;
  member.addService(
    { range: method },
    {
      range: (_call: unknown, answer: (error: object | null, value?: Buffer) => void) => {
        calls += 1;
        const code = codeOf();
        if (code === status.OK) answer(null, Buffer.alloc(0));
        else answer({ code, details: 'refused by the test' });
      },
    },
  );
  const port = await new Promise<number>((resolve, reject) => {
    member.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) => {
      if (error === null) resolve(bound);
      else reject(error);
    });
  });
  return { url: `http://127.0.0.1:${port}`, calls: () => calls, stop: () => member.forceShutdown() };
}

test('an outage of a member is met at the next one, and any other error is the answer', async () => {
  let code = status.OK;
  const members = [await answering(() => code), await answering(() => status.OK)];
  const endpoints = members.map(({ url }) => url);
  const settings = { endpoints, ca: null, cert: null, key: null, username: null, password: null };
  const client = new EtcdClient(settings);
  const outages = [
    status.UNAVAILABLE,
    status.DEADLINE_EXCEEDED,
    status.CANCELLED,
    status.INTERNAL,
    status.UNKNOWN,
    status.ABORTED,
  ];
  try {
    for (code = status.OK; code <= status.UNAUTHENTICATED; code += 1) {
      const before = members[1]!.calls();
      client.prefer(0);
      const cause = await causeOf(client.range({ key: Buffer.from('a') }, 60_000));
      const isMet = code === status.OK || outages.includes(code);
      assert.is(cause === null ? status.OK : (cause as { code?: status }).code, isMet ? status.OK : code, status[code]);
      assert.is(members[1]!.calls() - before, outages.includes(code) ? 1 : 0, status[code]);
    }
  } finally {
    client.close();
    for (const { stop } of members) stop();
  }
});

test('an outage of every member is one of the shared log once the time of the call is over', async () => {
  const members = [await answering(() => status.UNAVAILABLE), await answering(() => status.UNAVAILABLE)];
  const endpoints = members.map(({ url }) => url);
  const client = new EtcdClient({ endpoints, ca: null, cert: null, key: null, username: null, password: null });
  try {
    const cause = await causeOf(client.range({ key: Buffer.from('a') }, 3 * limits.etcdRetryMs));
    assert.instance(cause, SharedLogUnavailableError);
    for (const { calls } of members) assert.ok(calls() > 0);
  } finally {
    client.close();
    for (const { stop } of members) stop();
  }
});

test.run();
