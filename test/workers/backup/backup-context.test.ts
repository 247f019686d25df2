/** The codes with which a backup or restore is refused. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { sourceOf } from '../../../src/group/backup/copy-store.js';
import { ForeignLogError } from '../../../src/group/backup/restore-store.js';
import { DamagedError } from '../../../src/group/ports/storage.js';
import { batchFrom } from '../../../src/group/recovery/recovery.js';
import { NotEmptyError } from '../../../src/store/backup/backup-folder.js';
import { FolderOwnedError } from '../../../src/store/ownership/owner.js';
import {
  backingUp,
  CopyError,
  refusalOf,
  refuseIfCancelled,
  verifyWritten,
} from '../../../src/workers/backup/backup-context.js';
import { copyIntoFolder } from '../../../src/workers/backup/copy-folder.js';
import { Life } from '../../group/life.js';
import { temporaryFolder } from '../../support/process.js';

test('each error of a backup or restore has its code, and any other one is a failure', () => {
  const cases: readonly (readonly [error: unknown, code: string])[] = [
    [new CopyError('no_store', 'x'), 'no_store'],
    [new NotEmptyError('x'), 'not_empty'],
    [new FolderOwnedError('x'), 'folder_in_use'],
    [new ForeignLogError('x'), 'erasures_unknown'],
    [Object.assign(new Error('x'), { code: 'EACCES' }), 'access_denied'],
    [new DamagedError('x'), 'store_damaged'],
    [Object.assign(new Error('x'), { code: 'EIO' }), 'copy_failed'],
    ['x', 'copy_failed'],
  ];
  for (const [error, code] of cases) assert.equal(refusalOf(error), { ok: false, code, error: 'x' });
});

test('a copy that is cancelled ends at its next step, and reports none', () => {
  const reported: unknown[] = [];
  let isCancelled = false;
  const context = {
    nonce: () => new Uint8Array(0),
    isCancelled: () => isCancelled,
    onStatus: (status: unknown) => void reported.push(status),
  };
  backingUp(context)(1, 2);
  isCancelled = true;
  for (const step of [() => backingUp(context)(2, 2), () => refuseIfCancelled(context)])
    assert.throws(step, (error: unknown) => error instanceof CopyError && error.code === 'cancelled');
  assert.equal(reported, [{ phase: 'copying', done: 1, total: 2 }]);
});

test('a written store that ends before or after the last copied record is refused', async () => {
  const { machine } = await Life.reporting(2);
  const dir = temporaryFolder();
  const progress = () => undefined;
  const { lastSeq, chain } = await copyIntoFolder(dir, sourceOf(machine.log), { progress });
  const context = { nonce: () => new Uint8Array(0), isCancelled: () => false, onStatus: () => undefined };
  const refusal = (head: { lastSeq: number; chain: Uint8Array }) => verifyWritten(dir, head, context).catch(refusalOf);
  const ahead = `head.json says that record ${lastSeq + 1} was written`;
  assert.equal(await refusal({ lastSeq: lastSeq + 1, chain }), {
    ok: false,
    code: 'copy_failed',
    error: `the written store is damaged: the log ends at record ${lastSeq}; ${ahead}`,
  });
  assert.equal(await refusal(batchFrom(machine.log.at(1)!)), {
    ok: false,
    code: 'copy_failed',
    error: `the written store ends at record ${lastSeq}; expected 1`,
  });
});

test.run();
