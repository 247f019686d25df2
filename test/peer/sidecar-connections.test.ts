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

test('300 idle connections shut out no caller, and a call in progress is never closed for another', async () => {
  let answered = (_: object): void => {};
  const sidecar = {
    status: { state: 'ok' },
    player: () =>
      new Promise((resolve) => {
        answered = resolve;
      }),
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
  try {
    const slow = get('/v1/players/steam:1');
    const before = answered;
    await until(() => answered !== before);
    for (let i = 0; i < 300; i++) {
      const socket = connect(server.port, '127.0.0.1').on('error', () => {});
      sockets.push(socket);
      await new Promise((resolve) => socket.once('connect', resolve));
    }
    const statuses = await Promise.all(Array.from({ length: 60 }, () => get('/v1/status')));
    assert.equal(new Set(statuses), new Set([200]));
    answered({});
    assert.is(await slow, 200);
    await until(() => sockets.filter(({ destroyed }) => destroyed).length >= 300 - bounds.sidecarConnections);
  } finally {
    for (const socket of sockets) socket.destroy();
    await server.close();
  }
});

test.run();
