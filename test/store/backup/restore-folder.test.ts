/** Putting a restored store in place: cut short after any of its steps, the rest leads to the same folder. */
import * as fs from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { RestoreReport } from '../../../src/group/backup/backup-tasks.js';
import { NotEmptyError } from '../../../src/store/backup/backup-folder.js';
import * as restoreFolder from '../../../src/store/backup/restore-folder.js';
import * as owners from '../../../src/store/ownership/owner.js';
import { closing } from '../../support/closing.js';
import { temporaryFolder } from '../../support/process.js';
import { rejection, rejectionAs } from '../log-contract.js';

const { contentOf, finishRestore, halfRestored, heldStore, Restoring, refusalOfTarget } = restoreFolder;
const { acquireFolder, epochOf, FolderOwnedError, ownFolder, passEpochOn } = owners;

const report = { data_dir: 'd', replaced: 'replaced-then', resumed: false } as RestoreReport;

function fill(dir: string, files: Readonly<Record<string, string>>): void {
  fs.mkdirSync(dir, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(join(dir, name, '..'), { recursive: true });
    fs.writeFileSync(join(dir, name), text);
  }
}

function contents(dir: string): Record<string, string> {
  const files = fs.readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map((entry) => join(entry.parentPath, entry.name)).sort();
  return Object.fromEntries(paths.map((path) => [path.slice(dir.length + 1), fs.readFileSync(path, 'utf8')]));
}

const old = { 'log/data.mdb': 'old log', 'head.json': 'old head', 'snapshot-1/data.mdb': 'old', 'group-salt': 'salt' };
const built = { 'log/data.mdb': 'new log', 'head.json': 'new head', 'group-salt': 'salt' };
const reported = (of: RestoreReport) => ({ 'restored.json': `${JSON.stringify(of, null, 2)}\n` });
const wanted = {
  ...built,
  'replaced-then/log/data.mdb': 'old log',
  'replaced-then/head.json': 'old head',
  'replaced-then/snapshot-1/data.mdb': 'old',
  'replaced-then/group-salt': 'salt',
};

/** The folder right after its plan is written, and then each rename of the plan, in their order. */
function planned(): { readonly dir: string; readonly steps: readonly (readonly [from: string, to: string])[] } {
  const dir = temporaryFolder();
  fill(dir, old);
  fill(join(dir, '.restoring', 'store'), built);
  const names = ['group-salt', 'head.json', 'log'];
  fs.writeFileSync(join(dir, '.restoring', 'plan.json'), JSON.stringify({ report, names, aside: 'replaced-then' }));
  const aside = ['group-salt', 'head.json', 'log', 'snapshot-1'].map(
    (name) => [name, `replaced-then/${name}`] as const,
  );
  const place = names.map((name) => [`.restoring/store/${name}`, name] as const);
  return { dir, steps: [...aside, ...place, ['.restoring', '.tmp-restored']] };
}

test('interrupted after any step, the remainder of a restore leads to the same folder', async () => {
  for (let done = 0; ; done++) {
    const { dir, steps } = planned();
    if (done > steps.length) return;
    fs.mkdirSync(join(dir, 'replaced-then'), { recursive: true });
    for (const [from, to] of steps.slice(0, done)) fs.renameSync(join(dir, from), join(dir, to));
    const isOver = done === steps.length;
    assert.is(halfRestored(dir) === undefined, isOver, `after ${done} steps`);
    assert.equal(await finishRestore(dir), isOver ? null : { ...report, resumed: true });
    fs.rmSync(join(dir, '.tmp-restored'), { recursive: true, force: true });
    assert.equal(contents(dir), wanted, `after ${done} steps`);
  }
});

test('a restore without a plan has changed nothing, and is restarted', async () => {
  const dir = temporaryFolder();
  fill(dir, old);
  fill(join(dir, '.restoring', 'store'), { 'log/data.mdb': 'half a log' });
  assert.match(String(halfRestored(dir)), 'nothing else was changed yet');
  assert.is(await finishRestore(dir), null);
  const restoring = await Restoring.begin(dir, true);
  assert.equal(fs.readdirSync(restoring.store), []);
  fill(restoring.store, built);
  await restoring.finish(report, 'replaced-then');
  assert.equal(contents(dir), { ...wanted, ...reported(report) });
});

