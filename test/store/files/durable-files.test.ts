/** Files that must survive a power cut: bytes are synced before the name that makes them count, the folder after it. */
import { spawnSync } from 'node:child_process';
import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { temporaryFolder } from '../../support/process.js';
import { canTrace, pathsIn, tracedCalls, tracing } from '../../support/traced-calls.js';

const writer = fileURLToPath(new URL('write-durably.js', import.meta.url));

const planned = [
  ...['sync .restoring/store/restored.json', 'sync .restoring/store'],
  ...['sync .restoring/plan.json.tmp', 'rename .restoring/plan.json', 'sync .restoring', 'sync .'],
];
const putInPlace = ['rename restored.json', 'sync .', 'rename .tmp-restored', 'sync .'];

/** Per folder: its syncs and renames in order, by the path below the folder; a rename by the path that it makes. */
const steps = {
  backup: [
    ...['sync .tmp-store/log/data.mdb', 'sync .tmp-store/log', 'sync .tmp-store', 'rename store', 'sync .'],
    ...['sync backup.json.tmp', 'rename backup.json', 'sync .'],
  ],
  restore: [...planned, ...putInPlace],
  replace: [...planned, 'rename replaced-1/group-salt', 'sync replaced-1', 'sync .', ...putInPlace],
  mark: ['sync cluster.json.tmp', 'rename cluster.json', 'sync .'],
  head: ['sync head.json.tmp', 'rename head.json', 'sync .'],
  secret: ['sync secret.tmp', 'rename secret', 'sync .'],
  scrub: ['sync scrub-due', 'sync .'],
};

test('what must survive a power cut is synced before it gets its name, and its folder after', () => {
  if (!canTrace()) {
    process.stdout.write('SKIPPED: strace is not installed or may not trace, so syncs are not seen\n');
    return;
  }
  const dir = realpathSync(temporaryFolder());
  const trace = join(temporaryFolder(), 'trace.txt');
  const [command = '', ...options] = tracing(['fsync', 'fdatasync', '?rename', '?renameat', '?renameat2'], [], trace);
  const { status, stderr } = spawnSync(command, [...options, process.execPath, writer, dir], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  assert.is(status, 0, stderr);
  const found: Record<string, string[]> = {};
  for (const { name, of, args } of tracedCalls(readFileSync(trace, 'utf8'))) {
    const isRename = name.startsWith('rename');
    const path = isRename ? pathsIn(args)[1]! : of;
    const [folder = '', ...names] = path.slice(dir.length + 1).split('/');
    // A replaced file of `ptf-peer` has a random part in its temporary name.
    const below = names.length === 0 ? '.' : names.join('/').replace(/\.[0-9a-f]{8}\.tmp$/, '.tmp');
    found[folder] = [...(found[folder] ?? []), `${isRename ? 'rename' : 'sync'} ${below}`];
  }
  const once = (all: readonly string[]) => all.filter((step, i) => step !== all[i - 1]);
  for (const [folder, expected] of Object.entries(steps)) assert.equal(once(found[folder] ?? []), expected, folder);
});

test.run();
