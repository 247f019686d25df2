/** Tells a living owner of a data folder from a dead one, and acquires the folder of a dead one. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DamagedError, OwnerLostError } from '../../../src/group/ports/storage.js';
import { readIfThere } from '../../../src/store/files/small-file.js';
import { logFolderOf } from '../../../src/store/log/lmdb-log.js';
import { OWNER_KEY, openLogEnvironment } from '../../../src/store/log/log-environment.js';
import * as owners from '../../../src/store/ownership/owner.js';
import { ownerFileOf, processStartOf, readOwner, thisProcess } from '../../../src/store/ownership/owner-record.js';
import { closing } from '../../support/closing.js';
import { temporaryFolder } from '../../support/process.js';
import { until } from '../../support/until.js';
import { deadProcess } from '../dead-process.js';
import { batchOf, rejection, rejectionAs } from '../log-contract.js';

const { adoptFolder, acquireFolder, FolderOwnedError, ownFolder, refuseLiving } = owners;
/** Silence that no busy machine makes of a heart that beats. */
const times = { heartbeatMs: 5, ownerSilentMs: 1_000 };
/** For an owner whose heart never beats. */
const briefly = { heartbeatMs: 5, ownerSilentMs: 20 };

/** As another machine or container would say it: this one cannot look it up. */
const elsewhere = () => ({ ...thisProcess(), pid: 1, pidNamespace: 'pid:[1]' });

/** Returns the number of the last heartbeat of an epoch; 0 for none. */
function beatOf(dir: string, epoch: number): number {
  const [by, beat] = (readIfThere(join(dir, 'heartbeat')) ?? '').split(' ').map(Number);
  return by === epoch ? beat! : 0;
}

test('an owner of another boot or container lives by its heartbeat, whatever process has its number here', async () => {
  for (const other of [{ pidNamespace: 'pid:[1]' }, { bootId: 'another boot' }]) {
    const dir = temporaryFolder();
    const owner = await ownFolder(dir, { ...deadProcess(), ...other }, times);
    assert.instance(await rejection(refuseLiving(dir, undefined, times)), FolderOwnedError, JSON.stringify(other));
    await owner.release();
  }
});

