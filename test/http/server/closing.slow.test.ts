/** How a connection ends: a caller that still sends while its last answers are on their way gets all of them. */
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { limits } from '../../../src/limits.js';
import { answersOf } from '../../fuzz/wire.js';
import { startFace, type TestFace } from '../face.js';
import { activeKey, unobserved } from '../group-double.js';

const host = 'Host: x\r\n';
/** More than what the caller's system takes of it unread: the rest waits in that of the node. */
const large = 'GET /api/v1/openapi.json';
const garbage = 'what is no request\r\n\r\n';
const bodyBytes = 4 * limits.batchBodyBytes;
const tooLong = `POST /api/v1/events/batch HTTP/1.1\r\n${host}X-Peer-API-Key: ${activeKey}\r\nContent-Type: application/json\r\nContent-Length: ${bodyBytes}\r\n\r\n`;

/** Too long for a head in one piece: how many of them come is chance. */
const endless = 'A: b\r\n'.repeat(limits.parserHeadBytes / 4);

/**
 * The ways in which a connection ends after a large answer: the bytes sent, the bytes that keep arriving, and the
 * answers.
 */
const endings: readonly (readonly [what: string, sent: string, behind: string, statuses: readonly number[]])[] = [
  ['HTTP/1.0', `${large} HTTP/1.0\r\n\r\n`, garbage, [200]],
  ['Connection: close', `${large} HTTP/1.1\r\n${host}Connection: close\r\n\r\n`, garbage, [200]],
  ['what does not parse', `${large} HTTP/1.1\r\n${host}\r\n`, garbage, [200, 400]],
  ['a head without end', `${large} HTTP/1.1\r\n${host}\r\nGET / HTTP/1.1\r\n`, endless, [200, 431]],
  ['a body that is too long', `${large} HTTP/1.1\r\n${host}\r\n${tooLong}`, 'x'.repeat(bodyBytes / 100), [200, 413]],
];

/** Longer than until the first look at what rests when a face is drained, and shorter than the node lingers. */
const sendingMs = limits.connectionsCheckingIntervalMs + 200;

/**
 * All that comes back to one that goes on sending for a while before it reads anything. `since`: from when that while
 * counts, by `performance.now()`, infinite until then; from its first word where absent.
 */
async function readsLate(port: number, sent: string, behind: string, since?: () => number): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.pause();
  // Its own half fails where the node has closed the connection: the rest of what was to be read is lost by that.
  socket.on('error', () => {});
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.write(sent);
  const startedAt = performance.now();
  while (performance.now() < (since?.() ?? startedAt) + sendingMs) {
    if (socket.writable) socket.write(behind);
    await delay(10);
  }
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.end();
  socket.resume();
  await closed;
  return Buffer.concat(chunks).toString('latin1');
}

const statusesOf = (text: string): number[] => answersOf(text, []).map(({ status }) => status);

for (const fastPath of [true, false]) {
  test(`a caller that sends on after the last answer and reads late gets every answer (fast path ${fastPath})`, async () => {
    await using face = await startFace({ fastPath });
    const texts = await Promise.all(endings.map(([, sent, behind]) => readsLate(face.port, sent, behind)));
    for (const [place, [what, , , statuses]] of endings.entries())
      assert.equal(statusesOf(texts[place]!), statuses, what);
  });

  test(`who sends on while the node ends, and reads late, has every answer (fast path ${fastPath})`, async () => {
    let drained: Promise<void> | undefined;
    let drainedSince = Number.POSITIVE_INFINITY;
    const requestAnswered = () => {
      drained ??= face.drain();
      drainedSince = Math.min(drainedSince, performance.now());
    };
    const metrics = { ...unobserved, requestAnswered };
    const face: TestFace = await startFace({ fastPath, metrics });
    const sent = `${large} HTTP/1.1\r\n${host}\r\nGET / HTTP/1.1\r\n`;
    // Not from its first word on: a node that was slow to answer would look at what rests only after it had gone.
    const text = await readsLate(face.port, sent, 'A', () => drainedSince);
    assert.equal(statusesOf(text), [200]);
    await drained;
  });

  test(`a caller that reads none of its answers does not prevent a clean stop (fast path ${fastPath})`, async () => {
    const face = await startFace({ fastPath });
    const socket = connect({ port: face.port, host: '127.0.0.1' });
    socket.pause();
    socket.on('error', () => {});
    // 23 MB, far more than the two systems keep of a connection.
    await new Promise((resolve) => socket.write(`${large} HTTP/1.1\r\n${host}\r\n`.repeat(200), resolve));
    assert.is((await fetch(`${face.url}/api/v1/health`)).status, 200);
    const startedAt = performance.now();
    await face.drain();
    assert.ok(performance.now() - startedAt < limits.shutdownMs, 'a node ends by itself before it is ended');
    socket.destroy();
  });

  test(`a caller that never stops sending after the last answer is disconnected (fast path ${fastPath})`, async () => {
    await using face = await startFace({ fastPath });
    const ask = async (everyMs: number, piece: string): Promise<void> => {
      const socket = connect({ port: face.port, host: '127.0.0.1', allowHalfOpen: true });
      socket.on('error', () => {}).resume();
      const closed = new Promise((resolve) => socket.once('close', resolve));
      socket.write(`${large} HTTP/1.0\r\n\r\n`);
      const more = setInterval(() => socket.writable && socket.write(piece), everyMs);
      await closed;
      clearInterval(more);
    };
    // By the time it takes, and by its bytes.
    await Promise.all([ask(50, 'x'), ask(1, 'x'.repeat(limits.lingerBytes / 8))]);
  });
}

test.run();
