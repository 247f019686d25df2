import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { limits } from '../../../src/limits.js';
import { socketPathOf } from '../../../src/operator/protocol/socket-path.js';
import { temporaryFolder } from '../../support/process.js';

test('the socket lies in the data folder, which a descriptor shortens if its path is too long', () => {
  const dir = temporaryFolder();
  assert.is(socketPathOf(dir).path, join(dir, 'operator.sock'));
  const longest = join(dir, 'x'.repeat(limits.socketPathBytes - join(dir, '', 'operator.sock').length - 1));
  assert.is(socketPathOf(longest).path, join(longest, 'operator.sock'), 'no descriptor is needed yet');
  assert.throws(() => socketPathOf(`${longest}x`), /ENOENT/);
  const deep = join(dir, 'x'.repeat(120));
  assert.throws(() => socketPathOf(deep), /ENOENT/);
  mkdirSync(deep);
  const { path, end } = socketPathOf(deep);
  assert.ok(path.length <= limits.socketPathBytes);
  end();
});

test.run();
