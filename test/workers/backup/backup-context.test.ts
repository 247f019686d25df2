/** The codes with which a backup or restore is refused. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ForeignLogError } from '../../../src/group/backup/restore-store.js';
import { DamagedError } from '../../../src/group/ports/storage.js';
import { NotEmptyError } from '../../../src/store/backup/backup-folder.js';
import { FolderOwnedError } from '../../../src/store/ownership/owner.js';
import { backingUp, CopyError, refusalOf, refuseIfCancelled } from '../../../src/workers/backup/backup-context.js';

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

test.run();
