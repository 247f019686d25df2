/** Counters: peers and strangers see rounded values, a peer's events late, and the operator exact ones. */
import { hash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { HOUR_MS } from '../../src/limits.js';
import { startTestNode } from '../support/node.js';
import { temporaryFolder } from '../support/process.js';
import { type Frame, StreamReader } from '../support/stream-reader.js';
import { ask } from './exchange.js';
import { startFace } from './face.js';
import { activeKey } from './group-double.js';
import { type PeerClient, registerPeer, setStatus } from './peer-client.js';

const salt = 'a salt of sixteen bytes';

test('health shows no exact record, and shows weights as complete only where they are', async () => {
  const at = { lastSeq: 0, basedOnSeq: 0 };
  await using face = await startFace({
    group: {
      health: () => ({
        ready: true,
        writable: true,
        lastSeq: at.lastSeq,
        weights: { basedOnSeq: at.basedOnSeq, computedAt: 0 },
      }),
    },
  });
  for (const [lastSeq, basedOnSeq, shown, shownBased] of [
    [99, 98, 99, 98],
    [1_234, 1_210, 1_300, 1_200],
    [1_234, 1_234, 1_300, 1_300],
    [1_200, 1_199, 1_200, 1_100],
    [1_301, 1_300, 1_400, 1_300],
    [987_654, 987_653, 990_000, 980_000],
  ] as const) {
    Object.assign(at, { lastSeq, basedOnSeq });
    for (const path of ['/api/v1/health', '/api/v1/ready']) {
      const { body } = await ask(face.url, path);
      assert.equal([body.last_seq, body.weights.based_on_seq], [shown, shownBased], `${lastSeq}`);
    }
  }
});

test("a peer's count of events is cut to two significant digits, and is the one of an hour ago", async () => {
  await using face = await startFace({ group: { delayedEventCount: () => 1_234 } });
  const { body } = await ask(face.url, '/api/v1/peers', { key: activeKey });
  assert.equal(
    body.data.map(({ event_count }: { event_count: number }) => event_count),
    [1_200, 1_200],
  );
});

test('counts of peers include events an hour late, also after a restart; the operator sees them at once', async () => {
  const dir = temporaryFolder();
  const now = Date.now;
  const start = now();
  let hours = 0;
  Date.now = () => start - (start % HOUR_MS) + hours * HOUR_MS + 1_000;
  const open = () => startTestNode({ DATA_DIR: dir, GROUP_SALT: salt, METRICS_PORT: '0' });
  let node = await open();
  try {
    const peer = await registerPeer(node.url);
    const shown = async (): Promise<number> =>
      (await ask(node.url, '/api/v1/peers', { key: peer.key })).body.data[0].event_count;
    for (let i = 0; i < 3; i++) assert.is((await peer.submit()).status, 201);
    const seen = [await shown()];
    assert.is(node.group.peerById(peer.peerId)?.eventCount, 3);
    assert.match(await (await fetch(`${node.metricsUrl}/metrics`)).text(), /^ptf_peer_events\{.*\} 3$/m);
    await node.close();
    node = await open();
    seen.push(await shown());
    hours = 1;
    seen.push(await shown());
    const json = peer.event({ timestamp: new Date(Date.now()).toISOString() });
    assert.is((await ask(node.url, '/api/v1/events', { key: peer.key, json })).status, 201);
    seen.push(await shown());
    hours = 2;
    seen.push(await shown());
    hours = 3;
    seen.push(await shown());
    assert.equal(seen, [0, 0, 0, 0, 3, 4]);
  } finally {
    Date.now = now;
    await node.close();
  }
});

/** A group of five peers whose interval is longer than the test, a reader of its stream, and what the reader knows. */
async function withReader(
  run: (peers: PeerClient[], reader: StreamReader, leave: () => Promise<void>) => Promise<void>,
) {
  const node = await startTestNode({ GROUP_SALT: salt, STREAM_INTERVAL_MS: '60000' });
  const peers = await Promise.all(['A', 'B', 'C', 'D', 'E'].map((name) => registerPeer(node.url, name)));
  await peers[0]!.submit({ player_id: 'known' });
  const reader = new StreamReader(peers[0]!.key);
  try {
    await run(peers, reader, () => setStatus(node, peers[4]!.peerId, 'suspended'));
  } finally {
    await reader.close();
    await node.close();
  }
}

async function goLive(reader: StreamReader, url: string): Promise<void> {
  const live = reader.next(({ event }) => event === 'heartbeat');
  await reader.connect(url);
  await live;
}

const subjectOf = (player: string): string => hash('sha256', player + salt, 'hex');

test('in a group of five active peers a change waits for its interval, and an erasure does not', async () => {
  await withReader(async ([peer], reader) => {
    await goLive(reader, peer!.url);
    await peer!.submit({ player_id: 'reported' });
    const gone = reader.next(({ data }: Frame) => data.changes?.some((row: object) => 'gone' in row) === true);
    const path = `/api/v1/subjects/${subjectOf('known')}`;
    assert.is((await ask(peer!.url, path, { method: 'DELETE', key: peer!.key })).status, 200);
    await gone;
    assert.equal([...reader.table.keys()], []);
  });
});

test('in a group of four active peers a change is sent at once', async () => {
  await withReader(async ([peer], reader, leave) => {
    await leave();
    await goLive(reader, peer!.url);
    const change = reader.next(({ event }: Frame) => event === 'change');
    await peer!.submit({ player_id: 'reported' });
    await change;
    assert.ok(reader.table.has(subjectOf('reported')));
  });
});

test.run();
