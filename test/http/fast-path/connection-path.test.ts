/** Answers of a connection of the fast path, as they leave. */
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { routes } from '../../../src/contract/routes.js';
import type { HttpDeps } from '../../../src/http/deps.js';
import { createConnectionPath } from '../../../src/http/fast-path/fast-path.js';
import { okJson } from '../../../src/http/request/reply.js';

test('the answers to the requests of one read leave in one write, in their order', async () => {
  const writes: string[] = [];
  const duplex = new Duplex({ read() {}, write: (chunk, _, taken) => taken(void writes.push(String(chunk))) });
  const socket = Object.assign(duplex, { setTimeout: () => socket }) as unknown as Socket;
  let answered = 0;
  const fastRoute = { endpoint: { route: routes.getTrustScores, answer: () => okJson(`${++answered}`) }, captures: [] };
  const deps = { log: pino({ level: 'silent' }), metrics: { requestAnswered() {} }, isDraining: () => false };
  createConnectionPath(() => fastRoute, deps as unknown as HttpDeps & typeof deps).open(socket, () =>
    assert.unreachable(),
  );
  duplex.push('GET /api/v1/trust-scores?ids=a HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(3));
  await new Promise(setImmediate);
  const bodies = (text: string) => text.split('HTTP/1.1 200').flatMap((one) => one.split('\r\n\r\n')[1] ?? []);
  assert.equal(writes.map(bodies), [['1', '2', '3']]);
});

test.run();
