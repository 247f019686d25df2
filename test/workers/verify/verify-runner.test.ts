/** The verifying process as its parent sees it. */
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { VerifyReport } from '../../../src/group/api.js';
import { sourceOf } from '../../../src/group/backup/copy-store.js';
import { DiskFullError, UnreadError } from '../../../src/group/ports/storage.js';
import { refuseStart, StartRefusedError } from '../../../src/node/startup.js';
import { copyIntoFolder } from '../../../src/workers/backup/copy-folder.js';
import { verifyInChild } from '../../../src/workers/verify/verify-runner.js';
import { Life } from '../../group/life.js';
import { withBounds } from '../../sim/profile.js';
import { rejection } from '../../store/log-contract.js';
import { temporaryFolder } from '../../support/process.js';
import { until } from '../../support/until.js';

/** The processes that this one has made and that still live. */
function children(): readonly number[] {
  return readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
}

/** Verifies a folder in which nothing is yet, while a signal ends the first process that does. */
async function verifiedUnder(signal: NodeJS.Signals): Promise<VerifyReport> {
  const dir = temporaryFolder();
  const verified = verifyInChild(dir, 'start');
  await until(() => children().length > 0);
  process.kill(children()[0]!, signal);
  return await verified;
}

if (process.platform === 'linux') {
  test('Ctrl-C that reaches the verifying process restarts it, and is no damage', async () => {
    const { ok, faults } = await verifiedUnder('SIGINT');
    assert.ok(ok, faults.join());
  });

  test('the verifying process has a process group of its own, so that Ctrl-C in a terminal leaves it alone', async () => {
    const dir = temporaryFolder();
    const verified = verifyInChild(dir, 'start');
    await until(() => children().length > 0);
    const pid = children()[0]!;
    // After the name, which may hold blanks, are the state, the parent and the group.
    assert.is(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')[2], String(pid));
    assert.ok((await verified).ok);
  });

  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    test(`${signal} to the verifying process says nothing about the store`, async () => {
      const error = await verifiedUnder(signal).catch((reason: unknown) => reason);
      assert.instance(error, UnreadError);
      assert.match(String(error), signal);
      assert.not.match(String(error), 'damaged');
      assert.throws(
        () => refuseStart(error),
        (refused: unknown) => refused instanceof StartRefusedError,
      );
    });
  }

  test('any other death of the verifying process is reported', async () => {
    const { faults, ...report } = await verifiedUnder('SIGSEGV');
    assert.equal(report, { ok: false, lastSeq: 0, batches: 0, records: 0, auditEntries: 0, snapshots: [] });
    assert.match(faults.join(), 'SIGSEGV');
  });

  test('a bus error while the store is read is damage, unless the disk is full', async () => {
    const { ok, faults } = await verifiedUnder('SIGBUS');
    assert.is(ok, false);
    assert.match(faults.join(), 'SIGBUS');
    await withBounds({ diskFullBytes: Number.POSITIVE_INFINITY }, async () => {
      const error = await rejection(verifiedUnder('SIGBUS'));
      assert.instance(error, DiskFullError);
    });
  });
}

test('a check in the background rests after each step, for longer than the step took', async () => {
  const dir = temporaryFolder();
  const { machine } = await Life.reporting(2);
  await copyIntoFolder(dir, sourceOf(machine.log), { progress: () => undefined });
  const steps: number[] = [];
  const { ok } = await verifyInChild(dir, 'background', () => void steps.push(performance.now()));
  assert.is(ok, true);
  // The first step opens the files of the store, which takes more than .6 ms on any machine; a step itself takes less.
  const restedMs = steps[1]! - steps[0]!;
  assert.ok(restedMs > 5, `${restedMs} ms`);
});

test.run();
