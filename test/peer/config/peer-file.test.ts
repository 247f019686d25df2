/** The small files of `ptf-peer`: their bounds, modes and owners. */
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isOpenToOthers, readSmallFile, replaceSmallFile, secretInFile } from '../../../src/peer/config/peer-file.js';
import { temporaryFolder } from '../../support/process.js';

const failure = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    ({ message }: Error) => message,
  );
const modeOf = (path: string) => statSync(path).mode & 0o777;

test('a small file is read up to its bound, an absent one is undefined, and a failure names its cause', async () => {
  const path = join(temporaryFolder(), 'file');
  assert.is(await readSmallFile(path), undefined);
  writeFileSync(path, 'twelve bytes');
  assert.is(await readSmallFile(path, 12), 'twelve bytes');
  assert.is(await failure(readSmallFile(path, 11)), `${path} is larger than 11 bytes`);
  assert.is(await failure(readSmallFile(join(path, 'x'))), `${join(path, 'x')} cannot be read: ENOTDIR`);
});

test('a file is replaced whole, for its owner alone unless a mode says more, and leaves no other behind', async () => {
  const folder = join(temporaryFolder(), 'new');
  const path = join(folder, 'file');
  await replaceSmallFile(path, 'one');
  assert.equal([modeOf(folder), modeOf(path)], [0o700, 0o600]);
  await replaceSmallFile(path, 'two', 0o640);
  assert.equal([readFileSync(path, 'utf8'), modeOf(path)], ['two', 0o640 & ~process.umask()]);
  mkdirSync(join(folder, 'taken'));
  assert.match(await failure(replaceSmallFile(join(folder, 'taken'), 'three')), /EISDIR|ENOTEMPTY|EEXIST/);
  assert.equal(readdirSync(folder).sort(), ['file', 'taken']);
});

test('a secret is made once, loses its last line break, and is refused if another user may read its file', async () => {
  const path = join(temporaryFolder(), 'secret');
  assert.is(await secretInFile(path, () => 'made'), 'made');
  assert.is(await secretInFile(path, () => 'made anew'), 'made');
  for (const [text, secret] of [
    ['one\r\n', 'one'],
    ['two\n\n', 'two\n'],
  ] as const) {
    writeFileSync(path, text);
    assert.is(await secretInFile(path, () => ''), secret);
  }
  for (const mode of [0o640, 0o604, 0o601]) {
    chmodSync(path, mode);
    assert.is(await isOpenToOthers(path), true);
    assert.is(await failure(secretInFile(path, () => '')), `${path} is open to other users: chmod 600 ${path}`);
  }
  chmodSync(path, 0o700);
  assert.equal([await isOpenToOthers(path), await isOpenToOthers(`${path}.absent`)], [false, false]);
});

test.run();
