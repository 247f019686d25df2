/** The search of a member's files for the marker of a scrub. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { awaitPurged, filesWith } from '../../../src/operator/cli/cluster-command.js';
import { OperatorError } from '../../../src/operator/cli/node-client.js';
import { temporaryFolder } from '../../support/process.js';

const folder = temporaryFolder();
const wal = join(folder, 'member', 'wal');
const marker = 'ab'.repeat(32);
const bytes = Buffer.from(marker, 'hex');
const times = { walPurgeMs: 0, walSearchEveryMs: 1 };

test.before(() => void mkdirSync(wal, { recursive: true }));

const codeOf = (searched: Promise<void>) =>
  searched.then(
    () => 'done',
    (error: OperatorError) => error.code,
  );

test('bytes are found wherever they stand, across two pieces of a long file as well', async () => {
  // A stream of a file comes in pieces of 64 KiB.
  for (const [name, before] of Object.entries({ start: 0, across: 65_520, end: 200_000 })) {
    writeFileSync(join(wal, name), Buffer.concat([Buffer.alloc(before, 1), bytes, Buffer.alloc(100, 2)]));
  }
  writeFileSync(join(wal, 'without'), Buffer.alloc(300_000, 0xab).fill(0, 31, 300_000));
  const found = await filesWith(folder, bytes);
  assert.equal(found.sort(), ['across', 'end', 'start'].map((name) => join(wal, name)).sort());
});

test('a member that still holds the marker when its time is over is refused by name', async () => {
  const error = await awaitPurged(folder, marker, times).catch((reason: unknown) => reason);
  assert.instance(error, OperatorError);
  assert.is((error as OperatorError).code, 'marker_found');
  assert.match((error as OperatorError).message, /across/);
});

test('a member that deletes its old files in time is proved clean', async () => {
  const searched = awaitPurged(folder, marker, { walPurgeMs: 60_000, walSearchEveryMs: 1 });
  for (const name of ['start', 'across', 'end']) rmSync(join(wal, name));
  assert.is(await codeOf(searched), 'done');
});

test('a folder that is not of an etcd member is refused', async () => {
  assert.is(await codeOf(awaitPurged(wal, marker, times)), 'no_store');
});

test('a member whose folder this user may not open is not taken for another folder', () => {
  const module = new URL('../../../src/operator/cli/cluster-command.js', import.meta.url);
  const search = `awaitPurged(${JSON.stringify(folder)}, '${marker}')`;
  const script = `import('${module.href}').then(({ awaitPurged }) => ${search}).catch(({ code }) => console.log(code))`;
  const nobody = {
    cwd: '/',
    encoding: 'utf8',
    ...(process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}),
  } as const;
  if (spawnSync('test', ['-r', fileURLToPath(module)], nobody).status !== 0) return;
  chmodSync(folder, 0);
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', script], nobody);
  chmodSync(folder, 0o700);
  assert.is(`${stderr}${stdout}`, 'access_denied\n');
});

test.run();
