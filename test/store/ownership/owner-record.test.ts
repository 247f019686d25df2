/** The files that name the owners of a data folder, and what the system tells of a process. */
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as records from '../../../src/store/ownership/owner-record.js';
import { temporaryFolder } from '../../support/process.js';

let dir = '';
test.before.each(() => {
  dir = temporaryFolder();
});

const me = records.thisProcess();
const recordAt = (epoch: number) => records.recordOf(me, epoch);

test('the highest epoch names the owner, who is unknown if its file is empty or names another epoch', () => {
  assert.equal([records.readOwner(dir), records.newestEpoch(dir)], [undefined, 0]);
  for (const epoch of [9, 10]) writeFileSync(records.ownerFileOf(dir, epoch), JSON.stringify(recordAt(epoch)));
  for (const name of ['owner-x.json', 'owner-11.json.tmp', 'xowner-12.json']) writeFileSync(join(dir, name), '');
  const { claimed_at: claimedAt, ...owner } = records.readOwner(dir)!;
  assert.ok(Math.abs(Date.parse(claimedAt) - Date.now()) < 3_600_000);
  const process = { pid: me.pid, process_start: me.processStart, boot_id: me.bootId, pid_namespace: me.pidNamespace };
  assert.equal(owner, { epoch: 10, ...process, released: false });
  const unknown = { pid: 0, process_start: null, boot_id: null, pid_namespace: null, claimed_at: 'an unknown time' };
  for (const text of ['', '{', 'null', '{"epoch":"10"}', JSON.stringify(recordAt(9))]) {
    writeFileSync(records.ownerFileOf(dir, 10), text);
    assert.equal(records.readOwner(dir), { epoch: 10, ...unknown, released: false }, text);
  }
});

test('an owner is put once, above all earlier ones, whose files it removes; a late one removes its own', async () => {
  for (const [epoch, isPut, left] of [
    [3, true, [3]],
    [3, false, [3]],
    [7, true, [7]],
    [5, false, [7]],
  ] as const) {
    assert.is(records.putOwner(dir, recordAt(epoch)), isPut, `${epoch}`);
    assert.equal(
      readdirSync(dir),
      left.map((one) => `owner-${one}.json`),
    );
  }
  assert.is(statSync(records.ownerFileOf(dir, 7)).mode & 0o777, 0o600);
  await records.putReleased(dir, recordAt(7));
  assert.is(records.readOwner(dir)?.released, true);
  rmSync(dir, { recursive: true });
  assert.throws(() => records.putOwner(dir, recordAt(8)), /ENOENT/);
  mkdirSync(dir);
});

test('a folder is free for a process that owns it, and for all once it is released', async () => {
  assert.not(records.isOwnOrFree(dir, me), 'a folder that never had an owner');
  records.putOwner(dir, recordAt(1));
  const others = [{ pid: 1 }, { processStart: '1' }, { bootId: 'x' }, { pidNamespace: 'x' }];
  const isOwn = () => [{}, ...others].map((other) => records.isOwnOrFree(dir, { ...me, ...other }));
  assert.equal(isOwn(), [true, false, false, false, false]);
  await records.putReleased(dir, recordAt(1));
  assert.equal(isOwn(), Array(5).fill(true));
});

test('the last line is stored by an owner alone, and read only if it is a line of a log', () => {
  const line = '{"time":"t","msg":"m","level":50}';
  records.keepLastLine(dir, line);
  assert.is(records.readLastLine(dir), undefined);
  records.putOwner(dir, recordAt(1));
  records.keepLastLine(dir, line);
  assert.is(records.readLastLine(dir), 't: m');
  assert.is(statSync(join(dir, 'last-line')).mode & 0o777, 0o600);
  for (const text of ['', '{', 'null', '{"time":1,"msg":"m"}', '{"time":"t"}']) {
    writeFileSync(join(dir, 'last-line'), text);
    assert.is(records.readLastLine(dir), undefined, text);
  }
});

test('a process number that nothing has belongs to no process', () => {
  const gone = 2 ** 22 + 1;
  assert.equal([records.runs(process.pid), records.runs(1), records.runs(gone)], [true, true, false]);
  assert.is(records.processStartOf(gone), null);
});

if (process.platform === 'linux') {
  test('a process is known by its start, and a file of a folder by the process that has it open', () => {
    const fields = readFileSync('/proc/self/stat', 'utf8').split(' ');
    // The name of this process has no blanks, so that field 22 is the 22nd word.
    assert.equal([me.pid, me.processStart], [process.pid, fields[21]]);
    const file = join(dir, 'a file');
    writeFileSync(file, '');
    assert.is(records.hasOpen(process.pid, file), false);
    const descriptor = openSync(file, 'r');
    assert.is(records.hasOpen(process.pid, file), true);
    writeFileSync(`${file} beside it`, '');
    assert.is(records.hasOpen(process.pid, `${file} beside it`), false);
    closeSync(descriptor);
    for (const [pid, path] of [
      [process.pid, join(dir, 'none')],
      [2 ** 22 + 1, file],
    ] as const)
      assert.is(records.hasOpen(pid, path), null);
  });
}

test.run();
