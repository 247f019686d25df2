/** The folder of an earlier build whose newest commit a power cut took back opens with every acknowledged event. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DamagedError } from '../../../src/group/ports/storage-errors.js';
import { dataFileOf } from '../../../src/store/files/lmdb-file.js';
import { BUFFER_KEY } from '../../../src/store/log/double-write-buffer.js';
import { logFolderOf, openLogReader } from '../../../src/store/log/lmdb-log.js';
import { openLogEnvironment } from '../../../src/store/log/log-environment.js';
import { claimFolder } from '../../../src/store/ownership/owner.js';
import { verifyFolder } from '../../../src/workers/verify/verify-folder.js';
import { rejection } from '../../contracts/log.js';
import { goldenFolder } from '../../support/golden-life.js';
import { startTestNode } from '../../support/node.js';
import { deadProcess, removeFolder, temporaryFolder } from '../temporary-folder.js';

/** The earlier build wrote one player for each of six events; the power cut took the commit of the last one back. */
const fixture = join(goldenFolder, 'store-earlier', 'interrupted-commit.mdb.gz');
const variables = { GROUP_ID: 'golden', GROUP_SALT: 'a salt of sixteen bytes or more' };
const PLAYERS = 6;
/** Number of the first record in the batch of that commit. */
const LOST_SEQ = 8;

function interruptedFolder(): string {
  const dir = temporaryFolder();
  mkdirSync(logFolderOf(dir));
  writeFileSync(dataFileOf(logFolderOf(dir)), gunzipSync(readFileSync(fixture)));
  return dir;
}

async function withMeta(dir: string, act: (meta: ReturnType<typeof openLogEnvironment>['meta']) => void) {
  const { root, meta } = openLogEnvironment(logFolderOf(dir));
  root.transactionSync(() => act(meta));
  await root.close();
}

async function newestSeq(dir: string): Promise<number | undefined> {
  const reader = openLogReader(dir);
  const newest = reader.last()?.firstSeq;
  await reader.close();
  return newest;
}

test('a node serves every event that an earlier build acknowledged before the power cut', async () => {
  const dir = interruptedFolder();
  const node = await startTestNode({ DATA_DIR: dir, ...variables });
  assert.is(node.group.status().counts.players, PLAYERS);
  await node.close();
  assert.equal((await verifyFolder(dir, 'full')).faults, []);
  removeFolder(dir);
});

test('the first claim appends the batch once and removes the buffer', async () => {
  const dir = interruptedFolder();
  assert.is.not(await newestSeq(dir), LOST_SEQ);
  await (await claimFolder(dir, deadProcess())).abandon();
  assert.is(await newestSeq(dir), LOST_SEQ);
  await withMeta(dir, (meta) => assert.is(meta.getBinary(BUFFER_KEY), undefined));
  const next = await claimFolder(dir, deadProcess());
  assert.is(next.last()?.firstSeq, LOST_SEQ);
  await next.close();
  removeFolder(dir);
});

test('a scrub overwrites the bytes of the removed buffer', async () => {
  const dir = interruptedFolder();
  const writer = await claimFolder(dir, deadProcess());
  const bytes = Buffer.from(writer.last()!.bytes);
  const copyCount = () =>
    readFileSync(dataFileOf(logFolderOf(dir)))
      .toString('latin1')
      .split(bytes.toString('latin1')).length - 1;
  assert.ok(copyCount() > 1);
  await writer.scrub();
  assert.is(copyCount(), 1);
  await writer.close();
  removeFolder(dir);
});

test('a batch whose checksum fails is not appended', async () => {
  const dir = interruptedFolder();
  await withMeta(dir, (meta) => {
    const buffer = Buffer.from(meta.getBinary(BUFFER_KEY)!);
    for (let slot = 0; slot < buffer.length; slot += 65_536)
      buffer.writeUInt8(buffer.readUInt8(slot + 40) ^ 1, slot + 40);
    meta.putSync(BUFFER_KEY, buffer, 1);
  });
  const before = await newestSeq(dir);
  await (await claimFolder(dir, deadProcess())).close();
  assert.is(await newestSeq(dir), before);
  removeFolder(dir);
});

test('a buffer of an unknown size is refused as damage, and nothing is changed', async () => {
  const dir = interruptedFolder();
  await withMeta(dir, (meta) => meta.putSync(BUFFER_KEY, Buffer.alloc(100_000), 1));
  const error = await rejection(claimFolder(dir, deadProcess()));
  assert.instance(error, DamagedError);
  assert.match((error as Error).message, /double-write buffer: expected 262144 bytes, found 100000/);
  await withMeta(dir, (meta) => assert.is(meta.getBinary(BUFFER_KEY)?.length, 100_000));
  removeFolder(dir);
});

test.run();
