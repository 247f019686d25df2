/** When a node overwrites the free space of its files, and what stays due after a failure or a stop. */
import { getEventListeners } from 'node:events';
import fs, { existsSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ScrubDeferredError } from '../../../src/group/ports/storage.js';
import { limits } from '../../../src/limits.js';
import { LocalScrub, markScrubDue, scrubIfDue } from '../../../src/node/cluster/local-scrub.js';
import { acquireFolder } from '../../../src/store/ownership/owner.js';
import { inFastFolder } from '../../faults/fault.js';
import { assertErased, erasureOf, fill, marksInFile } from '../../store/log/marked-batches.js';
import { rejection } from '../../store/log-contract.js';
import { temporaryFolder } from '../../support/process.js';
import { until } from '../../support/until.js';
import { VirtualTime } from '../../support/virtual-time.js';

function scrubOf(overwrite: (signal: AbortSignal) => Promise<void> = async () => undefined) {
  const dir = temporaryFolder();
  const failures: string[] = [];
  let runs = 0;
  const counted = (signal: AbortSignal) => {
    runs += 1;
    return overwrite(signal);
  };
  const time = new VirtualTime();
  const onFailure = (what: string, error: unknown) => failures.push(`${what}: ${(error as Error).message}`);
  const scrub = new LocalScrub(dir, counted, time, onFailure);
  return { scrub, dir, time, failures, runs: () => runs, isDue: () => existsSync(join(dir, 'scrub-due')) };
}

/** Overwrites until the signal ends it. */
const untilAborted = (signal: AbortSignal) =>
  new Promise<void>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

test('a scrub runs on demand, one after the other, and a failed one stays due and delays no other', async () => {
  const order: string[] = [];
  const { scrub, dir, failures, isDue } = scrubOf(async () => {
    order.push('begins');
    await new Promise((resolve) => setImmediate(resolve));
    order.push('ends');
    if (order.length === 2) throw new Error('disk');
  });
  markScrubDue(dir);
  const [first, second] = [rejection(scrub.run()), scrub.run()];
  assert.is(((await first) as Error).message, 'disk');
  assert.ok(isDue());
  await second;
  assert.equal([order, isDue(), failures], [['begins', 'ends', 'begins', 'ends'], false, []]);
});

test('what is due is overwritten at the start and later, and a failure is reported and tried again', async () => {
  let fails = true;
  const { scrub, dir, time, failures, runs, isDue } = scrubOf(async () => {
    if (fails) throw new Error('disk');
  });
  scrub.start();
  assert.is(runs(), 0, 'nothing was due');
  markScrubDue(dir);
  await time.until(() => failures.length === 2, Number.POSITIVE_INFINITY);
  assert.equal([failures[0], time.elapsed()], ['overwriting free space: disk', 2 * limits.scrubOwnEveryMs]);
  fails = false;
  await time.until(() => !isDue(), Number.POSITIVE_INFINITY);
  await scrub.stop();
  assert.not(await time.step(), 'no timer is left');
});

test('what is marked while a scrub runs stays due, since the scrub may have passed it', async () => {
  let marksAgain = true;
  const { scrub, dir, isDue } = scrubOf(async () => {
    if (marksAgain) scrub.mark();
  });
  markScrubDue(dir);
  await scrub.run();
  const afterFirst = isDue();
  marksAgain = false;
  await scrub.run();
  assert.equal([afterFirst, isDue()], [true, false]);
});

test('a scrub of the leader waits for the one that runs, and what was marked before it is no longer due', async () => {
  const order: string[] = [];
  const { scrub, dir, isDue } = scrubOf(async () => {
    order.push('own begins');
    await new Promise((resolve) => setImmediate(resolve));
    order.push('own ends');
    markScrubDue(dir);
  });
  markScrubDue(dir);
  await Promise.all([scrub.run(), scrub.run(async () => void order.push('leader'))]);
  assert.equal([order, isDue()], [['own begins', 'own ends', 'leader'], false]);
});

test('a mark is on the disk with its folder before the replaced records are, also after a power cut', () => {
  const dir = temporaryFolder();
  const whole = fs.fsyncSync;
  const synced: string[] = [];
  fs.fsyncSync = (descriptor) => {
    synced.push(fs.readlinkSync(`/proc/self/fd/${descriptor}`));
    whole(descriptor);
  };
  syncBuiltinESMExports();
  try {
    markScrubDue(dir);
  } finally {
    fs.fsyncSync = whole;
    syncBuiltinESMExports();
  }
  const folder = fs.realpathSync(dir);
  assert.equal(synced, [join(folder, 'scrub-due'), folder]);
});

test('a folder that leaves its cluster is overwritten if that is due, since a node alone would not do it', () =>
  inFastFolder(async (dir) => {
    const writer = await acquireFolder(dir);
    await fill(writer, 1, 60);
    const { seqs, rewrites } = erasureOf(1, 60);
    await writer.append(null, rewrites);
    await writer.close();
    await scrubIfDue(dir);
    assert.ok(marksInFile(dir).has('mark-000001-0000'));
    markScrubDue(dir);
    await scrubIfDue(dir);
    assertErased(dir, seqs, []);
    assert.not(existsSync(join(dir, 'scrub-due')));
    await (await acquireFolder(dir)).close();
  }));

test('a stop aborts the scrub that runs, reports nothing, and begins no other', async () => {
  const { scrub, dir, failures, runs, isDue } = scrubOf(untilAborted);
  markScrubDue(dir);
  scrub.start();
  const next = rejection(scrub.run());
  await until(() => runs() === 1);
  await scrub.stop();
  assert.instance(await next, ScrubDeferredError);
  assert.equal([runs(), failures, isDue()], [1, [], true]);
});

test('a scrub for an erasure waits for no earlier one once the node stops', async () => {
  for (const abortsFirst of [true, false]) {
    const { scrub, runs } = scrubOf(untilAborted);
    const earlier = rejection(scrub.run());
    await until(() => runs() === 1);
    const stopping = new AbortController();
    if (abortsFirst) stopping.abort();
    const own = rejection(scrub.run(async () => assert.unreachable(), stopping.signal));
    stopping.abort();
    assert.instance(await own, ScrubDeferredError);
    assert.instance(await earlier, Error);
  }
});

test('a scrub that has ended leaves no listener at the signal of the node', async () => {
  const { scrub } = scrubOf(async () => undefined);
  const { signal } = new AbortController();
  await scrub.run(undefined, signal);
  await scrub.stop();
  assert.equal(getEventListeners(signal, 'abort'), []);
});

test.run();