test('folders that earlier restores moved aside do not disturb, and stay, and into an empty one none is added', async () => {
  const dir = temporaryFolder();
  const before = { 'replaced-before/log/data.mdb': 'older' };
  fill(dir, before);
  assert.equal(contentOf(dir), [], 'it counts as empty');
  const restoring = await Restoring.begin(dir, false);
  fill(restoring.store, built);
  await restoring.finish(report, 'replaced-then');
  assert.equal(contents(dir), { ...built, ...reported(report), ...before });
  assert.equal(contentOf(dir).sort(), ['group-salt', 'head.json', 'log', 'restored.json']);
  assert.not(fs.readdirSync(dir).includes('replaced-then'));
});

test('a folder with content, or one that a node or another restore owns, is left unchanged', async () => {
  const dir = temporaryFolder();
  fill(dir, { file: 'x' });
  assert.instance(await rejection(Restoring.begin(dir, false)), NotEmptyError);
  assert.equal(contents(dir), { file: 'x' });

  const owner = await acquireFolder(dir);
  assert.instance(await rejection(Restoring.begin(dir, true)), FolderOwnedError);
  assert.is(halfRestored(dir), undefined);
  await owner.close();
  const restoring = await Restoring.begin(dir, true);
  const other = await acquireFolder(restoring.store);
  assert.instance(await rejection(Restoring.begin(dir, true)), FolderOwnedError);
  await other.close();
});

test('a restore into a backup is refused, and leaves that backup whole', async () => {
  const dir = temporaryFolder();
  const backup = { 'backup.json': '{}', 'store/log/data.mdb': 'log' };
  fill(dir, backup);
  const refusal = await rejectionAs(NotEmptyError, Restoring.begin(dir, true));
  assert.match(refusal.message, 'it is a backup; name another --data-dir');
  assert.equal(contents(dir), backup);
});

test('one entry of a node makes a folder full, and a restore closes the folder to others', async () => {
  const dir = temporaryFolder();
  fill(dir, { 'group-salt': 'x' });
  fs.chmodSync(dir, 0o755);
  assert.equal([heldStore(dir), refusalOfTarget(dir)], [false, undefined]);
  assert.match(String(await rejection(Restoring.begin(dir, false))), /--replace moves its contents aside/);
  const restoring = await Restoring.begin(dir, true);
  assert.equal([fs.statSync(dir).mode & 0o777, fs.statSync(restoring.store).mode & 0o777], [0o700, 0o700]);
  assert.match(refusalOfTarget(dir) ?? '', /was interrupted/);
  restoring.abandon();
  assert.equal(fs.readdirSync(dir), ['group-salt']);
  for (const name of ['log/data.mdb', 'head.json']) {
    fill(dir, { [name]: 'x' });
    assert.ok(heldStore(dir), name);
    fs.rmSync(join(dir, name.split('/')[0]!), { recursive: true });
  }
  fill(dir, { 'backup.json': '{}' });
  assert.match(refusalOfTarget(dir) ?? '', /is a backup, not a data folder/);
});

test('a restore leaves a folder alone that a node owns and has not opened yet', async () => {
  const dir = temporaryFolder();
  const owner = await ownFolder(dir);
  assert.instance(await rejection(Restoring.begin(dir, true)), FolderOwnedError);
  assert.is(halfRestored(dir), undefined);
  await owner.release();
});

test('the epochs of a copy continue from those of its source', async () => {
  const dir = temporaryFolder();
  await passEpochOn(dir, 7);
  const owner = await acquireFolder(dir);
  assert.is(owner.epoch, 8);
  await owner.close();
  assert.is(await epochOf(dir), 8);
  const copy = temporaryFolder();
  fs.cpSync(dir, copy, { recursive: true });
  await using next = closing(await acquireFolder(copy));
  assert.is(next.epoch, 9);
});

test('a restore that fails while files are moved into place keeps its plan for a continuation', async () => {
  const dir = join(temporaryFolder(), 'data');
  fill(dir, { 'head.json': 'old', 'log/data.mdb': 'old' });
  // Nothing can take the place of a folder that holds something.
  fill(join(dir, 'replaced-then'), { 'log/in-the-way': '' });
  const restoring = await Restoring.begin(dir, true);
  fill(restoring.store, { 'head.json': 'new', 'log/data.mdb': 'new' });
  const error = await rejection(restoring.finish(report, 'replaced-then'));
  assert.match(String(error), /ENOTEMPTY/);
  restoring.abandon();
  assert.match(halfRestored(dir) ?? '', /to continue it/);
  fs.rmSync(join(dir, 'replaced-then/log/in-the-way'));
  assert.is((await finishRestore(dir))?.resumed, true);
  assert.is(contents(dir)['log/data.mdb'], 'new');
  assert.is(contents(join(dir, 'replaced-then'))['log/data.mdb'], 'old');
});

test.run();
