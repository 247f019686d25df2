/**
 * Real connections that do not open, or that are all taken: what a call may take holds all the same.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bounds } from '../../../src/client/bounds.js';
import { addressOf, isUnsent, messageOf, poolTransport } from '../../../src/client/transport/pool-transport.js';
import { TrustClient } from '../../../src/client/trust-client.js';
import { EventSpool } from '../../../src/client/write/spool/event-spool.js';
import { temporaryFolder } from '../../support/process.js';

/** Takes connections and never says a word, so that TLS is not agreed on and no request is answered. */
let server: Server;
const sockets = new Set<Socket>();
test.before(async () => {
  server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
test.after(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
});

const peerId = '3f0a1c52-9d1e-4f0b-8a77-0c5d1b2e4f60';
const event = { eventType: 'report_spam', playerId: 'p', gameId: 'g', severity: 0.5 } as const;
/**
 * undici gives a connection up after 10 s, and the writes of these tests take longer: what ends before this waited for
 * neither.
 */
const soonMs = 5_000;

async function took(work: Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work.catch(() => undefined);
  return performance.now() - from;
}

const clientTo = (scheme: string) => {
  const url = `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return new TrustClient({ url, peerId, transport: poolTransport(url), attemptMs: 60_000, deadlineMs: 60_000 });
};

test(`budget, signal and close hold while a connection does not open`, async () => {
  const client = clientTo('https');
  const feed = client.follow();
  const folder = temporaryFolder();
  const spool = await EventSpool.open({ folder, to: client });
  await spool.add(event);
  const [read = 0, write = 0] = await Promise.all([
    took(client.score('p')),
    took(client.submit(event, { signal: AbortSignal.timeout(50) })),
  ]);
  assert.ok(read < soonMs, `the read took ${read} ms`);
  assert.ok(write < soonMs, `the write took ${write} ms`);
  const end = await took(Promise.all([feed.close(), spool.close()]).then(() => client.close()));
  assert.ok(end < soonMs, `the end took ${end} ms`);
});

test(`a read keeps its budget while every connection is in use`, async () => {
  const client = clientTo('http');
  const given = new AbortController();
  // A signal of its own for each: the platform warns of more than ten listeners on one.
  const writes = Array.from({ length: 2 * bounds.connections }, () =>
    client.submit(event, { signal: AbortSignal.any([given.signal]) }).catch(() => undefined),
  );
  const read = await took(client.score('p'));
  assert.ok(read < soonMs, `the read took ${read} ms`);
  given.abort();
  const end = await took(Promise.all(writes).then(() => client.close()));
  assert.ok(end < soonMs, `the end took ${end} ms`);
});

test('an error shows that nothing was sent by its code, its cause, or each of its attempts', () => {
  const of = (code: string, cause?: unknown) => Object.assign(new Error('', { cause }), { code });
  const refused = of('ECONNREFUSED');
  const unsent = [
    refused,
    of('OTHER', refused),
    new Error('text', { cause: refused }),
    new AggregateError([refused, refused]),
  ];
  const sent = [
    of('ECONNRESET'),
    'ECONNREFUSED',
    null,
    new AggregateError([]),
    new AggregateError([refused, of('OTHER')]),
  ];
  assert.equal(unsent.map(isUnsent), [true, true, true, true]);
  assert.equal(sent.map(isUnsent), [false, false, false, false, false]);
  assert.equal([new Error('text'), refused, new TypeError(), 'a string'].map(messageOf), [
    'text',
    'ECONNREFUSED',
    'TypeError',
    'a string',
  ]);
});

test('the path of an address precedes the paths of the contract, without its last slashes', () => {
  assert.equal(addressOf('http://node:8080'), { origin: 'http://node:8080', prefix: '' });
  assert.equal(addressOf('https://node/trust/a//'), { origin: 'https://node', prefix: '/trust/a' });
});

test.run();
