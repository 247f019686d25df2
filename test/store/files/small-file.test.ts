/** Small files that others write, and that may be unreadable for a moment. */
import { mkdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readIfThere, rereader } from '../../../src/store/files/small-file.js';
import { temporaryFolder } from '../../support/process.js';

test('a file that cannot be read counts as unchanged, a missing one does not', () => {
  const folder = temporaryFolder();
  const path = join(folder, 'a');
  const read = rereader(path);
  assert.is(read(), null);
  writeFileSync(path, ' text\n');
  assert.is(read(), 'text');
  rmSync(path);
  // The user who runs the tests may read every file, but no user reads a folder as a file.
  mkdirSync(path);
  assert.throws(() => readIfThere(path), /EISDIR/);
  assert.is(read(), 'text');
  rmdirSync(path);
  assert.is(read(), null);
});

test.run();
