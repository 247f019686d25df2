import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createApplication } from '../../../src/http/koa/app.js';
import type { Endpoints } from '../../../src/http/koa/endpoints.js';
import type { AnsweringDeps } from '../../../src/http/request/answering.js';

/** The levels at which an application logs that its answer failed with this error. */
async function levelsOf(error: Error): Promise<string[]> {
  const levels: string[] = [];
  const log = Object.fromEntries(['debug', 'info', 'warn', 'error'].map((name) => [name, () => levels.push(name)]));
  const requestAnswered = () => {
    throw error;
  };
  const deps = { log, metrics: { requestAnswered }, isDraining: () => false } as unknown as AnsweringDeps;
  const server = createServer(createApplication({} as Endpoints, deps)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/nowhere`);
  assert.is(answer.status, 404);
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
  return levels;
}

test('a caller that disconnects is logged for debugging only, any other fault of an answer as an error', async () => {
  for (const code of ['ECONNRESET', 'EPIPE', 'ECONNABORTED']) {
    assert.equal(await levelsOf(Object.assign(new Error('gone'), { code })), ['debug'], code);
  }
  assert.equal(await levelsOf(Object.assign(new Error('full'), { code: 'ENOSPC' })), ['error']);
  assert.equal(await levelsOf(new Error('a fault of ours')), ['error']);
});

test.run();
