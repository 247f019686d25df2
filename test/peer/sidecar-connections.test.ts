/** Connections to a sidecar's local server: idle ones give way, whoever holds them. */
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bounds } from '../../src/client/bounds.js';
import { startLocalServer } from '../../src/peer/sidecar/local-server.js';
import type { Sidecar } from '../../src/peer/sidecar/sidecar.js';
import { until } from '../support/until.js';

const token = 'a-token-of-the-test-that-is-long-enough';

/** A server whose answers about a player wait until `answer`. `waiting`: how many do. */
async function startServer() {
  const answers: ((_: object) => void)[] = [];
  const sidecar = {
    status: { state: 'ok' },
    player: () => new Promise((resolve) => answers.push(resolve)),
  } as unknown as Sidecar;
  const options = {
    sidecar,
    token,
    pathSecret: null,
    gameIds: [],
    host: '127.0.0.1',
    port: 0,
    socketPath: undefined,
    log: () => {},
  };
  const server = await startLocalServer(options);
  const get = (path: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}` };
      request({ port: server.port, path, headers, agent: false }, (response) => {
        response.resume().once('end', () => resolve(response.statusCode));
      })
        .once('error', reject)
        .end();
    });
  const sockets: Socket[] = [];
  return {
    get,
    sockets,
    waiting: () => answers.length,
    answer: () => {
      for (const resolve of answers.splice(0)) resolve({});
    },
    closed: () => sockets.filter(({ destroyed }) => destroyed).length,
    /** Resolves once so many connections are established, all at the same time. */
    connect: (count: number) => {
      const added = Array.from({ length: count }, () => connect(server.port, '127.0.0.1').on('error', () => {}));
      sockets.push(...added);
      return Promise.all(added.map((socket) => new Promise((resolve) => socket.once('connect', resolve))));
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await server.close();
    },
  };
}

test('300 idle connections shut out no caller, and a call in progress is never closed for another', async () => {
  const { get, connect, answer, waiting, closed, close } = await startServer();
  try {
    const slow = get('/v1/players/steam:1');
    await until(() => waiting() > 0);
    for (let i = 0; i < 300; i++) await connect(1);
    const statuses = await Promise.all(Array.from({ length: 60 }, () => get('/v1/status')));
    assert.equal(new Set(statuses), new Set([200]));
    answer();
    assert.is(await slow, 200);
    await until(() => closed() >= 300 - bounds.sidecarConnections);
  } finally {
    await close();
  }
});

test('connections that come at once close as many idle ones as exceed the bound, the longest idle first', async () => {
  const { sockets, connect, closed, close } = await startServer();
  try {
    await connect(10);
    // Those that left count no more.
    for (const socket of sockets.splice(0)) socket.destroy();
    for (let i = 0; i < bounds.sidecarConnections; i++) await connect(1);
    await connect(40);
    await until(() => closed() >= 40);
    assert.equal([closed(), sockets.findLastIndex(({ destroyed }) => destroyed)], [40, 39]);
  } finally {
    await close();
  }
});

test('a connection is idle again once its call is answered', async () => {
  const { sockets, connect, closed, close } = await startServer();
  try {
    await connect(bounds.sidecarConnections);
    const answers = sockets.map((socket) => new Promise((resolve) => socket.once('data', resolve)));
    for (const socket of sockets) socket.write('GET /v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await Promise.all(answers);
    await connect(1);
    await until(() => closed() >= 1);
    assert.is(sockets.at(-1)?.destroyed, false);
  } finally {
    await close();
  }
});

test('a connection beyond the bound is closed itself while calls are in progress on all others', async () => {
  const { get, sockets, connect, answer, waiting, close } = await startServer();
  try {
    const calls = Array.from({ length: bounds.sidecarConnections }, () => get('/v1/players/steam:1'));
    await until(() => waiting() === calls.length);
    for (let i = 0; i < 3; i++) await connect(1);
    await until(() => sockets.every(({ destroyed }) => destroyed));
    answer();
    assert.equal(new Set(await Promise.all(calls)), new Set([200]));
    assert.is(await get('/v1/status'), 200);
  } finally {
    await close();
  }
});

test.run();
