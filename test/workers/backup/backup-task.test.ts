/** A backup of a small folder, and restores from it: what they contain, what they report, and what they refuse. */
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { BatchWriter, chainStart, NONCE_BYTES } from '../../../src/core/records/batch.js';
import type { CopyStatus, RestoreTask } from '../../../src/group/backup/backup-tasks.js';
import { writeExpectedHead } from '../../../src/store/files/folder-files.js';
import { dataFileOf } from '../../../src/store/files/lmdb-file.js';
import { logFolderOf, openLogReader } from '../../../src/store/log/lmdb-log.js';
import { acquireFolder, epochOf } from '../../../src/store/ownership/owner.js';
import { LmdbSnapshotStore } from '../../../src/store/snapshots/lmdb-snapshots.js';
import { refusalOf } from '../../../src/workers/backup/backup-context.js';
import { restoreInChild, verifyAny } from '../../../src/workers/backup/backup-processes.js';
import { backUp, restore } from '../../../src/workers/backup/backup-task.js';
import { PiscinaPool } from '../../../src/workers/pool/piscina-pool.js';
import { inFastFolder } from '../../faults/fault.js';
import { formedRecord, salt, t0 } from '../../support/given.js';
import { temporaryFolder } from '../../support/process.js';

function context(isCancelled = false) {
  const phases = new Set<string>();
  const onStatus = ({ phase }: CopyStatus) => void phases.add(phase);
  return { phases, onStatus, nonce: (bytes: number) => new Uint8Array(bytes), isCancelled: () => isCancelled };
}

const refusal = (work: Promise<unknown>) => work.then(() => null, refusalOf);

/** Holds the folder of a node with one record, a snapshot and a salt, and its backup. */
let given = '';
test.before(async () => {
  given = temporaryFolder();
  const dataDir = join(given, 'data');
  const writer = await acquireFolder(dataDir);
  const batch = new BatchWriter();
  batch.add(formedRecord());
  const { bytes } = batch.seal(1, t0, Buffer.alloc(NONCE_BYTES), chainStart);
  await writer.appendAll([{ firstSeq: 1, bytes }]);
  const pool = new PiscinaPool({ dir: dataDir, salt });
  await pool.snapshot(1, epochOf(dataDir));
  await pool.close();
  await writer.close();
  writeFileSync(join(dataDir, 'group-salt'), salt);
  await backUp({ dataDir, dir: join(given, 'backup'), version: '7' }, context());
});

function withBackup(run: (folders: { root: string; dataDir: string; dir: string }) => Promise<void>): Promise<void> {
  return inFastFolder(async (root) => {
    cpSync(given, root, { recursive: true });
    await run({ root, dataDir: join(root, 'data'), dir: join(root, 'backup') });
  });
}

const report = {
  ...{ backup_seq: 1, last_seq: 1, erasures_from: null, erasures: 0, requests: 0, withdrawals: 0 },
  ...{ events_lost: 0, acts_lost: [], replaced: null, resumed: false },
};

test('a backup has the log, the newest snapshot and the salt, and a restored folder continues them', () =>
  withBackup(async ({ root, dataDir, dir }) => {
    const { made_at, chain, digest, files, ...manifest } = JSON.parse(readFileSync(join(dir, 'backup.json'), 'utf8'));
    const group = { group_id: 'test', environment: 'dev' };
    assert.equal(manifest, { format: 1, version: '7', ...group, last_seq: 1, batches: 1, records: 1, snapshots: [1] });
    assert.ok(Date.parse(made_at) > 0 && /^[0-9a-f]{64}$/.test(chain) && /^[0-9a-f]{64}$/.test(digest));
    assert.equal(Object.keys(files), ['group-salt']);

    const target = join(root, 'target');
    const task: RestoreTask = { dir, dataDir: target, replace: false, erasuresFrom: null, withoutErasures: false };
    const restoring = context();
    assert.equal(await restore(task, restoring), { ...report, data_dir: target });
    assert.equal([...restoring.phases], ['copying', 'verifying']);
    assert.equal(readFileSync(join(target, 'group-salt')), salt);
    assert.equal(new LmdbSnapshotStore(target).list(), [1]);
    assert.not(existsSync(join(target, 'heartbeat')));
    const log = openLogReader(target);
    assert.is(log.last()?.firstSeq, 1);
    await log.close();

    assert.is((await refusal(restore({ ...task, dataDir }, context())))?.code, 'not_empty');
    const replaced = await restore({ ...task, dataDir, replace: true }, context());
    assert.match(replaced.replaced ?? '', /^replaced-\d{4}-\d\d-\d\dT[\d-]+Z$/);
    assert.equal(replaced, { ...report, data_dir: dataDir, erasures_from: dataDir, replaced: replaced.replaced });
    assert.ok(epochOf(dataDir) > epochOf(join(dataDir, replaced.replaced!)));
  }));