test('an owner that runs here on another folder makes this one a copy, which can be adopted', async () => {
  const dir = temporaryFolder();
  assert.is(await adoptFolder(dir), 'free');
  const parent = { ...thisProcess(), pid: process.ppid, processStart: processStartOf(process.ppid) };
  const owner = await ownFolder(dir, parent, times);
  const refused = String(await rejection(acquireFolder(dir)));
  assert.match(refused, `${dir} is a copy of the folder of a running node, process ${process.ppid} (since 2`);
  assert.is(await adoptFolder(dir), 'adopted');
  assert.is(readOwner(dir)?.released, true);
  assert.is(await adoptFolder(dir), 'free');
  const next = await ownFolder(dir);
  assert.match(String(await rejection(adoptFolder(dir))), /is in use by process \d+ \(since .*stop that node first/);
  assert.match(String(await rejection(refuseLiving(dir))), /is in use by process \d+ \(since .*one node per folder/);
  for (const one of [owner, next]) await one.release();
});

test('a system without processes tells a dead owner by its number, and a silent one by its heart', async () => {
  const unknown = { processStart: null, bootId: null, pidNamespace: null };
  const hidden = { ...unknown, pid: process.pid };
  const gone = 2 ** 22 + 1;
  for (const [identity, own, isWatched] of [
    [{ ...unknown, pid: gone }, hidden, false],
    [{ ...unknown, pid: gone }, thisProcess(), true],
    [hidden, hidden, true],
    [{ ...thisProcess(), processStart: null }, thisProcess(), false],
  ] as const) {
    const dir = temporaryFolder();
    const owner = await ownFolder(dir, identity, times);
    const error = await rejection(refuseLiving(dir, own, times));
    assert.is(error instanceof FolderOwnedError, isWatched, JSON.stringify(identity));
    await owner.stop();
    if (isWatched) assert.is(await refuseLiving(dir, own, briefly), 1);
  }
});

test('a folder is released once, and not by an owner that was stopped or has a successor', async () => {
  const dir = temporaryFolder();
  const first = await ownFolder(dir);
  await first.stop();
  await first.stop();
  await first.release();
  assert.is(readOwner(dir)?.released, false);
  await owners.passEpochOn(dir, 4);
  assert.equal([readOwner(dir)?.epoch, await refuseLiving(dir)], [4, 4]);
  const second = await ownFolder(dir, deadProcess());
  const third = await ownFolder(dir);
  await second.release();
  assert.equal([readOwner(dir)?.epoch, readOwner(dir)?.released], [6, false]);
  await third.release();
  assert.is(readOwner(dir)?.released, true);
  const { ino } = statSync(ownerFileOf(dir, 6));
  await third.release();
  assert.is(statSync(ownerFileOf(dir, 6)).ino, ino, 'its file is written once');
});

test('the data folder is created for its owner alone, who refuses a second one in this process too', async () => {
  const dir = join(temporaryFolder(), 'data');
  await using writer = closing(await acquireFolder(dir));
  assert.equal([statSync(dir).mode & 0o777, writer.epoch], [0o700, 1]);
  assert.instance(await rejection(acquireFolder(dir)), FolderOwnedError);
  await writer.append(batchOf(1), []);
  assert.equal(writer.last(), batchOf(1));
});

test('exactly one of several starts at the same time gets the folder of a dead owner', async () => {
  const dir = temporaryFolder();
  await (await ownFolder(dir, deadProcess())).stop();
  const starts = [1, 2, 3].map(() => ownFolder(dir));
  const refusals = await Promise.all(starts.map(rejection));
  assert.is(refusals.filter((refusal) => refusal instanceof FolderOwnedError).length, 2);
  assert.is(readOwner(dir)?.epoch, 2);
  for (const start of await Promise.allSettled(starts)) if (start.status === 'fulfilled') await start.value.release();
});

test('a released folder is free at once, also for one that cannot look its owner up', async () => {
  const dir = temporaryFolder();
  await (await acquireFolder(dir)).close();
  await using writer = closing(await acquireFolder(dir, elsewhere(), { heartbeatMs: 1_000, ownerSilentMs: 60_000 }));
  assert.is(writer.epoch, 2);
});

test('an old heartbeat file of another owner does not protect a dead one', async () => {
  const dir = temporaryFolder();
  const first = await acquireFolder(dir, elsewhere(), times);
  await first.abandon();
  let beat = 0;
  const stranger = setInterval(() => writeFileSync(join(dir, 'heartbeat'), `7 ${beat++}\n`), 1);
  await using second = closing(await acquireFolder(dir, thisProcess(), briefly).finally(() => clearInterval(stranger)));
  assert.is(second.epoch, 2);
});

test('an owner that writes nothing is notified once of a takeover', async () => {
  const dir = temporaryFolder();
  const reported: unknown[] = [];
  const first = await acquireFolder(dir, deadProcess(), times, (error) => reported.push(error));
  // So that its heart has beaten as an owner's.
  await until(() => beatOf(dir, 1) > 0);
  assert.equal(reported, []);
  const second = await acquireFolder(dir, thisProcess(), times);
  await until(() => reported.length > 0);
  await until(() => beatOf(dir, 2) > 3);
  assert.is(reported.length, 1);
  assert.ok(reported[0] instanceof OwnerLostError);
  await second.close();
  await first.close();
});

test('an owner file that a power cut emptied delays a start no longer than a silent owner', async () => {
  const dir = temporaryFolder();
  await (await acquireFolder(dir)).abandon();
  writeFileSync(ownerFileOf(dir, 1), '');
  writeFileSync(ownerFileOf(dir, 2), '');
  await using next = closing(await acquireFolder(dir, thisProcess(), briefly));
  assert.is(next.epoch, 3);
  const left = readdirSync(dir).filter((name) => name.startsWith('owner-'));
  assert.equal(left, ['owner-3.json']);
});

test('a folder that lost the file of its last owner is acquired with the epoch after that one', async () => {
  const dir = temporaryFolder();
  for (let epoch = 1; epoch <= 3; epoch++) await (await acquireFolder(dir)).close();
  rmSync(ownerFileOf(dir, 3));
  let isLost = false;
  const next = await acquireFolder(dir, thisProcess(), times, () => {
    isLost = true;
  });
  assert.is(next.epoch, 4);
  await until(() => beatOf(dir, 4) > 2);
  assert.instance(await rejection(acquireFolder(dir)), FolderOwnedError);
  await next.close();
  assert.not.ok(isLost);
  await using last = closing(await acquireFolder(dir));
  assert.is(last.epoch, 5);
});

test('an owned folder is refused before its log is opened, and its files stay unchanged', async () => {
  const dir = temporaryFolder();
  const folder = await ownFolder(dir);
  assert.instance(await rejection(acquireFolder(dir)), FolderOwnedError);
  assert.not.ok(existsSync(logFolderOf(dir)));
  await folder.release();
  mkdirSync(join(dir, '.tmp-log-7'));
  await using next = closing(await acquireFolder(dir));
  assert.not.ok(existsSync(join(dir, '.tmp-log-7')), 'the remains of an interrupted start');
  assert.is(next.epoch, 2);
});

// Found by flips: round 6738 of seed 20261171. The folder was "in use" by a process that had died.
test('an owner whose version is damaged is damage, and no owner that lives', async () => {
  const dir = temporaryFolder();
  await (await acquireFolder(dir, deadProcess())).abandon();
  const environment = openLogEnvironment(logFolderOf(dir));
  await environment.meta.put(OWNER_KEY, environment.meta.getBinary(OWNER_KEY)!, 129);
  const error = await rejectionAs(DamagedError, acquireFolder(dir));
  assert.match(error.message, /data\.mdb: the owner's record and its version differ/);
  await environment.root.close();
});

test('a log that was cut is damage, and acquiring it does not end the process', async () => {
  const dir = temporaryFolder();
  const writer = await acquireFolder(dir);
  await writer.append(batchOf(1, 50_000), []);
  await writer.close();
  const file = join(dir, 'log', 'data.mdb');
  writeFileSync(file, readFileSync(file).subarray(0, 20_480));
  assert.instance(await rejection(acquireFolder(dir)), DamagedError);
});

test('a living owner in another container is not taken for that of a copy, nor its folder adopted', async () => {
  const dir = temporaryFolder();
  // Its number is that of a process here, too, which has not opened the folder.
  await using writer = closing(await acquireFolder(dir, { ...elsewhere(), pid: process.ppid }, times));
  const refused = await rejectionAs(FolderOwnedError, acquireFolder(dir, thisProcess(), times));
  assert.not.match(refused.message, /is a copy of the folder of a running node/);
  assert.instance(await rejection(adoptFolder(dir, thisProcess(), times)), FolderOwnedError);
  // Nothing was taken from it.
  await writer.append(batchOf(1), []);
});

test.run();
