/** Which folders a node, and a command, may take for a data folder: a slip must not close or fill another one. */
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { makeDataFolder, NotEmptyError } from '../../../src/store/backup/backup-folder.js';
import { Restoring } from '../../../src/store/backup/restore-folder.js';
import { temporaryFolder } from '../../support/process.js';
import { rejectionAs } from '../log-contract.js';

let dir = '';
test.before.each(() => {
  dir = join(temporaryFolder(), 'data');
});

function refusal(): string {
  try {
    makeDataFolder(dir);
    return '';
  } catch (error) {
    return String(error);
  }
}

/** Makes the folder with entries, each a folder if its name ends with a slash; readable by all. */
function given(...entries: readonly string[]): void {
  mkdirSync(dir);
  for (const name of entries) {
    if (name.endsWith('/')) mkdirSync(join(dir, name), { recursive: true });
    else writeFileSync(join(dir, name), '');
  }
  chmodSync(dir, 0o755);
}

const mode = () => statSync(dir).mode & 0o777;

test('a folder with an entry that no node made is refused by its name, and nothing in it is touched', () => {
  for (const entries of [
    ['notes.txt'],
    ['lib/', 'log/apt/'],
    ['log/', 'spool/'],
    ['README.md'],
    ['owner-1.json', 'a'],
  ]) {
    given(...entries);
    const before = readdirSync(dir);
    assert.match(refusal(), /it has the entry \S+, which no node made; nothing was changed/);
    assert.equal([mode(), readdirSync(dir)], [0o755, before]);
    rmSync(dir, { recursive: true });
  }
});

test('a new folder, an empty one, a volume, the remains of a first start and a node with notes are taken', () => {
  const remains = ['owner-1.json', 'clock-seen', 'reserve', 'head.json.tmp', 'heartbeat', '.tmp-log-7/', 'log/'];
  makeDataFolder(dir);
  rmSync(dir, { recursive: true });
  for (const entries of [
    [],
    ['lost+found/'],
    remains,
    ['dashboard-password', 'operator.sock'],
    ['head.json', 'notes'],
    // The remains of a fetch that a crash interrupted, which the start repairs.
    ['.joining', '.joining.tmp', '.tmp-joining/', 'clock-seen'],
  ]) {
    given(...entries);
    assert.is(refusal(), '');
    assert.is(mode(), 0o700);
    rmSync(dir, { recursive: true });
  }
  given();
  writeFileSync(join(dir, 'README.md'), '# snapshots/\n\nThis folder');
  assert.is(refusal(), '', 'the placeholder of the repository');
});

test('a folder is created only in an existing one', () => {
  const parent = dir;
  dir = join(parent, 'data');
  assert.match(refusal(), `there is no folder ${parent}`);
  assert.not(existsSync(parent));
  dir = parent;
});

test('no restore moves the contents of a folder aside that is not a node’s', async () => {
  given('lib/', 'log/apt/');
  const why = await rejectionAs(NotEmptyError, Restoring.begin(dir, true));
  assert.match(why.message, 'which no node made');
  assert.equal([mode(), readdirSync(dir)], [0o755, ['lib', 'log']]);
});

test.run();
