/** A copy into a folder notifies its caller before the folder's log changes, and waits for it. */
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { sourceOf } from '../../../src/group/backup/copy-store.js';
import { lastSeqOf } from '../../../src/group/recovery/recovery.js';
import { openLogReader } from '../../../src/store/log/lmdb-log.js';
import { copyIntoFolder } from '../../../src/workers/backup/copy-folder.js';
import { Life } from '../../group/life.js';
import { temporaryFolder } from '../../support/process.js';

const progress = () => undefined;

async function lastIn(dir: string): Promise<number> {
  const log = openLogReader(dir);
  try {
    return lastSeqOf(log);
  } finally {
    await log.close();
  }
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

test.run();
