/**
 * Three nodes of one group over three members of etcd: forwarding, logs that lack slots or forked, streams, erasure,
 * and members that hang. Takeovers are in `cluster.slow.test.ts`.
 */
import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { noEtcd } from '../../bench/cluster/etcd-members.js';
import { appliedSeq, salt } from '../../bench/cluster/node-group.js';
import { Batch, BatchWriter, NONCE_BYTES } from '../../src/core/records/batch.js';
import { limits } from '../../src/limits.js';
import { openLogReader } from '../../src/store/log/lmdb-log.js';
import { acquireFolder } from '../../src/store/ownership/owner.js';
import { deadProcess } from '../store/dead-process.js';
import { closing } from '../support/closing.js';
import { beginPtf } from '../support/ptf.js';
import { differences, StreamReader } from '../support/stream-reader.js';
import { until } from '../support/until.js';
import { filesWith } from './final-log.js';
import { Group } from './group.js';
import type { ClusterNode } from './nodes.js';
import { sameSeq } from './same-records.js';

const missing = noEtcd();
let group: Group;
let nodes: readonly ClusterNode[];
let peerId = '';
let key = '';
let events = 0;

function eventOf(id: string, player: string): object {
  const timestamp = new Date().toISOString();
  const report = { schema_version: '1.0.0', event_type: 'report_cheating', game_id: 'g', severity: 0.5, timestamp };
  return { ...report, event_id: id, peer_id: peerId, player_id: player };
}

/** Sends an event to one node after the other, beginning with the given one, until a node has stored it. */
async function store(first: ClusterNode, player: string): Promise<string> {
  const id = `event-${events++}`;
  let next = nodes.indexOf(first);
  await until(async () => {
    const node = nodes[next++ % nodes.length]!;
    const answer = await node.ask('POST', '/events', eventOf(id, player), key).catch(() => null);
    return answer?.status === 201 || answer?.status === 409;
  });
  return id;
}

/** Asks until the answer is no 503: a node of a busy machine may be stale or without a leader for a moment. */
async function served(ask: () => ReturnType<ClusterNode['ask']>): ReturnType<ClusterNode['ask']> {
  let answer = await ask();
  await until(async () => {
    if (answer.status === 503) answer = await ask();
    return answer.status !== 503;
  });
  return answer;
}

async function roles(): Promise<[leader: ClusterNode, follower: ClusterNode, other: ClusterNode]> {
  const leader = await group.awaitLeader();
  const [follower, other] = nodes.filter((node) => node !== leader);
  return [leader, follower!, other!];
}

/** Whether every thread of the process is stopped by a signal. */
function isStopped(pid: number): boolean {
  const tasks = `/proc/${pid}/task`;
  return readdirSync(tasks).every((id) => /\) T /.test(readFileSync(`${tasks}/${id}/stat`, 'utf8')));
}

/** Digest of the batches of a node's log. */
async function digestOf({ dir }: ClusterNode): Promise<string> {
  await using log = closing(openLogReader(dir));
  const digest = createHash('sha256');
  for (let next = 1, stored = log.from(1, 100, 1e6); stored.length > 0; stored = log.from(next, 100, 1e6)) {
    for (const { bytes } of stored) digest.update(bytes);
    next = new Batch(stored.at(-1)!.bytes).lastSeq + 1;
  }
  return digest.digest('hex');
}

/** Returns the batch that holds a record, or the last one. */
async function batchAt({ dir }: ClusterNode, seq = Number.MAX_SAFE_INTEGER): Promise<Batch> {
  await using log = closing(openLogReader(dir));
  return new Batch(Buffer.from(log.at(seq)!.bytes));
}

/** Resolves to the newest record once the files of all given nodes hold it, which follow by some ms. */
async function sameFiles(some: readonly ClusterNode[] = nodes): Promise<number> {
  const seq = await sameSeq(some);
  const holds = async (node: ClusterNode) => (await batchAt(node)).lastSeq >= seq;
  await until(async () => (await Promise.all(some.map(holds))).every((isThere) => isThere));
  return seq;
}

/** Returns the last record whose slot was deleted, as the given nodes report it. */
async function floorOf(some: readonly ClusterNode[]): Promise<number> {
  const ask = async ({ dir }: ClusterNode): Promise<number> => {
    const { out } = await beginPtf(['cluster', 'status', '--json'], dir).ended;
    return (JSON.parse(out) as { readonly floor_seq: number }).floor_seq;
  };
  return Math.max(...(await Promise.all(some.map(ask))));
}

