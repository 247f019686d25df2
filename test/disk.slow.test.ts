/** A node on a disk that fills up: writes are refused and reads go on, until there is room again. */
import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { DiskUse } from '../src/group/ports/storage.js';
import { limits } from '../src/limits.js';
import { type Answer, ask } from './http/exchange.js';
import { registerPeer } from './http/peer-client.js';
import { startTestNode } from './support/node.js';
import { until } from './support/until.js';

const MB = 1e6;

/** A disk of which the test decides. */
class TestDisk {
  use: DiskUse = { freeBytes: 1_000 * MB, logBytes: 0, snapshotsBytes: 0, newestSnapshotBytes: 0 };

  freeBytes(): number {
    return this.use.freeBytes;
  }

  async look(): Promise<DiskUse> {
    return this.use;
  }
}

function assertDiskLow({ status, body, headers }: Answer): void {
  assert.equal([status, body.code, body.details], [503, 'dependency_unavailable', { reason: 'disk_low' }]);
  assert.ok(Number(headers['retry-after']) >= 1);
}

test('below the watermark every write is 503 with its reason, and reads continue', async () => {
  const disk = new TestDisk();
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => lines.push(line) });
  await using node = await startTestNode({ DISK_FREE_MIN_MB: '100' }, { disk, log });
  const fill = async (freeBytes: number, status: number) => {
    disk.use = { ...disk.use, freeBytes };
    await until(async () => (await ask(node.url, '/api/v1/health')).status === status);
  };
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
  const ofPlayer = ['trust-score', 'verdict', 'events'].map((part) => `players/p/${part}`);
  for (const path of [...ofPlayer, 'trust-scores?ids=p,q', 'peers', 'audit']) {
    assert.is((await ask(node.url, `/api/v1/${path}`, { key })).status, 200, path);
  }
  assert.is((await peer.submit({ severity: 2 })).status, 400, 'the form of a request is refused first');
  assert.is((await ask(node.url, '/api/v1/events', { json })).status, 401, 'and so is its caller');

  await fill(126 * MB, 200);
  assert.is((await peer.submit(json)).status, 201);
  const said = (part: string) => lines.filter((line) => line.includes(part)).length;
  assert.equal([said('nearly full'), said('room again')], [1, 1]);
});

test.run();
