/** Backups and restores of a folder in which a player was erased, or a snapshot damaged. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { RestoreTask } from '../../../src/group/backup/backup-tasks.js';
import { sourceOf } from '../../../src/group/backup/copy-store.js';
import { lastSeqOf } from '../../../src/group/recovery/recovery.js';
import { Replica } from '../../../src/group/replica/replica.js';
import { storeOf } from '../../../src/store/backup/backup-folder.js';
import { dataFileOf } from '../../../src/store/files/lmdb-file.js';
import { logFolderOf, openLogReader } from '../../../src/store/log/lmdb-log.js';
import { acquireFolder, epochOf } from '../../../src/store/ownership/owner.js';
import { LmdbSnapshotStore, snapshotFileOf } from '../../../src/store/snapshots/lmdb-snapshots.js';
import { refusalOf } from '../../../src/workers/backup/backup-context.js';
import { backUp, restore } from '../../../src/workers/backup/backup-task.js';
import { copyIntoFolder } from '../../../src/workers/backup/copy-folder.js';
import { inFastFolder } from '../../faults/fault.js';
import { Life } from '../../group/life.js';
import { withBounds } from '../../sim/profile.js';
import { closing } from '../../support/closing.js';
import { salt, subjectOf } from '../../support/given.js';

const context = {
  nonce: (bytes: number) => new Uint8Array(bytes),
  onStatus: () => undefined,
  isCancelled: () => false,
};

/** A group, and the data folder of its node. */
async function groupIn(dataDir: string) {
  const life = await Life.reporting(4);
  const { log } = life.machine;
  /** Brings the folder up to the group's log. */
  const store = () => copyIntoFolder(dataDir, sourceOf(log), { progress: () => undefined });
  await store();
  return { life, store, lastSeq: () => lastSeqOf(log) };
}

async function writeSnapshot(dataDir: string, seq: number): Promise<void> {
  await using log = closing(openLogReader(dataDir));
  await new Replica(log, new LmdbSnapshotStore(dataDir), salt).snapshot(seq, epochOf(dataDir));
}

const refusal = (work: Promise<unknown>) => work.then(() => null, refusalOf);

test('a backup has no snapshot that is damaged, or that holds a player who was erased since', () =>
  inFastFolder(async (root) => {
    const [dataDir, dir] = [join(root, 'data'), join(root, 'backup')];
    const { life, store, lastSeq } = await groupIn(dataDir);
    await writeSnapshot(dataDir, lastSeq());
    await life.act({ type: 'erase', player: 'player 1' });
    await store();
    await writeSnapshot(dataDir, lastSeq());
    const backup = { dataDir, dir, version: '0' };
    await withBounds({ commitFreeBytes: Number.POSITIVE_INFINITY }, async () => {
      const full = await refusal(backUp(backup, context));
      assert.match(full?.error ?? 'a backup without its snapshot', 'is full');
    });
    const newest = snapshotFileOf(dataDir, lastSeq());
    writeFileSync(newest, Buffer.alloc(readFileSync(newest).length, 1));
    assert.is(new LmdbSnapshotStore(dataDir).list().length, 2);
    assert.equal((await backUp(backup, context)).snapshots, []);
  }));

test('a restore erases again who was erased after the backup', () =>
  inFastFolder(async (root) => {
    const [dataDir, dir, target] = [join(root, 'data'), join(root, 'backup'), join(root, 'target')];
    const { life, store, lastSeq } = await groupIn(dataDir);
    const backupSeq = lastSeq();
    await backUp({ dataDir, dir, version: '0' }, context);
    await life.act({ type: 'erase', player: 'player 1' });
    await store();
    const task: RestoreTask = { dir, dataDir: target, replace: false, erasuresFrom: dataDir, withoutErasures: false };
    const report = await restore(task, context);
    const { backup_seq, erasures, erasures_from, events_lost } = report;
    assert.equal([backup_seq, erasures, erasures_from, events_lost], [backupSeq, 1, dataDir, 0]);
    const log = readFileSync(dataFileOf(logFolderOf(target)));
    assert.equal([log.includes(subjectOf('player 0')), log.includes(subjectOf('player 1'))], [true, false]);

    rmSync(logFolderOf(storeOf(dir)), { recursive: true });
    await (await acquireFolder(storeOf(dir))).close();
    const empty = await refusal(restore({ ...task, dataDir: join(root, 'empty') }, context));
    assert.equal(empty, { ok: false, code: 'store_damaged', error: 'the log of the backup is empty' });
  }));

test.run();
