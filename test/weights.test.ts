/**
 * Peer weights in a running node: computed in the pool, published as records, read by everyone, and never in the way.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { EventSubmission, PeerView } from '../src/group/api.js';
import { PiscinaPool, poolOf } from '../src/workers/pool/piscina-pool.js';
import { rejection } from './store/log-contract.js';
import { subjectKeyOf, subjectOf } from './support/given.js';
import { startTestNode, type TestNode, weightsSettled } from './support/node.js';
import { temporaryFolder } from './support/process.js';
import { until } from './support/until.js';

const intervalMs = 100;

function event(peer: PeerView, id: string, player: string, eventType: 'ban_applied' | 'commendation'): EventSubmission {
  const fixed = { schemaVersion: '1.0.0', gameId: 'g', severity: 1, timestamp: Date.now() };
  return { ...fixed, eventId: `${peer.index}-${id}`, eventType, peerId: peer.peerId, subject: subjectKeyOf(player) };
}

async function peersOf(node: TestNode, count: number): Promise<PeerView[]> {
  const peers: PeerView[] = [];
  for (let i = 0; i < count; i++) {
    const issued = await node.group.register({ peerName: `p${i}`, gameIds: ['g'] }, 'test');
    if (!issued.ok) throw new Error(issued.code);
    peers.push(issued.value.peer);
  }
  return peers;
}

/**
 * Four honest peers, each of which errs about three players of its own, and a liar report the same 60 players, 20 of
 * them bad. Each peer is the first to report every fifth player, so that none only follows others.
 */
async function liedTo(node: TestNode): Promise<PeerView[]> {
  const peers = await peersOf(node, 5);
  for (let round = 0; round < 5; round++) {
    for (const peer of peers) {
      const isLiar = peer.index === 4;
      const players = Array.from({ length: 60 }, (_, i) => i).filter((i) => i % 5 === (peer.index + round) % 5);
      const events = players.map((i) => {
        const bad = i < 20;
        const errs = !isLiar && i % 20 === 5 + peer.index;
        return event(peer, `e${i}`, `player ${i}`, (bad !== isLiar) !== errs ? 'ban_applied' : 'commendation');
      });
      const outcomes = await node.group.submit(peer, events);
      assert.ok(outcomes.every(({ ok }) => ok));
    }
  }
  return peers;
}

function scoresOf(node: TestNode): number[] {
  return Array.from({ length: 60 }, (_, i) => node.group.trust(subjectOf(`player ${i}`))!.score);
}

test('a liar loses its weight, honest peers keep theirs, and a restart finds both in the log', async () => {
  const dir = temporaryFolder();
  const env = { DATA_DIR: dir, WEIGHTS_INTERVAL_MS: String(intervalMs), HALF_LIFE_DAYS: '0' };
  let heldAt: number | null = null;
  const clock = { now: () => heldAt ?? Date.now() };
  const node = await startTestNode(env, { clock });
  const peers = await liedTo(node);
  await weightsSettled(node);
  const weights = peers.map(({ peerId }) => node.group.peerById(peerId)!.weight);
  assert.ok(weights[4]! < 0.05, `the liar has ${weights[4]}`);
  assert.ok(weights.slice(0, 4).every((weight) => weight > 0.7));
  // The scores of bans change each minute.
  heldAt = Date.now();
  const scores = scoresOf(node);
  assert.ok(Math.max(...scores.slice(0, 20)) < Math.min(...scores.slice(20)));
  await node.close();
  await using again = await startTestNode(env, { clock });
  assert.equal(
    peers.map(({ peerId }) => again.group.peerById(peerId)!.weight),
    weights,
  );
  assert.equal(scoresOf(again), scores);
});

test('pre-trust is effective within two intervals, and so is revocation', async () => {
  await using node = await startTestNode({ WEIGHTS_INTERVAL_MS: String(intervalMs) });
  const peers = await liedTo(node);
  await weightsSettled(node);
  await node.group.preTrust('add', peers[4]!.peerId, 'test');
  await weightsSettled(node);
  const liar = node.group.peerById(peers[4]!.peerId)!;
  assert.ok(liar.preTrusted);
  assert.is(liar.tau, 1);
  assert.is(node.group.peerById(peers[0]!.peerId)!.tau, 0, 'it disagrees with the pre-trusted');
  await node.group.changePeer('peer_status', peers[4]!.peerId, { status: 'revoked' }, 'test');
  await weightsSettled(node);
  assert.is(node.group.peerById(peers[4]!.peerId)!.weight, 0);
  assert.is(node.group.peerById(peers[0]!.peerId)!.tau, 1);
});