test('a backup of no store, a cancelled one, and a restore without the erasures since then leave nothing', () =>
  withBackup(async ({ root, dataDir, dir }) => {
    const [target, other, empty] = [join(root, 'target'), join(root, 'other'), join(root, 'backup', 'store')];
    const backup = { dataDir, dir: target, version: '7' };
    assert.is((await refusal(backUp({ ...backup, dataDir: root }, context())))?.code, 'no_store');
    assert.is((await refusal(backUp({ ...backup, dir }, context())))?.code, 'not_empty');
    assert.is((await refusal(backUp(backup, context(true))))?.code, 'cancelled');
    const task = { dir, dataDir: other, replace: false, erasuresFrom: root, withoutErasures: false };
    const unknown = await refusal(restore(task, context()));
    assert.equal(unknown, {
      ok: false,
      code: 'erasures_unknown',
      error: `there is no log; the erasures after the backup cannot be read from ${root}`,
    });
    await writeExpectedHead(dataDir, { lastSeq: 9, chain: '' });
    const short = await refusal(restore({ ...task, erasuresFrom: dataDir }, context()));
    assert.match(short?.error ?? '', 'its log ends before record 9; the erasures after the backup cannot be read from');
    const without = { ...task, erasuresFrom: dataDir, withoutErasures: true };
    assert.is((await refusal(restore(without, context(true))))?.code, 'cancelled');
    assert.equal([existsSync(target), readdirSync(other), existsSync(empty)], [false, [], true]);
  }));

test('a backup that differs from its manifest is named damaged, and is not restored', () =>
  withBackup(async ({ root, dir }) => {
    const file = join(dir, 'backup.json');
    const manifest = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(join(dir, 'store', 'group-salt'), 'another');
    const salted = 'group-salt differs from its digest in the manifest';
    writeFileSync(file, JSON.stringify({ ...manifest, digest: 'x', snapshots: [] }));
    const { ok, faults } = await verifyAny(dir, 'start');
    const differing = ['the digest of the log differs from the manifest', 'the snapshots differ from the manifest'];
    assert.equal([ok, faults], [false, [salted, ...differing]]);
    writeFileSync(file, JSON.stringify({ ...manifest, digest: 'x', last_seq: 2 }));
    const longer = [salted, 'the log ends at record 1; the manifest says 2'];
    const task = { dir, dataDir: join(root, 'target'), replace: false, erasuresFrom: null, withoutErasures: false };
    const phases = new Set<string>();
    const watch = { onStatus: ({ phase }: CopyStatus) => void phases.add(phase), signal: AbortSignal.any([]) };
    const damaged = { ok: false, code: 'backup_damaged', error: longer.join('; ') };
    assert.equal(await restoreInChild(task, watch), damaged);
    assert.equal([...phases], ['checking the backup']);
    const aborted = { ...watch, signal: AbortSignal.abort() };
    assert.equal(await restoreInChild(task, aborted), { ok: false, code: 'cancelled', error: 'cancelled' });
    const error = `${root} is not a complete backup`;
    assert.equal(await restoreInChild({ ...task, dir: root }, watch), { ok: false, code: 'no_backup', error });
    writeFileSync(dataFileOf(logFolderOf(join(dir, 'store'))), Buffer.alloc(8_192, 1));
    const [unread, ...further] = (await verifyAny(dir, 'full')).faults;
    assert.match(unread ?? '', 'data.mdb');
    assert.equal(further, [salted], 'nothing is said of what cannot be read');
    rmSync(join(dir, 'store', 'group-salt'));
    assert.is((await verifyAny(dir, 'full')).faults[1], 'group-salt is missing');
    writeFileSync(file, '{"format":');
    assert.match((await verifyAny(dir, 'full')).faults[1] ?? '', /backup\.json cannot be read: /);
  }));

test('a restore that was interrupted after its store was complete is completed, whatever the backup is', () =>
  withBackup(async ({ root, dir }) => {
    const target = join(root, 'target');
    const finished = { ...report, data_dir: target };
    const staging = join(target, '.restoring');
    cpSync(join(dir, 'store'), join(staging, 'store'), { recursive: true });
    const names = readdirSync(join(staging, 'store'));
    writeFileSync(join(staging, 'plan.json'), JSON.stringify({ report: finished, names, aside: null }));
    const task = { dir: root, dataDir: target, replace: false, erasuresFrom: null, withoutErasures: false };
    assert.equal(await restore(task, context()), { ...finished, resumed: true });
    assert.equal(readdirSync(target).sort(), names.sort());
  }));

test.run();
