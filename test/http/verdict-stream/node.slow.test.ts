/** The verdict stream of a real node, read as its wire form says. */
import { hash } from 'node:crypto';
import { connect } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { limits } from '../../../src/limits.js';
import { startTestNode, type TestNode, weightsSettled } from '../../support/node.js';
import { differences, type Frame, liveReader, type StreamReader } from '../../support/stream-reader.js';
import { ask } from '../exchange.js';
import { startFace } from '../face.js';
import { activeKey } from '../group-double.js';
import { type PeerClient, registerPeer, setStatus } from '../peer-client.js';

const stream = '/api/v1/verdicts/stream';
const salt = 'a salt of sixteen bytes';
const hashOf = (playerId: string): string => hash('sha256', playerId + salt, 'hex');
const isLive = ({ event }: Frame): boolean => event === 'heartbeat';

async function withNode(run: (node: TestNode, peers: PeerClient[]) => Promise<void>): Promise<void> {
  await using node = await startTestNode({ GROUP_SALT: salt, WEIGHTS_INTERVAL_MS: '100' });
  const peers = await Promise.all(['A', 'B', 'C'].map((name) => registerPeer(node.url, name)));
  await run(node, peers);
}

/** Waits until a reader knows everything, and nothing more comes of it. */
async function caughtUp(node: TestNode, reader: StreamReader): Promise<void> {
  await weightsSettled(node);
  const { lastSeq } = node.group.health();
  if (reader.seq < lastSeq) await reader.next(({ id }) => Number((id ?? '').split('-')[0]) >= lastSeq);
}

async function report(peer: PeerClient, playerId: string, times = 1): Promise<void> {
  const events = Array.from({ length: times }, () =>
    peer.event({ player_id: playerId, event_type: 'report_cheating', severity: 1 }),
  );
  const { status, body } = await ask(peer.url, '/api/v1/events/batch', { key: peer.key, json: { events } });
  assert.equal([status, body.accepted], [200, times]);
}

/** The table equals what the node answers: verdicts exactly, numbers within the step. */
async function holdsNodeValues(node: TestNode, key: string, { table }: StreamReader): Promise<void> {
  assert.equal(await differences(node.url, key, table, [...table.keys()]), []);
}

test('a reader gets the whole group, then each change, and its table equals the answers of the node', async () => {
  await withNode(async (node, [a, b, c]) => {
    for (let i = 0; i < 20; i++) await report(a!, `player ${i}`);
    await using reader = await liveReader(node.url, a!.key);
    assert.is(reader.frames[0]?.event, 'hello');
    assert.is(reader.table.size, 20);
    for (const peer of [b!, c!]) for (let i = 0; i < 30; i++) await report(peer, `player ${i}`, 2);
    await caughtUp(node, reader);
    assert.is(reader.table.size, 30);
    await holdsNodeValues(node, a!.key, reader);
  });
});

test('an erased player is sent as erased before the erasure is answered, and an older id is not resumed', async () => {
  await withNode(async (node, [a]) => {
    await report(a!, 'erased');
    await report(a!, 'stays');
    await using reader = await liveReader(node.url, a!.key);
    await using absent = await liveReader(node.url, a!.key);
    await absent.cut();
    const gone = reader.next(({ data }) => data.changes?.some((row: object) => 'gone' in row) === true);
    const path = `/api/v1/subjects/${hashOf('erased')}`;
    assert.is((await ask(node.url, path, { method: 'DELETE', key: a!.key })).status, 200);
    await gone;
    assert.equal([...reader.table.keys()], [hashOf('stays')]);
    const live = absent.next(isLive);
    await absent.connect(node.url);
    await live;
    assert.equal(absent.frames.find(({ event }) => event === 'reset')?.data, { reason: 'too_old' });
    assert.equal([...absent.table.keys()], [hashOf('stays')]);
  });
});

test('a reader ends with its key: suspended, revoked or rotated', async () => {
  await withNode(async (node, [a, b, c]) => {
    const readers = await Promise.all([a!, b!, c!].map(({ key }) => liveReader(node.url, key)));
    await setStatus(node, a!.peerId, 'suspended');
    await setStatus(node, b!.peerId, 'revoked');
    await node.group.rotateKey(c!.peerId, 0, 'test');
    for (const reader of readers) {
      await reader.over;
      assert.equal([reader.frames.at(-1)?.event, reader.frames.at(-1)?.data.reason], ['resume', 'credentials']);
      await reader.close();
    }
  });
});

test('a node that ends asks its readers to resume', async () => {
  const node = await startTestNode({ GROUP_SALT: salt });
  const peer = await registerPeer(node.url);
  await using reader = await liveReader(node.url, peer.key);
  await node.close();
  await reader.over;
  assert.equal([reader.frames.at(-1)?.event, reader.frames.at(-1)?.data.reason], ['resume', 'draining']);
});

test('a reader that leaves gives its place back at once', async () => {
  await using face = await startFace({ group: {} });
  for (let i = 0; i < 2 * limits.streamReadersPerPeer; i++) {
    const socket = connect(face.port, '127.0.0.1');
    socket.write(`GET ${stream} HTTP/1.1\r\nHost: x\r\nX-Peer-API-Key: ${activeKey}\r\n\r\n`);
    const head = await new Promise((resolve) => socket.once('data', resolve));
    assert.match(String(head), /^HTTP\/1.1 200 /);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.end();
    await closed;
  }
});

test('HEAD gives the head of the stream alone', async () => {
  await withNode(async (node, [a]) => {
    const { status, headers, text } = await ask(node.url, stream, { method: 'HEAD', key: a!.key });
    assert.equal([status, headers['content-type'], text], [200, 'text/event-stream; charset=utf-8', '']);
    assert.is(headers['x-accel-buffering'], 'no');
  });
});

test.run();
