import { readdirSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { verifyForStart } from '../../../src/workers/verify/verify-folder.js';
import { temporaryFolder } from '../../support/process.js';

test('a new folder is intact, and its verification leaves it empty', async () => {
  const dir = temporaryFolder();
  const { ok, lastSeq, faults } = await verifyForStart(dir);
  assert.equal({ ok, lastSeq, faults }, { ok: true, lastSeq: 0, faults: [] });
  assert.equal(readdirSync(dir), []);
});

test.run();
