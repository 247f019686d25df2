/** The verifying process as its parent sees it. */
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { VerifyReport } from '../../../src/group/api.js';
import { sourceOf } from '../../../src/group/backup/copy-store.js';
import { DiskFullError, UnreadError } from '../../../src/group/ports/storage.js';
import { refuseStart, StartRefusedError } from '../../../src/node/startup.js';
import { copyIntoFolder } from '../../../src/workers/backup/copy-folder.js';
import { verifyForStart } from '../../../src/workers/verify/verify-folder.js';
import { verifyInChild } from '../../../src/workers/verify/verify-runner.js';
import { Life } from '../../group/life.js';
import { withBounds } from '../../sim/profile.js';
import { rejectionAs } from '../../store/log-contract.js';
import { temporaryFolder } from '../../support/process.js';
import { until } from '../../support/until.js';

/** The processes that this one has made and that still live. */
function children(): readonly number[] {
  return readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
}

/** A verification under way of a folder in which nothing is yet, and its process. */
async function verifying() {
  const verified = verifyInChild(temporaryFolder(), 'start');
  await until(() => children().length > 0);
  return { verified, pid: children()[0]! };
}

/** Verifies a folder in which nothing is yet, while a signal ends the first process that does. */
async function verifiedUnder(signal: NodeJS.Signals): Promise<VerifyReport> {
  const { verified, pid } = await verifying();
  process.kill(pid, signal);
  return await verified;
}

if (process.platform === 'linux') {
  test('Ctrl-C that reaches the verifying process restarts it, and is no damage', async () => {
    const { ok, faults } = await verifiedUnder('SIGINT');
    assert.ok(ok, faults.join());
  });

  test('the verifying process has a process group of its own, so that Ctrl-C in a terminal leaves it alone', async () => {
    const { verified, pid } = await verifying();
    // After the name, which may hold blanks, are the state, the parent and the group.
    assert.is(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')[2], String(pid));
    assert.ok((await verified).ok);
  });

  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    test(`${signal} to the verifying process says nothing about the store`, async () => {
      const error = await rejectionAs(UnreadError, verifiedUnder(signal));
      assert.match(error.message, signal);
      assert.not.match(error.message, 'damaged');
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
      await rejectionAs(DiskFullError, verifiedUnder('SIGBUS'));
    });
  });
}

test('a new folder is intact, and its verification leaves it empty', async () => {
  const dir = temporaryFolder();
  const { ok, lastSeq, faults } = await verifyForStart(dir);
  assert.equal({ ok, lastSeq, faults }, { ok: true, lastSeq: 0, faults: [] });
  assert.equal(readdirSync(dir), []);
});

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