test('a peer whose players no other peer reports has a remark', async () => {
  await using node = await startTestNode({ WEIGHTS_INTERVAL_MS: String(intervalMs) });
  await liedTo(node);
  const [stranger] = await peersOf(node, 1);
  await node.group.submit(stranger!, [event(stranger!, 'x', 'of another salt', 'ban_applied')]);
  await weightsSettled(node);
  assert.equal(node.group.signals(stranger!), { players: 1, sharedPlayers: 0, discountedWith: [], oneWitnessWith: [] });
  assert.is(node.group.signals(node.group.peers(0, 1)[0]!)!.sharedPlayers, 60);
});

function moduleOf(...lines: readonly string[]): URL {
  const file = join(temporaryFolder(), 'module.mjs');
  writeFileSync(file, lines.join('\n'));
  return pathToFileURL(file);
}

/** A replica that fails in the way that `body` says. */
const failingReplica = (body: string): URL =>
  moduleOf(
    `export function weights() { ${body} }`,
    "export function snapshot() { return 'still there'; }",
    'export function close() {}',
  );

const folder = () => ({ dir: temporaryFolder(), salt: new Uint8Array(16) });

const poolWith = (replica: URL) => new PiscinaPool(folder(), { replica, reader: failingReplica('') });

test('a closing pool lets its workers load first: one ended while it opens files kills the process', async () => {
  const marker = join(temporaryFolder(), 'loaded');
  const loading = moduleOf(
    "import { writeFileSync } from 'node:fs';",
    `writeFileSync(${JSON.stringify(marker)}, '');`,
    'export function loaded() {} export function snapshot() {} export function close() {}',
  );
  const pool = poolWith(loading);
  const first = pool.snapshot(1, 1).catch(() => undefined);
  // No thread starts within the millisecond that it gets to close its files.
  await pool.close(60_000, 1);
  assert.ok(existsSync(marker));
  await first;
});

test('a closing pool ends its replica first: one ended during a write into LMDB hangs the process', async () => {
  const writing = moduleOf(
    "import { workerData } from 'node:worker_threads';",
    "export function snapshot() { while (Atomics.load(workerData.ending, 0) === 0); return 'given up'; }",
    'export function loaded() {} export function close() {}',
  );
  const pool = poolWith(writing);
  const made = pool.snapshot(1, 1);
  await pool.close();
  assert.is((await made) as unknown, 'given up');
});

test('a replica that dies rejects its task and is replaced', async () => {
  const pool = poolWith(failingReplica('process.exit(1);'));
  for (let i = 0; i < 2; i++) {
    assert.ok(await rejection(pool.weights(1, 0)), 'it should have died');
    assert.is((await pool.snapshot(1, 1)) as unknown, 'still there');
  }
  await pool.close();
});

test('a message outside of tasks, such as an answer to an abandoned task, is no error of the process', async () => {
  const pool = poolOf(failingReplica(''), folder(), 1, 1);
  // As Piscina does; an emitter throws an error that nobody listens for.
  pool.emit('error', new Error('Unexpected message from Worker'));
  await pool.run(undefined, { name: 'close' });
  await pool.destroy();
});

test('timers of a worker run between its tasks: LMDB sets one at each renewed read, which would pile up', async () => {
  const timers = moduleOf(
    'let fired = 0;',
    'export function read() { setTimeout(() => (fired += 1)); }',
    'export function timersFired() { return fired; }',
  );
  const pool = poolOf(timers, folder(), 1, 1);
  try {
    for (let i = 0; i < 3; i++) await pool.run(undefined, { name: 'read' });
    await until(async () => (await pool.run(undefined, { name: 'timersFired' })) === 3);
  } finally {
    await pool.destroy();
  }
});

test.run();
