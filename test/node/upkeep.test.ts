/** The regular tasks of a node. group/removal/retention.test.ts covers the removal of events that expire. */
import { rmSync } from 'node:fs';
import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { GroupLoop } from '../../src/group/actor/loop.js';
import { StoreEndedError } from '../../src/group/ports/storage.js';
import { limits } from '../../src/limits.js';
import {
  backgroundCheck,
  clockReported,
  clockWatch,
  diskWatch,
  rememberHeads,
  retention,
  writeHead,
} from '../../src/node/upkeep.js';
import { readClockSeen, readExpectedHead } from '../../src/store/files/folder-files.js';
import { withBounds } from '../sim/profile.js';
import { rejection } from '../store/log-contract.js';
import { t0 } from '../support/given.js';
import { temporaryFolder } from '../support/process.js';
import { until } from '../support/until.js';
import { VirtualTime } from '../support/virtual-time.js';

const dayMs = 86_400_000;

/** Retention over a group whose newest record is of `lastAt`. `removed`: what the group was told to let go. */
function retaining(
  lastAt: number,
  now: () => number,
  { days = 30, state = {}, everyMs = limits.retentionLookMs as number } = {},
) {
  const removed: unknown[] = [];
  const resume = (retire: unknown) => removed.push(retire);
  const loop = { state: { lastAt }, failed: false, draining: false, resume, ...state };
  const stop = retention(
    () => loop as unknown as GroupLoop,
    { now },
    () => days,
    everyMs,
  );
  return { removed, stop };
}

const removedAt = (now: number) => ({ before: now - 30 * dayMs, now });

test('retention removes old events from the start on, unless it has no age or the loop failed or ends', async () => {
  for (const [given, removed] of [
    [{}, [removedAt(t0)]],
    [{ days: 0 }, []],
    [{ state: { failed: true } }, []],
    [{ state: { draining: true } }, []],
  ] as const) {
    const begun = retaining(t0 - dayMs, () => t0, given);
    assert.equal(begun.removed, removed, JSON.stringify(given));
    await begun.stop();
  }
});

test('no regular task keeps the process alive', async () => {
  const timersThatHold = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const before = timersThatHold();
  const { log } = loggedLines();
  // Nothing is written of an empty log, or of a clock that is ahead.
  const loop = { actor: { durableSeq: 0 } } as unknown as GroupLoop;
  const guard = { isAheadNow: () => true } as unknown as Parameters<typeof clockWatch>[0];
  const stops = [
    retaining(t0, () => t0).stop,
    rememberHeads(() => loop, 'folder', log),
    clockWatch(guard, { now: () => t0 }, 'folder', log),
  ];
  const during = timersThatHold();
  for (const stop of stops) await stop();
  assert.is(during, before);
});

test('a clock a day ahead of the newest record has until the next look', async () => {
  let looks = 0;
  const { removed, stop } = retaining(t0 - dayMs - 1, () => t0 + looks++, { everyMs: 1 });
  assert.equal(removed, []);
  await until(() => removed.length > 1);
  assert.equal(removed[0], removedAt(t0 + 1));
  await stop();
});

test('a clock that was corrected removes no event', async () => {
  const times = [t0 + 3650 * dayMs];
  const { removed, stop } = retaining(t0 - dayMs, () => times.shift() ?? t0, { everyMs: 1 });
  await until(() => removed.length > 0);
  assert.equal(removed[0], removedAt(t0));
  await stop();
});

test('the expected head is not written before the files hold its records', async () => {
  const dir = temporaryFolder();
  const head = { lastSeq: 7, chain: new Uint8Array(32) };
  const write = (stored: () => Promise<void>, isEnding = false) =>
    writeHead({ actor: { durableHead: head }, log: { stored } } as GroupLoop, dir, isEnding);
  assert.match(String(await rejection(write(() => Promise.reject(new Error('no space left'))))), /no space left/);
  await write(() => Promise.reject(new StoreEndedError('the node is shutting down')), true);
  assert.is(readExpectedHead(dir), null, 'nor one that they will not hold any more');
  await write(async () => undefined);
  assert.is(readExpectedHead(dir)?.lastSeq, 7);
});

/** A log, and its lines as level and message. */
function loggedLines() {
  const lines: string[] = [];
  const write = (line: string) => {
    const { level, msg, ...fields } = JSON.parse(line);
    lines.push(`${pino.levels.labels[level]} ${fields.ahead_ms ?? fields.free_bytes ?? fields.fault ?? ''} ${msg}`);
  };
  return { log: pino({}, { write }), lines };
}

