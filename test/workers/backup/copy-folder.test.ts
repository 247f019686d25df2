/** A copy into a folder: what its caller learns before the folder's log changes, and how replaced bytes are removed. */
import { renameSync } from 'node:fs';
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { sourceOf } from '../../../src/group/backup/copy-store.js';
import { ScrubDeferredError } from '../../../src/group/ports/storage.js';
import { lastSeqOf } from '../../../src/group/recovery/recovery.js';
import { logFolderOf, openLogReader } from '../../../src/store/log/lmdb-log.js';
import { type CopyHooks, copyIntoFolder } from '../../../src/workers/backup/copy-folder.js';
import { inPieces, Life } from '../../group/life.js';
import { rejection } from '../../store/log-contract.js';
import { closing } from '../../support/closing.js';
import { temporaryFolder } from '../../support/process.js';

const progress = () => undefined;

async function lastIn(dir: string): Promise<number> {
  await using log = closing(openLogReader(dir));
  return lastSeqOf(log);
}

test('no record is written until the caller has noted that the log changes, asked once', async () => {
  const life = await Life.reporting(300);
  const dir = temporaryFolder();
  let calls = 0;
  const seen: number[] = [];
  const beforeChange = async () => {
    calls++;
    for (let turn = 0; turn < 20; turn++) await turnOfLoop();
    seen.push(await lastIn(dir));
  };
  const { lastSeq } = await copyIntoFolder(dir, sourceOf(life.machine.log), { progress, beforeChange });
  assert.equal([calls, seen, await lastIn(dir)], [1, [0], lastSeq]);
  assert.is(lastSeq, lastSeqOf(life.machine.log));
});

test('a log that has every record stays as it is, and its caller is not asked', async () => {
  const life = await Life.reporting(20);
  const dir = temporaryFolder();
  await copyIntoFolder(dir, sourceOf(life.machine.log), { progress });
  const beforeChange = async () => assert.unreachable('nothing changes');
  const again = await copyIntoFolder(dir, sourceOf(life.machine.log), { progress, beforeChange });
  assert.is(again.isRewritten, false);
  assert.is(await lastIn(dir), lastSeqOf(life.machine.log));
});

/** Copies a log from which a player is erased after the first piece, so that copied batches are replaced. */
async function copiedDuringErasure(hooks: Omit<CopyHooks, 'progress'>, atEnd: (dir: string) => void = () => undefined) {
  const life = await Life.reporting(6);
  const dir = temporaryFolder();
  const source = sourceOf(inPieces(life.machine.log, 8));
  let isErased = false;
  return copyIntoFolder(
    dir,
    {
      ...source,
      async from(firstSeq) {
        const piece = await source.from(firstSeq);
        if (!isErased) await life.act({ type: 'erase', player: 'player 1' });
        isErased = true;
        return piece;
      },
      async lastSeq() {
        if (isErased) atEnd(dir);
        return source.lastSeq();
      },
    },
    { progress, ...hooks },
  );
}

test('replaced bytes whose removal must wait fail a copy, except for a caller who removes them later', async () => {
  const signal = AbortSignal.abort();
  let deferred = 0;
  const scrubDeferred = () => void deferred++;
  assert.instance(await rejection(copiedDuringErasure({ signal })), ScrubDeferredError);
  assert.is((await copiedDuringErasure({ signal, scrubDeferred })).isRewritten, true);
  assert.is(deferred, 1);
  const atEnd = (dir: string) => renameSync(logFolderOf(dir), `${logFolderOf(dir)}-moved`);
  assert.match(String(await rejection(copiedDuringErasure({ scrubDeferred }, atEnd))), 'ENOENT');
  assert.is((await copiedDuringErasure({ scrubDeferred })).isRewritten, true);
  assert.is(deferred, 1);
});

test.run();
