/** Counters: peers and strangers see rounded values, a peer's events late, and the operator exact ones. */
import { hash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { HOUR_MS } from '../../src/limits.js';
import { startTestNode } from '../support/node.js';
import { temporaryFolder } from '../support/process.js';
import { liveReader } from '../support/stream-reader.js';
import { ask } from './exchange.js';
import { type PeerClient, registerPeer, setStatus } from './peer-client.js';

const salt = 'a salt of sixteen bytes';

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
    const visibleCount = async (): Promise<number> =>
      (await ask(node.url, '/api/v1/peers', { key: peer.key })).body.data[0].event_count;
    for (let i = 0; i < 3; i++) assert.is((await peer.submit()).status, 201);
    const seen = [await visibleCount()];
    assert.is(node.group.peerById(peer.peerId)?.eventCount, 3);
    assert.match(await (await fetch(`${node.metricsUrl}/metrics`)).text(), /^ptf_peer_events\{.*\} 3$/m);
    await node.close();
    node = await open();
    seen.push(await visibleCount());
    hours = 1;
    seen.push(await visibleCount());
    const json = peer.event({ timestamp: new Date(Date.now()).toISOString() });
    assert.is((await ask(node.url, '/api/v1/events', { key: peer.key, json })).status, 201);
    seen.push(await visibleCount());
    for (hours = 2; hours <= 3; hours++) seen.push(await visibleCount());
    assert.equal(seen, [0, 0, 0, 0, 3, 4]);
  } finally {
    Date.now = now;
    await node.close();
  }
});

/** A group of five peers whose interval is longer than the test, in which one player is known. */
async function groupOfFive() {
  const node = await startTestNode({ GROUP_SALT: salt, STREAM_INTERVAL_MS: '60000' });
  const peers = await Promise.all(['A', 'B', 'C', 'D', 'E'].map((name) => registerPeer(node.url, name)));
  const [peer, , , , last] = peers as [PeerClient, PeerClient, PeerClient, PeerClient, PeerClient];
  await peer.submit({ player_id: 'known' });
  return { node, peer, last, [Symbol.asyncDispose]: () => node.close() };
}

const subjectOf = (player: string): string => hash('sha256', player + salt, 'hex');

test('in a group of five active peers a change waits for its interval, and an erasure does not', async () => {
  await using group = await groupOfFive();
  const { node, peer } = group;
  await using reader = await liveReader(node.url, peer.key);
  await peer.submit({ player_id: 'reported' });
  const gone = reader.next(({ data }) => data.changes?.some((row: object) => 'gone' in row) === true);
  const path = `/api/v1/subjects/${subjectOf('known')}`;
  assert.is((await ask(node.url, path, { method: 'DELETE', key: peer.key })).status, 200);
  await gone;
  assert.equal([...reader.table.keys()], []);
});

test('in a group of four active peers a change is sent at once', async () => {
  await using group = await groupOfFive();
  const { node, peer, last } = group;
  await setStatus(node, last.peerId, 'suspended');
  await using reader = await liveReader(node.url, peer.key);
  const change = reader.next(({ event }) => event === 'change');
  await peer.submit({ player_id: 'reported' });
  await change;
  assert.ok(reader.table.has(subjectOf('reported')));
});

test.run();
