/** The sidecar's allow list on disk and in memory. */
import { mkdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { AllowFile } from '../../src/peer/sidecar/allow-file.js';
import { temporaryFolder } from '../support/process.js';

const dir = temporaryFolder();
const path = join(dir, 'allow.json');
const [one, other] = ['a'.repeat(64), 'b'.repeat(64)];
const later = Date.now() + 3_600_000;

test('an entry that cannot be written is not on the list, and one that cannot be removed stays', async () => {
  const file = await AllowFile.open(path);
  await file.add(one, later, 'a streamer');
  rmSync(path);
  // A folder in place of the file makes every write fail.
  mkdirSync(path);
  assert.instance(await file.add(other, later, '').catch((error: unknown) => error), Error);
  assert.instance(await file.remove(one).catch((error: unknown) => error), Error);
  assert.equal([file.list.has(one), file.list.has(other)], [true, false]);
  rmdirSync(path);
  assert.ok(await file.remove(one));
  assert.not(await file.remove(one));
  await Promise.all([file.add(one, later, ''), file.add(other, later, '')]);
  assert.is((await AllowFile.open(path)).list.entries().length, 2);
});

test.run();
