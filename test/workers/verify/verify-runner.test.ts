/** The verifying process as its parent sees it. */
import { readFileSync, rmSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { VerifyReport } from '../../../src/group/api.js';
import { UnreadError } from '../../../src/group/ports/storage.js';
import { refuseStart, StartRefusedError } from '../../../src/node/startup.js';
import { verifyInChild } from '../../../src/workers/verify/verify-runner.js';
import { temporaryFolder } from '../../support/process.js';
import { until } from '../../support/until.js';

/** The processes that this one has made and that still live. */
function children(): readonly number[] {
  return readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
}

/** Verifies a folder in which nothing is yet, while a signal ends the first process that does. */
async function verifiedUnder(signal: NodeJS.Signals): Promise<VerifyReport> {
  const dir = temporaryFolder();
  try {
    const verified = verifyInChild(dir, 'start');
    await until(() => children().length > 0);
    process.kill(children()[0]!, signal);
    return await verified;
  } finally {
    rmSync(dir, { recursive: true });
  }
}

if (process.platform === 'linux') {
  test('Ctrl-C that reaches the verifying process restarts it, and is no damage', async () => {
    const { ok, faults } = await verifiedUnder('SIGINT');
    assert.ok(ok, faults.join());
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
}

test.run();
