import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Endpoints } from '../../../src/http/handlers/endpoints.js';
import { createApplication } from '../../../src/http/koa/app.js';
import type { AnsweringDeps } from '../../../src/http/request/answering.js';

async function serving(deps: AnsweringDeps, ask: (port: number) => Promise<void>): Promise<void> {
  const server = createServer(createApplication({} as Endpoints, deps)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await ask((server.address() as AddressInfo).port);
  } finally {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  }
}

function logTo(note: (level: string) => void): Record<string, () => void> {
  return Object.fromEntries(['debug', 'info', 'warn', 'error'].map((level) => [level, () => note(level)]));
}

/** The levels at which an application logs that its answer failed with this error. */
async function levelsOf(error: Error): Promise<string[]> {
  const levels: string[] = [];
  const log = logTo((level) => levels.push(level));
  const requestAnswered = () => {
    throw error;
  };
  const deps = { log, metrics: { requestAnswered }, isDraining: () => false } as unknown as AnsweringDeps;
  await serving(deps, async (port) => {
    assert.is((await fetch(`http://127.0.0.1:${port}/nowhere`)).status, 404);
  });
  return levels;
}

test('a caller that disconnects is logged for debugging only, any other fault of an answer as an error', async () => {
  for (const code of ['ECONNRESET', 'EPIPE', 'ECONNABORTED']) {
    assert.equal(await levelsOf(Object.assign(new Error('gone'), { code })), ['debug'], code);
  }
  assert.equal(await levelsOf(Object.assign(new Error('full'), { code: 'ENOSPC' })), ['error']);
  assert.equal(await levelsOf(new Error('a fault of ours')), ['error']);
});

const quiet = {
  log: logTo(() => undefined),
  metrics: { requestAnswered: () => undefined },
  isDraining: () => false,
} as unknown as AnsweringDeps;

/** The first bytes of the answer to a request that names two hosts. */
async function answerToTwoHosts(port: number, version: string): Promise<string> {
  const request = `GET / HTTP/${version}\r\nHost: x\r\nHost: y\r\nConnection: keep-alive\r\n\r\n`;
  const socket = connect(port, '127.0.0.1', () => socket.write(request));
  const [said] = await once(socket.setEncoding('utf8'), 'data');
  socket.destroy();
  return String(said);
}

test('a refused target ends a connection of an older version, and no other', async () => {
  await serving(quiet, async (port) => {
    assert.match(await answerToTwoHosts(port, '1.0'), /^HTTP\/1\.1 400 .*^Connection: close/ms);
    assert.match(await answerToTwoHosts(port, '1.1'), /^HTTP\/1\.1 400 .*^Connection: keep-alive/ms);
  });
});

test.run();
