/** The verifying process as its parent sees it. */
import { readFileSync, rmSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { UnreadError } from '../../src/group/ports.js';
import { refuseStart, StartRefusedError } from '../../src/startup.js';
import { verifyInChild } from '../../src/workers/verification.js';
import { temporaryFolder } from '../support/process.js';
import { until } from '../support/until.js';

/** The processes that this one has made and that still live. */
function children(): readonly number[] {
  return readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
}

if (process.platform === 'linux') {
  test('Ctrl-C that reaches the verifying process starts it again, and is no damage', async () => {
    const dir = temporaryFolder();
    const verified = verifyInChild(dir, 'start');
    await until(() => children().length > 0);
    process.kill(children()[0]!, 'SIGINT');
    const { ok, faults } = await verified;
    assert.ok(ok, faults.join());
    rmSync(dir, { recursive: true });
  });

  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    test(`${signal} to the verifying process tells nothing of the store`, async () => {
      const dir = temporaryFolder();
      const verified = verifyInChild(dir, 'start').catch((error: unknown) => error);
      await until(() => children().length > 0);
      process.kill(children()[0]!, signal);
      const error = await verified;
      assert.instance(error, UnreadError);
      assert.match(String(error), signal);
      assert.not.match(String(error), 'damaged');
      assert.throws(
        () => refuseStart(error),
        (refused: unknown) => refused instanceof StartRefusedError,
      );
      rmSync(dir, { recursive: true });
    });
  }

  test('any other death of the verifying process is told', async () => {
    const dir = temporaryFolder();
    const verified = verifyInChild(dir, 'start');
    await until(() => children().length > 0);
    process.kill(children()[0]!, 'SIGSEGV');
    const { ok, faults } = await verified;
    assert.not.ok(ok);
    assert.match(faults.join(), 'SIGSEGV');
    rmSync(dir, { recursive: true });
  });
}

test.run();
