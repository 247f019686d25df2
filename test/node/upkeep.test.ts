/** The times at which events may expire. group/removal/retention.slow.test.ts covers their removal. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { GroupLoop } from '../../src/group/actor/loop.js';
import { retention, writeHead } from '../../src/node/upkeep.js';
import { readExpectedHead } from '../../src/store/files/folder-files.js';
import { rejection } from '../store/log-contract.js';
import { t0 } from '../support/given.js';
import { temporaryFolder } from '../support/process.js';
import { until } from '../support/until.js';

const dayMs = 86_400_000;

/** A group whose newest record is of `lastAt`, and what it was told to let go. */
function groupOf(lastAt: number) {
  const resumed: unknown[] = [];
  const loop = { state: { lastAt }, failed: false, draining: false, resume: (retire: unknown) => resumed.push(retire) };
  return { loop: loop as unknown as GroupLoop, resumed };
}

test('retention removes old events from the start on', async () => {
  const { loop, resumed } = groupOf(t0 - dayMs);
  const stop = retention(
    () => loop,
    { now: () => t0 },
    () => 30,
  );
  assert.equal(resumed, [{ before: t0 - 30 * dayMs, now: t0 }]);
  await stop();
});

test('a clock a day ahead of the newest record has until the next look', async () => {
  const { loop, resumed } = groupOf(t0 - dayMs - 1);
  let looks = 0;
  const clock = { now: () => t0 + looks++ };
  const stop = retention(
    () => loop,
    clock,
    () => 30,
    1,
  );
  assert.equal(resumed, []);
  await until(() => resumed.length > 1);
  assert.equal(resumed[0], { before: t0 + 1 - 30 * dayMs, now: t0 + 1 });
  await stop();
});

test('a clock that was corrected removes no event', async () => {
  const { loop, resumed } = groupOf(t0 - dayMs);
  const times = [t0 + 3650 * dayMs];
  const stop = retention(
    () => loop,
    { now: () => times.shift() ?? t0 },
    () => 30,
    1,
  );
  await until(() => resumed.length > 0);
  assert.equal(resumed[0], { before: t0 - 30 * dayMs, now: t0 });
  await stop();
});

test('without an age nothing leaves', async () => {
  const { loop, resumed } = groupOf(t0);
  await retention(
    () => loop,
    { now: () => t0 },
    () => 0,
  )();
  assert.equal(resumed, []);
});

test('the expected head is not written before the files hold its records', async () => {
  const dir = temporaryFolder();
  const head = { lastSeq: 7, chain: new Uint8Array(32) };
  const loopOf = (stored: () => Promise<void>) => ({ actor: { durableHead: head }, log: { stored } }) as GroupLoop;
  const refused = writeHead(
    loopOf(() => Promise.reject(new Error('no space left'))),
    dir,
    false,
  );
  assert.match(String(await rejection(refused)), /no space left/);
  assert.is(readExpectedHead(dir), null);
  await writeHead(
    loopOf(async () => undefined),
    dir,
    false,
  );
  assert.is(readExpectedHead(dir)?.lastSeq, 7);
});

test.run();
