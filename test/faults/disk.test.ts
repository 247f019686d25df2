/** The short form of `npm run faults -- disk`, and the watermark on a real file system. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startTestNode } from '../support/node.js';
import { until } from '../support/until.js';
import { disk } from './disk.js';
import { eventOf, post, register } from './kill.js';
import { testShort } from './short.js';
import { SmallDisk } from './small-disk.js';

const probe = SmallDisk.mount(1);
const canMount = probe !== null;
probe?.unmount();
if (!canMount) process.stdout.write('SKIPPED: a small file system cannot be mounted here, so no real disk is filled\n');

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

test.run();
