/** A scrub of a small log, and what defers it. The slow tests scrub large ones. */
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { OwnerLostError, ScrubDeferredError } from '../../../src/group/ports/storage.js';
import { checkEnvironmentFile } from '../../../src/store/files/lmdb-file.js';
import { logFolderOf } from '../../../src/store/log/lmdb-log.js';
import { openLogEnvironment } from '../../../src/store/log/log-environment.js';
import { scrubFreePages } from '../../../src/store/log/scrub.js';
import { acquireFolder } from '../../../src/store/ownership/owner.js';
import { inFastFolder } from '../../faults/fault.js';
import { closing } from '../../support/closing.js';
import { deadProcess } from '../dead-process.js';
import { rejection, rejectionAs } from '../log-contract.js';
import { assertErased, blanks, erasureOf, fill, marked, marksInFile } from './marked-batches.js';

test('a reader that stays on old pages defers the scrub, which erases once the reader ends', () =>
  inFastFolder(async (dir) => {
    await using writer = closing(await acquireFolder(dir));
    await fill(writer, 1, 60);
    const environment = openLogEnvironment(logFolderOf(dir));
    const reader = environment.root.useReadTransaction();
    environment.log.get(Buffer.alloc(8), { transaction: reader });
    const { seqs, rewrites } = erasureOf(1, 60);
    await writer.append(null, rewrites);
    assert.ok(marksInFile(dir).has('mark-000001-0000'), 'without a scrub the replaced bytes stay in the file');
    const times = { scrubReaderWaitMs: 20, scrubReaderLookMs: 5 };
    const commit = async (write: () => Promise<boolean>) => void (await write());
    assert.instance(await rejection(scrubFreePages(environment, commit, times)), ScrubDeferredError);
    reader.done();
    await writer.scrub();
    assertErased(dir, seqs, []);
    await environment.root.close();
  }));

test('a scrub also overwrites pages that an interrupted commit left behind the last page', () =>
  inFastFolder(async (dir) => {
    await using writer = closing(await acquireFolder(dir));
    await fill(writer, 1, 60);
    await writer.scrub();
    const file = join(logFolderOf(dir), 'data.mdb');
    appendFileSync(file, marked(999, 74 * 4_096 + 100));
    assert.ok(marksInFile(dir).has('mark-000999-0000'));
    const { seqs, rewrites } = erasureOf(1, 60);
    await writer.append(null, rewrites);
    await writer.scrub();
    assertErased(dir, [...seqs, 999], []);
    const bytes = readFileSync(file).toString('latin1');
    assert.not(bytes.includes('mark-000999'));
  }));

test('an owner that died between erasing and scrubbing leaves the next one able to scrub', () =>
  inFastFolder(async (dir) => {
    await using first = closing(await acquireFolder(dir, deadProcess()));
    await fill(first, 1, 90);
    const { seqs, rewrites } = erasureOf(1, 90);
    await first.append(null, rewrites);
    await using second = closing(await acquireFolder(dir, deadProcess()));
    await second.scrub();
    assertErased(dir, seqs, []);
  }));

test('pages of zeros that an interrupted scrub left are given back at the next start', () =>
  inFastFolder(async (dir) => {
    await (await acquireFolder(dir)).close();
    const environment = openLogEnvironment(logFolderOf(dir));
    for (let page = 0; page < 100; page += 1)
      await environment.scrub.put(Buffer.from([0, 0, 0, page]), Buffer.alloc(4_072));
    const writer = await acquireFolder(dir);
    assert.equal([...environment.scrub.getKeys()], []);
    await writer.close();
    await environment.root.close();
  }));

test('a fenced owner cannot scrub', () =>
  inFastFolder(async (dir) => {
    await using first = closing(await acquireFolder(dir, deadProcess()));
    await fill(first, 1, 5);
    const second = await acquireFolder(dir, deadProcess());
    assert.instance(await rejection(first.scrub()), OwnerLostError);
    await second.close();
  }));

test('the file holds the pages it counts after every commit of scrubs and rewrites', () =>
  inFastFolder(async (dir) => {
    await using writer = closing(await acquireFolder(dir));
    for (let round = 0; round < 20; round += 1) {
      await fill(writer, round * 10 + 1, 10);
      await writer.append(null, erasureOf(round * 10 + 1, 10).rewrites);
      if (round % 4 === 0) await writer.scrub();
      checkEnvironmentFile(join(logFolderOf(dir), 'data.mdb'));
    }
  }));

test('a scrub of hundreds of free pages makes the file no larger, and gives back what it claimed', () =>
  inFastFolder(async (dir) => {
    await using writer = closing(await acquireFolder(dir));
    const seqs = Array.from({ length: 600 }, (_, i) => i + 1);
    await Promise.all(seqs.map((seq) => writer.append({ firstSeq: seq, bytes: marked(seq, 3_000) }, [])));
    await writer.append(null, blanks(seqs, 20));
    const { lastPage } = writer.pages();
    await writer.scrub();
    assert.equal([writer.pages().lastPage, marksInFile(dir).size], [lastPage, 0]);
    const environment = openLogEnvironment(logFolderOf(dir));
    assert.equal([...environment.scrub.getKeys()], []);
    await environment.root.close();
  }));

test('a scrub that is aborted is deferred to the next start', () =>
  inFastFolder(async (dir) => {
    await using writer = closing(await acquireFolder(dir));
    await fill(writer, 1, 10);
    const deferred = await rejectionAs(ScrubDeferredError, writer.scrub(AbortSignal.abort()));
    assert.match(deferred.message, 'the node is shutting down');
  }));

test.run();
