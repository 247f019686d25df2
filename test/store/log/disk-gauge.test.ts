/** Measures the disk space of a data folder. */
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { FolderGauge } from '../../../src/store/log/disk-gauge.js';
import { temporaryFolder } from '../../support/process.js';

const seq = (number: number) => String(number).padStart(16, '0');

test('the log, all snapshots and the newest complete one count, and what is no snapshot does not', async () => {
  const dir = temporaryFolder();
  const gauge = new FolderGauge(dir);
  const make = (folder: string, bytes: number) => {
    mkdirSync(join(dir, folder));
    writeFileSync(join(dir, folder, 'data.mdb'), '');
    truncateSync(join(dir, folder, 'data.mdb'), bytes);
  };
  const look = async () => {
    const { freeBytes, ...use } = await gauge.look();
    assert.ok(freeBytes > 0);
    return use;
  };
  assert.equal(await look(), { logBytes: 0, snapshotsBytes: 0, newestSnapshotBytes: 0 });
  make('log', 1);
  make(`.tmp-snapshot-${seq(9)}`, 10);
  assert.equal(await look(), { logBytes: 1, snapshotsBytes: 10, newestSnapshotBytes: 0 });
  make(`snapshot-${seq(8)}`, 100);
  make(`snapshot-${seq(7)}`, 1_000);
  make(`.old-snapshot-${seq(10)}`, 10_000);
  make(`.tmp-gone-snapshot-${seq(11)}`, 100_000);
  mkdirSync(join(dir, `.tmp-snapshot-${seq(12)}`));
  make('snapshot-1', 1_000_000);
  make(`a-snapshot-${seq(1)}`, 1_000_000);
  assert.equal(await look(), { logBytes: 1, snapshotsBytes: 111_110, newestSnapshotBytes: 100 });
});

test.run();