test('a low disk is reported once until it has room again, and a gauge that fails is, too', async () => {
  const { log, lines } = loggedLines();
  const lows: boolean[] = [];
  let freeBytes: number | null = 1e9;
  const gauge = {
    look: async () => {
      if (freeBytes === null) throw new Error('no gauge');
      return { freeBytes, logBytes: 1, snapshotsBytes: 0, newestSnapshotBytes: 0 };
    },
    freeBytes: () => freeBytes ?? 0,
  };
  const watch = diskWatch({ gauge, timers: new VirtualTime() }, 500, log, (low) => lows.push(low));
  assert.is(watch.minBytes, 500e6);
  for (const bytes of [1e9, 499e6, 1e6, 1e9, 499e6, null]) {
    freeBytes = bytes;
    await watch.look();
  }
  assert.equal(
    lines.map((line) => line.split(':')[0]),
    [
      'error 499000000 the disk is nearly full',
      'warn 1000000000 the disk has room again',
      'error 499000000 the disk is nearly full',
      'error  the free disk space cannot be read',
    ],
  );
  assert.equal(lows, [true, true, false, true]);
});

test('a clock that went ahead, or is correct again, is reported in ms before the group hears of it', () => {
  const { log, lines } = loggedLines();
  const report = clockReported(log, () => lines.push('changed'));
  report(true, 90_000_000.4);
  report(false, 0.4);
  assert.equal(lines, [
    'error 90000000 the clock jumped more than a day ahead: writes are answered 503, reads continue',
    'changed',
    'warn 0 the clock is correct again: writes are accepted',
    'changed',
  ]);
});

test('the newest right time is stored at once and each minute, but none of a clock that is ahead', async () => {
  await withBounds({ diskLookMs: 1 }, async () => {
    const dir = temporaryFolder();
    const { log, lines } = loggedLines();
    let now = t0;
    let isAhead = false;
    let looks = 0;
    const guard = { isAheadNow: () => isAhead, newestAt: t0 + 7 };
    const clock = {
      now: () => {
        looks += 1;
        return now;
      },
    };
    const looked = async () => {
      const before = looks;
      await until(() => looks > before + 1);
      return readClockSeen(dir);
    };
    const stop = clockWatch(guard as Parameters<typeof clockWatch>[0], clock, dir, log);
    await until(() => readClockSeen(dir) === t0 + 7);
    guard.newestAt = t0 + 8;
    now = t0 + 59_999;
    assert.is(await looked(), t0 + 7);
    isAhead = true;
    now = t0 + 60_000;
    assert.is(await looked(), t0 + 7);
    isAhead = false;
    await until(() => readClockSeen(dir) === t0 + 8);
    // The clock was set back.
    guard.newestAt = t0 + 9;
    now = t0;
    await until(() => readClockSeen(dir) === t0 + 9);
    rmSync(dir, { recursive: true });
    now = t0 + 60_000;
    await until(() => lines.length > 0);
    await stop();
    assert.match(lines[0]!, 'warn  clock-seen cannot be written');
  });
});

test('a check of the store reports each fault, its end if there is none, and its failure', async () => {
  const { log, lines } = loggedLines();
  const reports = [{ ok: false, faults: ['one', 'two'] }, { ok: true, faults: [] }, null];
  const pool = {
    check: async () => {
      const next = reports.shift();
      if (!next) throw new Error('no process');
      return { ...next, lastSeq: 5, batches: 1, records: 5, auditEntries: 0, snapshots: [] };
    },
  };
  const timers = new VirtualTime();
  const check = backgroundCheck({ pool, timers, clock: { now: () => 0 } }, log, { checkFirstMs: 1, checkEveryMs: 1 });
  check.start();
  await timers.until(() => lines.length === 4);
  await check.stop();
  const damage = 'the store is damaged: check the disk, and see "A damaged disk"';
  assert.equal(lines, [
    `error one ${damage}`,
    `error two ${damage}`,
    'info  log and snapshots were checked and are intact',
    'error  the check of log and snapshots failed and will be tried again',
  ]);
});

test('the head of the log is written once per change, and again after a write that failed', async () => {
  await withBounds({ heartbeatMs: 1 }, async () => {
    const dir = temporaryFolder();
    const { log, lines } = loggedLines();
    let writes = 0;
    let looks = 0;
    let fails = false;
    const actor = { durableSeq: 0, durableHead: { lastSeq: 7, chain: new Uint8Array(32) } };
    const stored = async () => {
      writes += 1;
      if (fails) throw new Error('no space');
    };
    const loop = () => {
      looks += 1;
      return { actor, log: { stored } } as unknown as GroupLoop;
    };
    const stop = rememberHeads(loop, dir, log);
    const looked = async () => {
      const before = looks;
      await until(() => looks > before + 2);
      return writes;
    };
    assert.is(await looked(), 0, 'an empty log has no head');
    actor.durableSeq = 1;
    await until(() => writes > 0);
    assert.is(await looked(), 1);
    fails = true;
    actor.durableSeq = 2;
    await until(() => lines.length > 1);
    fails = false;
    actor.durableHead.lastSeq = 8;
    await until(() => readExpectedHead(dir)?.lastSeq === 8);
    const after = await looked();
    assert.is(await looked(), after);
    await stop();
    assert.match(lines[0]!, 'warn  head.json cannot be written');
  });
});

test.run();