if (missing !== undefined) {
  process.stdout.write(`SKIPPED: ${missing}\n`);
  test.skip('three nodes', () => undefined);
} else {
  test.before(async () => {
    group = await Group.start({ env: { ERASURE_MODE: 'peer' } });
    nodes = group.nodes;
    const { body } = await nodes[0]!.ask('POST', '/peers/register', { peer_name: 'p', game_ids: ['g'] });
    peerId = String(body.peer_id);
    key = String(body.api_key);
  });
  test.after(() => group?.close());

  test('a write to any node is stored once, and the node that accepted it serves it at once', async () => {
    for (const [i, node] of nodes.entries()) {
      const event = eventOf(`write-${i}`, `player-${i}`);
      // A refusal of a busy machine may come after the write.
      assert.ok([201, 409].includes((await served(() => node.ask('POST', '/events', event, key))).status));
      assert.is((await served(() => node.ask('GET', `/players/player-${i}/trust-score`))).status, 200);
      const again = await served(() => nodes[(i + 1) % nodes.length]!.ask('POST', '/events', event, key));
      assert.equal([again.status, again.body.code], [409, 'duplicate_event']);
    }
  });

  test('a node that was away until its slots were deleted rejoins, with callers that wait on it', async () => {
    const [leader, away, other] = await roles();
    const others = [leader, other];
    // The callers wait for an answer while the node is paused, and then while it closes.
    const waiting = Array.from({ length: 5 }, (_, i) => {
      const asked = away.ask('POST', '/events', eventOf(`waiting-${i}`, 'waiting'), key);
      return asked.then(
        () => 'answered',
        () => 'cut off',
      );
    });
    away.child.pause();
    const before = await sameSeq(others);
    // More turns than the leader retains of the records that every living node has, and more than a paused node's
    // connection to etcd holds: it would read those once it goes on.
    const lost = before + 600;
    while ((await appliedSeq(leader)) <= lost + limits.slotsRetained) await store(leader, 'away');
    await until(async () => (await floorOf(others)) >= lost);
    away.child.resume();
    await Promise.all(waiting);
    await away.ready();
    await sameFiles();
    assert.match(away.child.output, /starting again/);
    assert.is(await digestOf(away), await digestOf(leader));
  });

  test('a node whose log forked on the boundary of a slot joins again', async () => {
    const [leader, forked] = await roles();
    await sameFiles();
    await forked.child.kill();
    const last = await batchAt(forked);
    const seq = last.lastSeq;
    // More than one, because a fork shows at the slot after it.
    for (let n = 0; n < 3; n++) await store(leader, 'forked');
    await sameFiles([leader]);
    // The same records as in the group's next batch, at another time.
    const next = await batchAt(leader, seq + 1);
    const fork = new BatchWriter();
    for (const record of next) fork.add(record);
    const { firstSeq, bytes } = fork.seal(seq + 1, next.at + 1, randomBytes(NONCE_BYTES), last.chain);
    const files = await acquireFolder(forked.dir, deadProcess());
    await files.append({ firstSeq, bytes }, []);
    await files.close();
    forked.start();
    await forked.ready();
    await sameFiles();
    assert.match(forked.child.output, /differs from the shared log/);
    assert.is(await digestOf(forked), await digestOf(leader));
  });

  test('a reader of the stream goes on at another node without a reset', async () => {
    const [first, second, third] = nodes as [ClusterNode, ClusterNode, ClusterNode];
    const reader = new StreamReader(key);
    const live = reader.next(({ event }) => event === 'heartbeat');
    await until(async () => (await reader.connect(first.directUrl)) === 200);
    await live;
    await reader.cut();
    await store(second, 'while-it-moves');
    const newest = await sameSeq(nodes);
    const { length: framesBefore } = reader.frames;
    const again = reader.next(({ id }) => Number((id ?? '').split('-')[0]) >= newest);
    await until(async () => (await reader.connect(third.directUrl)) === 200);
    await again;
    const frames = reader.frames.slice(framesBefore).map(({ event }) => event);
    assert.not(frames.includes('reset'));
    assert.not(frames.includes('snapshot'));
    assert.equal(await differences(third.directUrl, key, reader.table, [...reader.table.keys()]), []);
    await reader.cut();
  });

  test('an erasure at any node leaves no byte of the player in the files of a node or of etcd', async () => {
    const player = 'to-be-erased';
    const hash = createHash('sha256').update(`${player}${salt}`).digest();
    const marks = new Map([['the hash', hash]]);
    const nodeFolders = nodes.map(({ dir }) => dir);
    for (const node of nodes) await store(node, player);
    await sameFiles();
    assert.ok(filesWith(nodeFolders, marks).length >= 3);
    const [, follower] = await roles();
    const erased = await follower.ask('DELETE', `/subjects/${hash.toString('hex')}`, undefined, key);
    assert.equal([erased.status, erased.body.events_erased], [200, 3]);
    assert.equal(filesWith(nodeFolders, marks), []);
    assert.equal(filesWith(group.etcd.folders, marks), []);
    for (const { child } of nodes) assert.not(child.output.includes(hash.toString('hex')));
    await sameSeq(nodes);
    for (const node of nodes) {
      assert.is((await served(() => node.ask('GET', `/players/${player}/verdict`))).status, 404);
    }
  });

  test('without a majority of etcd writes are refused within two seconds, and come back with it', async () => {
    const leader = await group.awaitLeader();
    for (const member of [0, 1]) {
      const { child } = group.etcd.member(member);
      group.etcd.member(member).pause();
      // A thread in the kernel stops only when it returns from there.
      await until(() => isStopped(child.pid!));
    }
    const asked = performance.now();
    const refused = await leader.ask('POST', '/events', eventOf('without-majority', 'p'), key);
    const tookMs = performance.now() - asked;
    for (const member of [0, 1]) group.etcd.member(member).resume();
    assert.equal([refused.status, refused.body.code], [503, 'dependency_unavailable']);
    // The bound is 1.5 s by the node's clock; a busy machine may answer later.
    assert.ok(tookMs < 8_000, String(tookMs));
    await store(leader, 'with-majority');
    await sameSeq(nodes);
  });

  test('nodes stop when asked to while etcd hangs, and serve again afterwards', async () => {
    const [leader, follower] = await roles();
    const stopping = [leader, follower];
    for (const member of [0, 1, 2]) group.etcd.member(member).pause();
    await Promise.all(stopping.map(({ child }) => child.kill('SIGTERM')));
    for (const { child } of stopping) {
      assert.match(child.output, /"msg":"stopped"/);
      assert.not.match(child.output, /did not stop/);
    }
    for (const member of [0, 1, 2]) group.etcd.member(member).resume();
    for (const node of stopping) node.start();
    for (const node of stopping) await node.ready();
    await store(leader, 'after-the-stop');
    await sameSeq(nodes);
  });

  test('no node ended by itself in all of this', () => {
    assert.equal(
      nodes.flatMap(({ ends }) => ends),
      [],
    );
  });
}

test.run();
