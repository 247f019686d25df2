/** The meta pages of made-up LMDB files: each kind of damage is found before a file is mapped. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DamagedError } from '../../../src/group/ports/storage.js';
import * as lmdb from '../../../src/store/files/lmdb-file.js';
import { temporaryFolder } from '../../support/process.js';

/** A meta page as `lmdb-file.ts` describes it. Unset members are those of a valid page. */
function metaPage({ flags = 8, magic = 0xbeefc0de, version = 2, pageBytes = 512, lastPage = 1, txn = 1 }): Buffer {
  const page = Buffer.alloc(512);
  page.writeUInt16LE(flags, 18);
  page.writeUInt32LE(magic, 24);
  page.writeUInt32LE(version, 28);
  page.writeUInt32LE(pageBytes, 48);
  page.writeUInt16LE(3, 48 + 6);
  page.writeBigUInt64LE(77n, 48 + 40);
  page.writeUInt16LE(4, 96 + 6);
  page.writeBigUInt64LE(78n, 96 + 40);
  page.writeBigUInt64LE(BigInt(lastPage), 24 + 120);
  page.writeBigUInt64LE(BigInt(txn), 24 + 128);
  return page;
}

test('a missing, empty or cut file, and meta pages that are not those of the last two commits, are damage', () => {
  const dir = temporaryFolder();
  const file = join(dir, 'data.mdb');
  const damageOf = (...pages: readonly Buffer[]) => {
    writeFileSync(file, Buffer.concat(pages));
    return damage();
  };
  const damage = () => {
    try {
      lmdb.checkEnvironmentFile(file);
      return null;
    } catch (error) {
      assert.instance(error, DamagedError);
      return (error as Error).message.replace(`${file}: `, '');
    }
  };
  assert.is(damage(), 'the file is missing');
  assert.is(damageOf(), 'the file is empty');
  const [one, two] = [metaPage({}), metaPage({ txn: 2 })];
  for (const pages of [
    [one, two],
    [two, one],
    [metaPage({ txn: 0 }), metaPage({ txn: 0 })],
    [metaPage({ version: 0x10002 }), two],
  ])
    assert.is(damageOf(...pages), null);
  const [first, second] = ['the first meta page is not valid', 'the second meta page is not valid'];
  for (const of of [
    { flags: 2 },
    { magic: 1 },
    { version: 3 },
    { pageBytes: 256 },
    { pageBytes: 131_072 },
    { pageBytes: 768 },
  ]) {
    assert.is(damageOf(metaPage(of), two), first, JSON.stringify(of));
    assert.is(damageOf(one, metaPage({ ...of, txn: 2 })), second, JSON.stringify(of));
  }
  assert.is(damageOf(one.subarray(0, 191)), first);
  assert.is(damageOf(one), second);
  assert.is(damageOf(one, metaPage({ txn: 2, pageBytes: 1_024 })), 'the meta pages have different page sizes');
  for (const txn of [1, 3])
    assert.is(damageOf(one, metaPage({ txn })), 'the meta pages are not those of the last two commits');
  const short = 'the file has 1024 bytes, and its pages need 1536';
  assert.is(damageOf(one, metaPage({ txn: 2, lastPage: 2 })), short);
  assert.is(damageOf(metaPage({ lastPage: 2 }), two), null, 'the older page does not count');
  assert.is(damageOf(metaPage({ txn: 2, lastPage: 2 }), one), short);
});

test('the newest meta page gives the trees of the newest commit', () => {
  const dir = temporaryFolder();
  const file = join(dir, 'data.mdb');
  const trees = { free: { depth: 3, root: 77 }, main: { depth: 4, root: 78 } };
  for (const txns of [
    [4, 5],
    [5, 4],
  ]) {
    writeFileSync(file, Buffer.concat(txns.map((txn) => metaPage({ txn, lastPage: txn }))));
    assert.equal(lmdb.withFile(file, lmdb.newestMeta), { pageBytes: 512, lastPage: 5, txn: 5, ...trees });
  }
  assert.is(lmdb.treeOf(Buffer.alloc(47)), undefined);
  assert.equal(lmdb.treeOf(Buffer.alloc(48)), { depth: 0, root: 0 });
});

test('a path is there, is not there, or cannot be looked up', () => {
  const dir = temporaryFolder();
  writeFileSync(join(dir, 'file'), '');
  mkdirSync(join(dir, 'folder'));
  const paths = ['file', 'folder', 'none', 'file/below'].map((name) => lmdb.isThere(join(dir, name)));
  assert.equal(paths, [true, true, false, false]);
  assert.throws(() => lmdb.isThere(join(dir, 'x'.repeat(300))), /ENAMETOOLONG/);
});

test.run();
