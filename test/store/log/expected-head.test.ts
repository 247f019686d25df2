/** The expected head outlives its writer, and what is no head is damage. */
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DamagedError } from '../../../src/group/ports/storage.js';
import { readExpectedHead, writeExpectedHead } from '../../../src/store/files/folder-files.js';
import { temporaryFolder } from '../../support/process.js';

test('a folder that never had a head has none', () => {
  const dir = temporaryFolder();
  assert.is(readExpectedHead(dir), null);
});

test('the newest head is read back, synced or not, and no other file is left', async () => {
  const dir = temporaryFolder();
  await writeExpectedHead(dir, { lastSeq: 1, chain: 'aa' });
  await writeExpectedHead(dir, { lastSeq: 2 ** 53 - 1, chain: 'bb' }, { sync: true });
  assert.equal(readExpectedHead(dir), { lastSeq: 2 ** 53 - 1, chain: 'bb' });
  assert.equal(readdirSync(dir), ['head.json']);
  assert.is(statSync(join(dir, 'head.json')).mode & 0o777, 0o600);
});

test('an empty head file, as a power cut can leave it, is none', async () => {
  const dir = temporaryFolder();
  writeFileSync(join(dir, 'head.json'), '');
  assert.is(readExpectedHead(dir), null);
  await writeExpectedHead(dir, { lastSeq: 3, chain: 'cc' });
  assert.equal(readExpectedHead(dir), { lastSeq: 3, chain: 'cc' });
});

test('a head file that holds no head is damage and named', () => {
  const dir = temporaryFolder();
  for (const text of ['{', 'null', '[]', '{"last_seq":1}', '{"last_seq":1.5,"chain":"a"}', '{"chain":"a"}']) {
    writeFileSync(join(dir, 'head.json'), text);
    assert.throws(
      () => readExpectedHead(dir),
      (error: unknown) => error instanceof DamagedError && error.message.includes('head.json'),
    );
  }
});

test.run();
