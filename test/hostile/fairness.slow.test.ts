/**
 * Callers that take all the room they can get, against a node of its own process: everybody else is served as before.
 * Each test states how much of what a victim asks succeeds; the latencies are printed, not judged. HOSTILE_SECONDS is
 * how long the victim is watched.
 */
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type Attack,
  attackEvent,
  floodOfBatches,
  halfBatches,
  idleConnections,
  keepOpen,
  verdictStreams,
} from '../../bench/load/attackers.js';
import { type Credentials, gameId } from '../../bench/load/requests.js';
import { limits } from '../../src/limits.js';
import { ask } from '../http/exchange.js';
import { registerPeer } from '../http/peer-client.js';
import { eventBody } from '../http/samples.js';
import { digestOf, newSigningKey } from '../http/signing/signer.js';
import { figures, quantile, success, type VictimOptions, watchVictim, withNode } from './victim.js';

const watchedMs = Number(process.env.HOSTILE_SECONDS ?? 4) * 1000;
/** The share of successful requests that a victim is promised under each of these attacks. */
const successMin = 0.99;
/** Several times the median behind a pipeline on a busy machine; without turns it was three to fourteen seconds. */
const standstillMs = 1_000;

async function register(url: string): Promise<Credentials> {
  const { peerId, key } = await registerPeer(url, 'Peer', [gameId]);
  return { peerId, apiKey: key };
}

interface Scene {
  readonly port: number;
  readonly url: string;
  readonly attacker: Credentials;
}

/**
 * Registers a test: `victim` is watched alone, then while `attack` lasts. By default it sends events. Its median must
 * stay below `medianMaxMs`.
 */
function testAttack(
  name: string,
  attack: (scene: Scene) => Promise<Attack[]>,
  victimOf: (peer: Credentials) => Partial<VictimOptions> = () => ({}),
  { medianMaxMs = Number.POSITIVE_INFINITY, env = {} } = {},
): void {
  test(name, () =>
    withNode(env, async ({ url }, port) => {
      const [attacker, peer] = [await register(url), await register(url)];
      const victim = { port, request: event(peer), expects: 'HTTP/1.1 201', everyMs: 50, ...victimOf(peer) };
      const watch = (mark: string) =>
        watchVictim({ ...victim, request: victim.request.replaceAll('#', mark) }, () => delay(watchedMs));
      const before = await watch('b');
      const attacks = await attack({ port, url, attacker });
      const during = await watch('d');
      const got = attacks.map(({ statuses, opened }) => {
        return `${[...statuses].map(([status, count]) => `${count} x ${status}`).join(', ')} on ${opened()} connections`;
      });
      for (const { end } of attacks) await end();
      process.stdout.write(
        `\nNOTE: ${name}: ${figures(before)} before, ${figures(during)} during; the attack got ${got.join('; ')}\n`,
      );
      assert.ok(success(before) === 1, `before: ${figures(before)}`);
      assert.ok(success(during) >= successMin, `during: ${figures(during)}`);
      const medianMs = quantile(during.latenciesMs, 0.5);
      assert.ok(medianMs < medianMaxMs, `the median was ${medianMs} ms`);
    }),
  );
}

function post(path: string, { apiKey }: Credentials, body: string): string {
  // `@` becomes eight digits.
  const length = body.length + 7 * (body.split('@').length - 1);
  return `POST ${path} HTTP/1.1\r\nHost: x\r\nX-Peer-API-Key: ${apiKey}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`;
}

const event = (peer: Credentials): string => post('/api/v1/events', peer, attackEvent(peer, '#-@'));

function batch(peer: Credentials, events = 50): string {
  const texts = Array.from({ length: events }, (_, place) => attackEvent(peer, `#-@-${place}`));
  return post('/api/v1/events/batch', peer, `{"events":[${texts.join(',')}]}`);
}

