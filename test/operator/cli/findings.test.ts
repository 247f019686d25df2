import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type FolderFacts, judgeDisk } from '../../../src/operator/cli/findings.js';

const MiB = 1_048_576;

function disk(over: Partial<FolderFacts> = {}): string[] {
  const facts = { freeBytes: 900 * MiB, freeFiles: null, fileSystem: 0xef53, storeBytes: 300 * MiB, ...over };
  return judgeDisk(facts as FolderFacts, 100 * MiB).map(({ result, text }) => `${result} ${text}`);
}

test('a data folder lies on a local disk: one on a network fails, and one in memory is warned of', () => {
  assert.equal(
    disk().map((one) => one.slice(0, 2)),
    ['ok'],
  );
  assert.equal(disk({ fileSystem: 26985 }), ['fail the data folder lies on NFS']);
  assert.match(disk({ fileSystem: 0x01021994 }).join(), 'warn the data folder lies in a file system in memory');
});

test('free space below the bound fails; below twice the bound, or the size of the store, is warned of', () => {
  const resultOf = (freeBytes: number) => disk({ freeBytes }).map((one) => one.split(' ')[0]);
  assert.equal(
    [99, 100, 299, 300].map((free) => resultOf(free * MiB)),
    [['fail'], ['warn'], ['warn'], ['ok']],
  );
  assert.equal(
    disk({ freeBytes: 199 * MiB, storeBytes: 0 }).map((one) => one.slice(0, 4)),
    ['warn'],
  );
});

test.run();
