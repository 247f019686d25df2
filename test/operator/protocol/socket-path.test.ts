import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { claimPath, findSocketPath, leavePlace } from '../../../src/operator/protocol/socket-path.js';
import { removeFolder, temporaryFolder } from '../../store/temporary-folder.js';

test('the socket lies in the data folder if its path is short enough, else in a private folder', () => {
  const dir = temporaryFolder();
  try {
    assert.is(claimPath(dir), join(dir, 'operator.sock'));
    assert.is(findSocketPath(dir), join(dir, 'operator.sock'));
    const deep = join(dir, 'x'.repeat(120));
    mkdirSync(deep);
    assert.is(findSocketPath(deep), undefined);
    const path = claimPath(deep);
    assert.is(findSocketPath(deep), path);
    assert.is(statSync(dirname(path)).mode & 0o777, 0o700);
    writeFileSync(path, '');
    leavePlace(deep);
    assert.equal([existsSync(dirname(path)), findSocketPath(deep)], [false, undefined]);
  } finally {
    removeFolder(dir);
  }
});

test('a socket that anyone may have put there is none', () => {
  const dir = temporaryFolder();
  try {
    const deep = join(dir, 'x'.repeat(120));
    mkdirSync(deep);
    const path = claimPath(deep);
    const name = join(deep, readdirSync(deep)[0]!);
    const folder = dirname(path);
    const others = [join(folder, 'other.sock'), join(dir, 'elsewhere', basename(path)), join(deep, basename(path))];
    mkdirSync(join(dir, 'elsewhere'), { mode: 0o700 });
    chmodSync(deep, 0o700);
    for (const other of others) {
      writeFileSync(name, other);
      assert.is(findSocketPath(deep), undefined, other);
    }
    writeFileSync(name, path);
    assert.is(findSocketPath(deep), path);
    chmodSync(folder, 0o750);
    assert.is(findSocketPath(deep), undefined);
    leavePlace(deep);
  } finally {
    removeFolder(dir);
  }
});

test.run();