/** An event of a new peer that signs, with a signature that is none: each one must be verified to be refused. */
async function forgedEvent(url: string): Promise<string> {
  const json = { peer_name: 'Signer', game_ids: [gameId], public_key: newSigningKey().publicKey };
  const { body } = await ask(url, '/api/v1/peers/register', { json });
  const text = JSON.stringify(eventBody({ peer_id: body.peer_id }));
  const params = `("@method" "@path" "content-digest" "x-peer-api-key");created=${Math.floor(Date.now() / 1000)}`;
  const fields = {
    Host: 'x',
    'X-Peer-API-Key': body.api_key,
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(text),
    'Content-Digest': digestOf(text),
    'Signature-Input': `a=${params}`,
    Signature: `a=:${Buffer.alloc(64, 1).toString('base64')}:`,
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  return `POST /api/v1/events HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${text}`;
}

const scoreRead = 'GET /api/v1/players/nobody/trust-score HTTP/1.1\r\nHost: x\r\n\r\n';

/** Sends `request` on each connection, and again for whatever comes back. */
async function flood(port: number, connections: number, request: string): Promise<Attack[]> {
  const bytes = Buffer.from(request, 'latin1');
  const send = (socket: Socket) => void socket.write(bytes);
  return [await keepOpen(port, connections, (socket) => send(socket.on('data', () => send(socket))))];
}

for (const bytes of [1, 60_000]) {
  testAttack(
    `heads of large batches with ${bytes} bytes of them block no batch of another peer`,
    async ({ port, attacker }) => [await halfBatches(port, attacker, 140, bytes)],
    (peer) => ({ request: batch(peer), expects: 'HTTP/1.1 200' }),
  );
}

for (const [what, request, status] of [
  ['single events', event, 201],
  ['batches', batch, 200],
] as const) {
  const victimOf = (peer: Credentials) => ({ request: request(peer), expects: `HTTP/1.1 ${status}` });
  testAttack(
    `one key that floods batches does not exclude ${what} of another peer`,
    async ({ port, attacker }) => [await floodOfBatches(port, attacker, 64)],
    victimOf,
  );
  testAttack(
    `eight new keys that flood batches do not exclude ${what} of another peer`,
    async ({ port, url }) => {
      const attackers = await Promise.all(Array.from({ length: 8 }, () => register(url)));
      return Promise.all(attackers.map((attacker) => floodOfBatches(port, attacker, 8)));
    },
    victimOf,
  );
}

for (const pipelined of [1, 100]) {
  testAttack(
    `a flood of forged signatures, ${pipelined} at a time, does not hold up the commits of another peer`,
    async ({ port, url }) => flood(port, 400, (await forgedEvent(url)).repeat(pipelined)),
  );
}

for (const [what, request] of [
  ['score reads', scoreRead],
  ['reads of another route', 'GET /api/v1/health HTTP/1.1\r\nHost: x\r\n\r\n'],
] as const) {
  testAttack(
    `a connection with very many pipelined ${what} does not hold up another caller`,
    async ({ port }) => {
      const pipeline = Buffer.from(request.repeat(Math.ceil(1_000_000 / request.length)), 'latin1');
      const begin = (socket: Socket) => {
        const send = (): void => void (socket.writable && socket.write(pipeline, send));
        send();
      };
      return [await keepOpen(port, 1, begin)];
    },
    undefined,
    { medianMaxMs: standstillMs },
  );
}

const nested = (bytes: number): string => '['.repeat(bytes / 2) + ']'.repeat(bytes / 2);
const match = Array.from({ length: limits.matchIdsMax }, (_, place) => `nobody-${place}`).join();

for (const [what, connections, request] of [
  ['large bodies of nested brackets', 16, (peer) => post('/api/v1/events/batch', peer, nested(limits.batchBodyBytes))],
  ['small bodies of nested brackets', 400, (peer) => post('/api/v1/events', peer, nested(limits.eventBodyBytes))],
  ['registrations of nested brackets', 400, (peer) => post('/api/v1/peers/register', peer, nested(8_000))],
  ['matches', 400, () => `GET /api/v1/trust-scores?ids=${match} HTTP/1.1\r\nHost: x\r\n\r\n`],
] as readonly (readonly [string, number, (peer: Credentials) => string])[]) {
  testAttack(
    `a flood of ${what} does not hold up a fresh caller`,
    ({ port, attacker }) => flood(port, connections, request(attacker)),
    () => ({ connections: 0 }),
  );
}

testAttack(
  'keys that use every verdict stream leave one to another peer',
  async ({ port, url }) => {
    const keys = limits.streamReadersMax / limits.streamReadersPerPeer;
    const attackers = await Promise.all(Array.from({ length: keys }, () => register(url)));
    return Promise.all(attackers.map((attacker) => verdictStreams(port, attacker, limits.streamReadersPerPeer, true)));
  },
  ({ apiKey }) => ({
    request: `GET /api/v1/verdicts/stream HTTP/1.1\r\nHost: x\r\nX-Peer-API-Key: ${apiKey}\r\n\r\n`,
    expects: 'HTTP/1.1 200',
    everyMs: 100,
    connections: 0,
  }),
);

/** More than the node takes: each that it closes for another one is opened again, and closes a third. */
const idleCount = limits.connectionsMaxDefault + 400;

for (const [what, env, localAddress] of [
  ['the same address, a proxy', {}, '127.0.0.1'],
  ['another address', { LOOPBACK_IS_PROXY: 'false' }, '127.0.0.2'],
] as const) {
  // An address of its own may not hold all of them, but a few may.
  const addresses = localAddress === '127.0.0.1' ? [localAddress] : ['127.0.0.3', '127.0.0.4', '127.0.0.5'];
  const each = Math.ceil(idleCount / addresses.length);
  for (const [who, connections] of [
    ['fresh callers', 0],
    ['callers that pause between requests', 40],
  ] as const) {
    testAttack(
      `idle connections that are reopened at once do not exclude ${who} of ${what}`,
      ({ port }) => Promise.all(addresses.map((address) => idleConnections(port, each, address))),
      () => ({ request: scoreRead, expects: 'HTTP/1.1 404', connections, localAddress }),
      { env },
    );
  }
}

test.run();
