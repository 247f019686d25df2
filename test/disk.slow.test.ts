/** A node on a disk that fills up: writes are refused and reads go on, until there is room again. */
import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { DiskUse } from '../src/group/ports/storage.js';
import { limits } from '../src/limits.js';
import { FolderGauge } from '../src/store/log/disk-gauge.js';
import { type Answer, ask } from './http/exchange.js';
import { registerPeer } from './http/peer-client.js';
import { startTestNode, weightsSettled } from './support/node.js';
import { until } from './support/until.js';

const MB = 1e6;

/** A disk of which the test decides. */
class TestDisk {
  use: DiskUse = { freeBytes: 1_000 * MB, logBytes: 0, snapshotsBytes: 0, newestSnapshotBytes: 0 };
  looks = 0;

  freeBytes(): number {
    return this.use.freeBytes;
  }

  async look(): Promise<DiskUse> {
    this.looks += 1;
    return this.use;
  }
}

async function started(env: Record<string, string> = {}) {
  const disk = new TestDisk();
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => lines.push(JSON.parse(line)) });
  const node = await startTestNode({ DISK_FREE_MIN_MB: '100', METRICS_PORT: '0', ...env }, { disk, log });
  const said = (part: string) => lines.filter(({ msg }) => String(msg).includes(part)).length;
  const health = async () => (await ask(node.url, '/api/v1/health')).status;
  const fill = async (freeBytes: number, status: number) => {
    disk.use = { ...disk.use, freeBytes };
    await until(async () => (await health()) === status);
  };
  return { node, disk, said, health, fill };
}

function assertDiskLow({ status, body, headers }: Answer): void {
  assert.equal([status, body.code, body.details], [503, 'dependency_unavailable', { reason: 'disk_low' }]);
  assert.ok(Number(headers['retry-after']) >= 1);
}

test('below the watermark every write is 503 with its reason, and reads continue', async () => {
  const { node, said, fill } = await started();
  const peer = await registerPeer(node.url);
  const { body: stored } = await peer.submit({ event_id: 'before', player_id: 'p' });
  assert.is(stored.status, 'accepted');
  await fill(99 * MB, 503);

  const { key } = peer;
  const json = peer.event({ event_id: 'meanwhile', player_id: 'p' });
  const subject = 'ab'.repeat(32);
  for (const answer of [
    await ask(node.url, '/api/v1/events', { key, json }),
    await ask(node.url, '/api/v1/events/batch', { key, json: { events: [json] } }),
    await ask(node.url, '/api/v1/events/before', { key, method: 'DELETE' }),
    await ask(node.url, `/api/v1/subjects/${subject}`, { key, method: 'DELETE' }),
    await ask(node.url, `/api/v1/subjects/${subject}/disputes`, { key, json: { text: 'not so' } }),
    await ask(node.url, '/api/v1/peers/register', { json: { peer_name: 'late', game_ids: ['g'] } }),
  ]) {
    assertDiskLow(answer);
    assert.is(answer.headers['retry-after'], String(limits.diskRetryAfterS));
  }
  for (const path of ['/api/v1/health', '/api/v1/ready']) assertDiskLow(await ask(node.url, path));
  for (const path of [
    '/api/v1/players/p/trust-score',
    '/api/v1/players/p/verdict',
    '/api/v1/players/p/events',
    '/api/v1/trust-scores?ids=p,q',
    '/api/v1/peers',
    '/api/v1/audit',
  ]) {
    assert.is((await ask(node.url, path, { key })).status, 200, path);
  }

  await fill(126 * MB, 200);
  assert.is((await peer.submit(json)).status, 201);
  assert.equal([said('nearly full'), said('room again')], [1, 1]);
  await node.close();
});

