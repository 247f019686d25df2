import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { backUpInChild } from '../../../src/workers/backup/backup-processes.js';
import { temporaryFolder } from '../../support/process.js';

test('a refusal of the process that makes a backup reaches the caller with its own code and reason', async () => {
  const dir = temporaryFolder();
  const task = { dataDir: dir, dir: join(dir, 'backup'), version: '0' };
  const watch = { onStatus: () => undefined, signal: new AbortController().signal };
  const error = `${dir} has no store`;
  assert.equal(await backUpInChild(task, watch), { ok: false, code: 'no_store', error });
  rmSync(dir, { recursive: true, force: true });
});

test.run();
