/** The watermark's rule: when a disk is low, when it is so no longer, and whether a snapshot still fits. */
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DiskWatch } from '../../../src/group/health/disk-watch.js';
import type { DiskUse } from '../../../src/group/ports/storage.js';
import { limits } from '../../../src/limits.js';

const MB = 1e6;

/** A watch on a disk of which a test decides; `changes` and `troubles` are what it told. */
function watched(minBytes: number) {
  const timers: { act: () => void; ms: number }[] = [];
  let use: DiskUse | Error = new Error('not set');
  const read = () => {
    if (use instanceof Error) throw use;
    return use;
  };
  const changes: boolean[] = [];
  const troubles: unknown[] = [];
  const watch = new DiskWatch({
    gauge: {
      freeBytes: () => read().freeBytes,
      look: () => turnOfLoop().then(read),
    },
    timers: {
      later: (act, ms) => {
        const timer = { act, ms };
        timers.push(timer);
        return () => timers.splice(timers.indexOf(timer), 1);
      },
    },
    minBytes,
    onChange: (low) => changes.push(low),
    onFailure: (error) => troubles.push(error),
  });
  const fill = (freeBytes: number, more: Partial<DiskUse> = {}) => {
    use = { freeBytes, logBytes: 0, snapshotsBytes: 0, newestSnapshotBytes: 0, ...more };
  };
  const see = async (...filled: Parameters<typeof fill>) => {
    fill(...filled);
    await watch.look();
  };
  const fail = async () => {
    use = new Error('no such disk');
    await watch.look();
  };
  return { watch, changes, troubles, timers, see, fill, fail };
}

test('a disk is low below the watermark, and no longer a quarter above it', async () => {
  const { watch, changes, see } = watched(100 * MB);
  await see(100 * MB);
  assert.is(watch.low, false);
  await see(100 * MB - 1);
  assert.is(watch.low, true);
  for (const free of [100, 110, 124.9]) await see(free * MB);
  assert.is(watch.low, true);
  await see(125 * MB);
  assert.is(watch.low, false);
  await see(101 * MB);
  assert.equal(changes, [true, false]);
});

test('a nearly full disk has no room for removals', async () => {
  const { watch, changes, see } = watched(100 * MB);
  assert.is(watch.fitsRemoval, true, 'not looked at yet');
  await see(limits.removalFreeBytes);
  assert.is(watch.fitsRemoval, true);
  await see(limits.removalFreeBytes - 1);
  assert.is(watch.fitsRemoval, false);
  await see(limits.removalFreeBytes);
  await see(limits.removalFreeBytes + 1);
  assert.is(watch.fitsRemoval, true);
  assert.equal(changes, [true, true, true], 'low, full, and low again');
});

test('a watermark of 0 leaves the space with which a commit begins', async () => {
  const { watch, changes, see } = watched(0);
  await see(limits.commitFreeBytes, { logBytes: 1 });
  assert.equal([watch.low, watch.fitsRemoval, watch.fitsSnapshot], [false, true, false]);
  await see(limits.commitFreeBytes - 1);
  assert.equal([watch.low, watch.fitsRemoval, watch.fitsSnapshot], [true, false, false]);
  assert.equal(changes, [true]);
});

test('a look before a commit detects a disk that filled up since the last look, and reports it at once', async () => {
  const { watch, changes, see, fill, fail } = watched(100 * MB);
  fill(0);
  assert.is(watch.isFullNow(), false, 'nothing is known before the first look');
  await see(200 * MB);
  assert.is(watch.isFullNow(), false);
  fill(limits.commitFreeBytes);
  assert.is(watch.isFullNow(), false, 'low, and a commit that was let in finds its space');
  assert.equal(changes, [true]);
  fill(limits.commitFreeBytes - 1);
  assert.is(watch.isFullNow(), true);
  await fail();
  assert.is(watch.isFullNow(), true, 'the look before counts on');
});

test('a snapshot fits if twice the newest, or for the first the log size, leaves the watermark free', async () => {
  const { watch, see } = watched(100 * MB);
  assert.is(watch.fitsSnapshot, true, 'not looked at yet');
  for (const [logBytes, newestSnapshotBytes, fits] of [
    [30 * MB, 0, true],
    [30 * MB + 1, 0, false],
    [900 * MB, 15 * MB, true],
    [900 * MB, 15 * MB + 1, false],
  ] as const) {
    await see(130 * MB, { logBytes, newestSnapshotBytes });
    assert.is(watch.fitsSnapshot, fits, `${logBytes} ${newestSnapshotBytes}`);
  }
});

test('a disk that cannot be read is reported once, and the last reading stays valid', async () => {
  const { watch, troubles, see, fail } = watched(100 * MB);
  await fail();
  assert.equal([watch.low, watch.use], [false, null]);
  await see(1 * MB);
  await fail();
  await fail();
  assert.is(watch.low, true);
  assert.is(watch.use?.freeBytes, 1 * MB);
  assert.is(troubles.length, 2);
});

test('a disk is looked at when the watch starts, and again and again until it stops', async () => {
  const { watch, timers, fill } = watched(100 * MB);
  fill(200 * MB);
  await watch.start();
  assert.is(watch.use?.freeBytes, 200 * MB);
  for (const free of [150, 50]) {
    fill(free * MB);
    const [timer, ...others] = timers.splice(0);
    assert.equal([timer?.ms, others], [limits.diskLookMs, []]);
    timer?.act();
    await turnOfLoop();
    assert.is(watch.use?.freeBytes, free * MB);
  }
  assert.is(watch.low, true);
  watch.stop();
  assert.equal(timers, []);
});

test('a look that begins during another one waits for no disk', async () => {
  const { watch, troubles, fail } = watched(100 * MB);
  const first = fail();
  assert.is(await Promise.race([watch.look().then(() => 'ended'), first.then(() => 'waited')]), 'ended');
  await first;
  assert.is(troubles.length, 1);
});

test.run();
