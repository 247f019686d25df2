import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
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

test.run();
