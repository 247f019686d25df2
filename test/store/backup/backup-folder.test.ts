/** The folder of a backup: which it may take, when it is one, and that a failed one leaves nothing. */
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { BackupManifest } from '../../../src/group/backup/backup-tasks.js';
import {
  isBackup,
  makePrivate,
  NewBackup,
  NotEmptyError,
  readManifest,
  storeOf,
} from '../../../src/store/backup/backup-folder.js';
import { temporaryFolder } from '../../support/process.js';

const isNotEmpty = (error: unknown) => error instanceof NotEmptyError;

let dir = '';
test.before.each(() => {
  dir = join(temporaryFolder(), 'target');
});

test('a folder is a backup once it is finished, for its owner alone', async () => {
  const deep = join(dir, 'deep');
  const backup = new NewBackup(deep);
  writeFileSync(join(backup.store, 'data.mdb'), 'x');
  chmodSync(join(backup.store, 'data.mdb'), 0o644);
  assert.not.ok(isBackup(deep));
  await backup.finish({ format: 1 } as BackupManifest);
  assert.ok(isBackup(deep));
  assert.equal(readdirSync(deep).sort(), ['backup.json', 'store']);
  const paths = [dir, deep, storeOf(deep), join(storeOf(deep), 'data.mdb')];
  const modes = paths.map((path) => statSync(path).mode & 0o777);
  assert.equal(modes, [0o700, 0o700, 0o700, 0o600], 'also those that are created on the way');
  assert.is(readManifest(deep).format, 1);
});

test('a file is no folder for a backup, and stays as it is', () => {
  writeFileSync(dir, 'x', { mode: 0o640 });
  assert.throws(() => makePrivate(dir), /is not a folder/);
  assert.is(statSync(dir).mode & 0o777, 0o640);
});

test('a folder that a file system lets nobody make is refused with its reason', () => {
  if (process.platform !== 'linux') return;
  assert.throws(() => makePrivate('/proc/none/deep'), /ENOENT.*mkdir/);
});

test('an abandoned backup leaves the folder as it was: absent, or empty', () => {
  new NewBackup(dir).abandon();
  assert.not.ok(existsSync(dir));
  mkdirSync(dir);
  new NewBackup(dir).abandon();
  assert.equal(readdirSync(dir), []);
});

test('a folder that is not empty, a file, and a folder in which another backup is made are refused', () => {
  mkdirSync(join(dir, 'lost+found'), { recursive: true });
  const backup = new NewBackup(dir);
  assert.throws(() => new NewBackup(dir), isNotEmpty);
  backup.abandon();
  writeFileSync(join(dir, 'note'), '');
  for (const path of [dir, join(dir, 'note')]) assert.throws(() => new NewBackup(path), isNotEmpty);
  assert.equal(readdirSync(dir).sort(), ['lost+found', 'note']);
});

test('a manifest that is damaged, foreign or newer is refused', () => {
  mkdirSync(dir);
  for (const text of ['{', 'null', '{"format": "1"}', '{"format": 2}']) {
    writeFileSync(join(dir, 'backup.json'), text);
    assert.throws(() => readManifest(dir), /cannot be read|expected the manifest|newer release/);
  }
});

test.run();
