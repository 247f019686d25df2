/** The operator's socket over time: work that takes longer than a request may, and its end. */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { refused } from '../../../src/errors.js';
import type { OperatorApi } from '../../../src/group/api.js';
import { limits } from '../../../src/limits.js';
import { callNode, OperatorError } from '../../../src/operator/cli/node-client.js';
import { rejectionAs } from '../../store/log-contract.js';
import { deferred } from '../../support/deferred.js';
import { temporaryFolder } from '../../support/process.js';
import { recordedGroup } from '../recorded-group.js';
import { serveOperator } from '../run-here.js';

let folder = '';

test.before.each(() => {
  folder = temporaryFolder();
});

const rejection = (promise: Promise<unknown>) => rejectionAs(OperatorError, promise);

test('closing does not wait for a verification, and its asker learns that the outcome is unknown', async () => {
  const { promise: waiting, resolve: asked } = deferred();
  const verify: OperatorApi['verify'] = () => {
    asked();
    return new Promise(() => {});
  };
  const socket = await serveOperator(folder, recordedGroup(0, { verify }).group);
  const asking = rejection(callNode(folder, 'verify', {}));
  await waiting;
  await socket.close();
  assert.is((await asking).code, 'no_answer');
});

/** Listens where a node would. */
async function listening(onSocket: (socket: Socket) => void): Promise<Server> {
  const server = createServer(onSocket);
  await once(server.listen(join(folder, 'operator.sock')), 'listening');
  return server;
}

test('long work fails if no process answers, as in a node that was stopped by a signal', async () => {
  const held: Socket[] = [];
  const mute = await listening((socket) => held.push(socket));
  const error = await rejection(callNode(folder, 'verify', {}));
  for (const socket of held) socket.destroy();
  mute.close();
  assert.is(error.code, 'no_answer');
});

test('long work without progress reports is waited for once it was accepted', async () => {
  const work = async () => {
    await setTimeout(limits.requestTimeoutMs + 1_000);
    return refused('overloaded');
  };
  const socket = await serveOperator(folder, recordedGroup(1, { verify: work, exportSubject: work }).group);
  const asked = [callNode(folder, 'verify', {}), callNode(folder, 'subject-export', { subject_hash: '5f'.repeat(32) })];
  for (const { code } of await Promise.all(asked.map(rejection))) assert.is(code, 'overloaded');
  await socket.close();
});

test('an answer of one long line is read in a time that grows with its length, not with the square', async () => {
  let length = 0;
  const long = await listening((socket) => {
    const body = `{"ok":true,"value":{"text":"${'x'.repeat(length)}"}}`;
    socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  });
  const cpuMsOf = async (bytes: number): Promise<number> => {
    length = bytes;
    const before = process.cpuUsage();
    await callNode(folder, 'verify', {});
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
  await cpuMsOf(1e6);
  const small = Math.min(await cpuMsOf(8e6), await cpuMsOf(8e6));
  const large = await cpuMsOf(64e6);
  long.close();
  assert.ok(large < 24 * small, `${large} ms after ${small} ms`);
});

test.run();