test('a refusal of the form of a request comes before one for the disk', async () => {
  const { node, fill } = await started();
  const peer = await registerPeer(node.url);
  await fill(1, 503);
  assert.is((await peer.submit({ severity: 2 })).status, 400);
  assert.is((await ask(node.url, '/api/v1/events', { json: peer.event() })).status, 401);
  await node.close();
});

test('an operator can still suspend a peer and kill its key on a full disk', async () => {
  const { node, fill } = await started();
  const peer = await registerPeer(node.url);
  await fill(1, 503);
  assert.ok((await node.group.rotateKey(peer.peerId, 0, 'test')).ok);
  assert.ok((await node.group.changePeer('peer_status', peer.peerId, { status: 'suspended' }, 'test')).ok);
  assert.is((await ask(node.url, '/api/v1/audit', { key: peer.key })).status, 401);
  await node.close();
});

test('no snapshot is made that would exceed the watermark, and a due one follows once there is room', async () => {
  const { node, disk, said, fill } = await started({ SNAPSHOT_EVERY: '1' });
  // The snapshot of the formed group may be under way.
  await until(() => node.group.status().snapshots.length > 0);
  disk.use = { ...disk.use, freeBytes: 120 * MB, logBytes: 21 * MB };
  await until(() => node.group.status().disk?.logBytes === 21 * MB);
  const before = node.group.status().snapshots;
  const peer = await registerPeer(node.url);
  await peer.submit();
  await until(() => said('snapshot failed') > 0);
  assert.equal(node.group.status().snapshots, before);
  await fill(99 * MB, 503);
  await fill(1_000 * MB, 200);
  await until(() => Math.max(0, ...node.group.status().snapshots) >= 3);
  await node.close();
});

test('peer weights are not computed on a full disk, and are made up for with room', async () => {
  const { node, disk, fill } = await started({ WEIGHTS_INTERVAL_MS: '50' });
  const peer = await registerPeer(node.url);
  await peer.submit();
  // None is under way when the disk fills up.
  await weightsSettled(node);
  await fill(1, 503);
  await node.group.changePeer('peer_status', peer.peerId, { status: 'revoked' }, 'test');
  const { lastSeq } = node.group.health();
  const { looks } = disk;
  await until(() => disk.looks > looks + 1);
  const stand = node.group.health();
  assert.is(stand.lastSeq, lastSeq);
  assert.ok(stand.weights.basedOnSeq < lastSeq, 'a revocation asks for new weights');
  disk.use = { ...disk.use, freeBytes: 1_000 * MB };
  await until(() => node.group.health().writable);
  await weightsSettled(node);
  await node.close();
});

test('the metrics and the status report the free space and the size of the store', async () => {
  const { node, disk, fill } = await started();
  disk.use = { ...disk.use, logBytes: 5 * MB, snapshotsBytes: 2 * MB };
  await fill(77 * MB, 503);
  const text = await (await fetch(`${node.metricsUrl}/metrics`)).text();
  for (const line of [
    'ptf_disk_free_bytes 77000000',
    'ptf_disk_free_min_bytes 100000000',
    'ptf_log_bytes 5000000',
    'ptf_snapshots_bytes 2000000',
    'ptf_ready 0',
  ]) {
    assert.match(text, `\n${line}\n`);
  }
  const { ready, writable, reason, disk: stand } = node.group.status();
  assert.equal([ready, writable, reason], [true, false, 'disk_low']);
  assert.is(stand?.minBytes, 100 * MB);
  await node.close();
});

test('the gauge of a real folder finds its disk, its log and its snapshots', async () => {
  await using node = await startTestNode({ SNAPSHOT_EVERY: '1' });
  await registerPeer(node.url);
  await until(() => node.group.status().snapshots.length === 1);
  const use = await new FolderGauge(node.dir).look();
  assert.ok(use.freeBytes > 1 * MB);
  assert.ok(use.logBytes >= 8_192 && use.newestSnapshotBytes >= 8_192);
  assert.ok(use.snapshotsBytes >= use.newestSnapshotBytes);
});

test.run();
