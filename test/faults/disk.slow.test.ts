/** The short form of `npm run faults -- disk`, and the watermark on a real file system. */
import { cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { done, lived, newPlace, refused } from '../support/drill.js';
import { startTestNode } from '../support/node.js';
import { endAll, startProcess } from '../support/process.js';
import { until } from '../support/until.js';
import { disk } from './disk.js';
import { testShort } from './short.js';
import { SmallDisk } from './small-disk.js';
import { eventOf, post, register } from './writers.js';

const probe = SmallDisk.mount(1);
const canMount = probe !== null;
probe?.unmount();
if (!canMount) process.stdout.write('SKIPPED: a small file system cannot be mounted here, so no real disk is filled\n');

test.after(endAll);

if (canMount) testShort(disk, 2);

test('on a real disk that fills up writes stop at the watermark, and go on when there is room', async () => {
  if (!canMount) return;
  const small = SmallDisk.mount(64)!;
  const dir = join(small.path, 'data');
  mkdirSync(dir);
  const node = await startTestNode({ DATA_DIR: dir, DISK_FREE_MIN_MB: '20' });
  const health = (wanted: number) => until(async () => (await fetch(`${node.url}/api/v1/health`)).status === wanted);
  const peer = await register(node.url);
  const write = async (id: string) => (await post(node.url, '/api/v1/events', peer, eventOf(peer, id, 'p'))).status;
  assert.is(await write('before'), 201);
  small.fill(15e6);
  await health(503);
  assert.is(await write('full'), 503);
  assert.is((await fetch(`${node.url}/api/v1/players/p/trust-score`)).status, 200);
  small.clear();
  await health(200);
  assert.is(await write('full'), 201);
  await node.close();
  small.unmount();
});

test('on a completely full disk the store can still be read, and no damage is reported', async () => {
  if (!canMount) return;
  const small = SmallDisk.mount(64)!;
  const { dir: grown } = await lived(300);
  const dir = join(small.path, 'data');
  cpSync(grown, dir, { recursive: true });
  small.fill(0);
  await done(['verify'], dir);
  await done(['backup', newPlace()], dir);
  for (const bytes of [10_000, 20_000, 40_000, 60_000]) {
    small.fill(bytes);
    const output = await refused(['backup', join(small.path, 'backup')], dir, 'copy_failed');
    assert.match(output, /is full|No space left/i, `${bytes} bytes were left`);
    small.remove('backup');
  }
  small.fill(0);
  const full = await startProcess({ DATA_DIR: dir });
  assert.is((await fetch(`${full.url}/api/v1/players/${encodeURIComponent('player 7')}/trust-score`)).status, 200);
  await done(['verify'], dir);
  assert.is(await full.kill('SIGTERM'), 0);

  // As releases before left their snapshots.
  const snapshots = readdirSync(dir).filter((name) => name.startsWith('snapshot-'));
  for (const name of snapshots) rmSync(join(dir, name, 'lock.mdb'));
  small.fill(0);
  assert.match(await refused(['verify'], dir, 'disk_full'), 'free disk space and try again');
  assert.match(await refused(['backup', newPlace()], dir, 'copy_failed'), 'free disk space and try again');
  const refusal = String(await startProcess({ DATA_DIR: dir }).catch((error: unknown) => error));
  assert.match(refusal, 'free disk space and try again');
  assert.not.match(refusal, 'damaged');

  small.clear();
  await done(['verify'], dir);
  const node = await startProcess({ DATA_DIR: dir, DISK_FREE_MIN_MB: '0' });
  assert.is(await node.kill('SIGTERM'), 0);
  small.unmount();
});

test.run();
