/** The small files of a data folder: what a node reads of them, and which it refuses. */
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { limits } from '../../../src/limits.js';
import * as files from '../../../src/store/files/folder-files.js';
import { temporaryFolder } from '../../support/process.js';
import { isDamageOf } from '../log-contract.js';

let dir = '';
test.before.each(() => {
  dir = temporaryFolder();
});

test('a folder that is marked for a cluster is refused by a node without one', async () => {
  assert.equal([files.readMark(dir), files.refusalOfMarked(dir)], [null, undefined]);
  await files.writeMark(dir, { cluster_id: 'c', node_id: 'n' });
  assert.equal(files.readMark(dir), { cluster_id: 'c', node_id: 'n' });
  assert.match(files.refusalOfMarked(dir) ?? '', `${dir} belongs to node n of the cluster c, and CLUSTER is none`);
  writeFileSync(files.markFile(dir), '{');
  const damage = `${files.markFile(dir)} is no JSON document`;
  assert.match(files.refusalOfMarked(dir) ?? '', damage);
  assert.throws(
    () => files.readMark(dir),
    isDamageOf(damage),
    'a node of a cluster refuses its start with the same words',
  );
});

test('the configured salt goes before the generated one, which must be there and whole', () => {
  const whole = 's'.repeat(limits.saltBytesMin);
  assert.equal(files.storedSalt(dir, 'configured'), { ok: true, salt: 'configured' });
  const fault = 'GROUP_SALT is unset, but this data folder was formed with one';
  assert.equal(files.storedSalt(dir, null), { ok: false, fault });
  writeFileSync(files.saltFile(dir), `${whole}\n`);
  assert.equal(files.storedSalt(dir, null), { ok: true, salt: whole });
  writeFileSync(files.saltFile(dir), `${whole.slice(1)}\n`);
  const cut = `GROUP_SALT is unset, but ${files.saltFile(dir)}, the generated salt, is truncated`;
  assert.equal(files.storedSalt(dir, null), { ok: false, fault: cut });
});

test('the last trusted time is read to the millisecond, and is 0 if the file has none', async () => {
  const at = Date.UTC(2026, 0, 1) + 7;
  assert.is(files.readClockSeen(dir), 0);
  await files.writeClockSeen(dir, at);
  assert.equal([files.readClockSeen(dir), readdirSync(dir)], [at, ['clock-seen']]);
  writeFileSync(join(dir, 'clock-seen'), 'soon');
  assert.is(files.readClockSeen(dir), 0);
});

test('the newest expected head is read back, synced or not, no other file is left, and an empty file is none', async () => {
  const file = join(dir, 'head.json');
  assert.is(files.readExpectedHead(dir), null);
  // As a power cut can leave it.
  writeFileSync(file, '');
  assert.is(files.readExpectedHead(dir), null);
  await files.writeExpectedHead(dir, { lastSeq: 1, chain: 'aa' });
  assert.equal(files.readExpectedHead(dir), { lastSeq: 1, chain: 'aa' });
  await files.writeExpectedHead(dir, { lastSeq: 2 ** 53 - 1, chain: 'bb' }, { sync: true });
  assert.equal(files.readExpectedHead(dir), { lastSeq: 2 ** 53 - 1, chain: 'bb' });
  assert.equal([readdirSync(dir), statSync(file).mode & 0o777], [['head.json'], 0o600]);
});

test('a head file that holds no head is damage and named', () => {
  for (const text of ['{', 'null', '[]', '{"last_seq":1}', '{"last_seq":1.5,"chain":"a"}', '{"chain":"a"}']) {
    writeFileSync(join(dir, 'head.json'), text);
    assert.throws(() => files.readExpectedHead(dir), isDamageOf('head.json'), text);
  }
});

test.run();
