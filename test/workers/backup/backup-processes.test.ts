/** The process of a backup as its caller sees it, and the verification of any folder. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { BackupManifest, CopyOutcome, CopyStatus } from '../../../src/group/backup/backup-tasks.js';
import { sourceOf } from '../../../src/group/backup/copy-store.js';
import { lastSeqOf } from '../../../src/group/recovery/recovery.js';
import { readManifest } from '../../../src/store/backup/backup-folder.js';
import { halfRestored } from '../../../src/store/backup/restore-folder.js';
import { backUpInChild, verifyAny } from '../../../src/workers/backup/backup-processes.js';
import { copyIntoFolder } from '../../../src/workers/backup/copy-folder.js';
import { Life } from '../../group/life.js';
import { withBounds } from '../../sim/profile.js';
import { temporaryFolder } from '../../support/process.js';
import { until } from '../../support/until.js';

const quiet = { onStatus: () => undefined, signal: new AbortController().signal };

let dataDir = '';
let lastSeq = 0;
test.before.each(async () => {
  const { machine } = await Life.reporting(2);
  lastSeq = lastSeqOf(machine.log);
  dataDir = temporaryFolder();
  await copyIntoFolder(dataDir, sourceOf(machine.log), { progress: () => undefined });
});

const taskOf = (dir: string) => ({ dataDir, dir, version: '0' });

/** Backs up the folder while a signal ends the process that does. */
async function backedUpUnder(signal: NodeJS.Signals): Promise<CopyOutcome<BackupManifest>> {
  const made = backUpInChild(taskOf(join(temporaryFolder(), 'backup')), quiet);
  let child = 0;
  await until(() => {
    child = Number.parseInt(readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8'), 10);
    return child > 0;
  });
  process.kill(child, signal);
  return made;
}

test('a refusal of the process that makes a backup reaches the caller with its own code and reason', async () => {
  const dir = temporaryFolder();
  const task = { dataDir: dir, dir: join(dir, 'backup'), version: '0' };
  const error = `${dir} has no store`;
  assert.equal(await backUpInChild(task, quiet), { ok: false, code: 'no_store', error });
});

test('a process that makes a backup reports its progress, and then the manifest', async () => {
  const dir = join(temporaryFolder(), 'backup');
  const statuses: CopyStatus[] = [];
  const made = await backUpInChild(taskOf(dir), { ...quiet, onStatus: (status) => void statuses.push(status) });
  assert.equal(made, { ok: true, value: readManifest(dir) });
  assert.ok(statuses.length > 0);
  for (const { phase, total } of statuses)
    assert.ok(['copying', 'verifying'].includes(phase) && total === lastSeq, phase);
});

test('a backup that is cancelled before it begins leaves nothing', async () => {
  const dir = join(temporaryFolder(), 'backup');
  const cancelled = await backUpInChild(taskOf(dir), { ...quiet, signal: AbortSignal.abort() });
  assert.equal([cancelled.ok || cancelled.code, existsSync(dir)], ['cancelled', false]);
});

if (process.platform === 'linux') {
  test('the death of the process that makes a backup is a failure, of a full disk if that explains it', async () => {
    assert.equal(await backedUpUnder('SIGKILL'), {
      ok: false,
      code: 'copy_failed',
      error: 'the backup process died (SIGKILL); a file that it read may be damaged: run ptf verify',
    });
    await withBounds({ diskFullBytes: Number.POSITIVE_INFINITY }, async () => {
      const error = `the disk under ${dataDir} is full, so its files cannot be used; free disk space and try again`;
      assert.equal(await backedUpUnder('SIGKILL'), { ok: false, code: 'copy_failed', error });
    });
  });
}

test('an intact data folder holds, and one in which a restore was interrupted does not', async () => {
  const { ok, faults, ...report } = await verifyAny(dataDir, 'start');
  assert.equal([ok, faults, report.lastSeq], [true, [], lastSeq]);
  mkdirSync(join(dataDir, '.restoring'));
  const half = { ok: false, faults: [halfRestored(dataDir)], ...report };
  assert.equal(await verifyAny(dataDir, 'start'), half);
});

test.run();
