/**
 * Servers of other projects that the bench is measured beside: one that does not start is told of, one that ends gives
 * back what it took.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Daemon } from '../../bench/peers/daemon.js';
import { startOrNote } from '../../bench/peers/references.js';
import { temporaryFolder } from '../support/process.js';

const daemon = new URL('../../bench/peers/daemon.js', import.meta.url).href;
const folder = temporaryFolder();

/** Returns the notes about a daemon that is started by this command. */
async function notesOf(command: string, ...args: readonly string[]): Promise<{ notes: string[]; dir: string }> {
  const notes: string[] = [];
  let dir = '';
  const start = () =>
    Daemon.use(async (one) => {
      dir = one.dir;
      await one.start(command, args, () => false);
      return null;
    });
  assert.is(await startOrNote('a server', start, (text) => notes.push(text)), null);
  return { notes, dir };
}

test('a server that is installed but does not start is a note with its last lines, and leaves no folder', async () => {
  const { notes, dir } = await notesOf('/bin/sh', '-c', 'for i in 1 2 3 4 5 6 7; do echo line $i >&2; done; exit 1');
  const last = ['line 3', 'line 4', 'line 5', 'line 6', 'line 7'].join('\n');
  assert.equal(notes, [`a server: could not be started: /bin/sh did not start\n${last}`]);
  assert.not(existsSync(dir));
});

test('a file that cannot be executed is a server that does not start', async () => {
  const { notes, dir } = await notesOf('/etc/passwd');
  assert.match(notes[0] ?? '', /^a server: could not be started: \/etc\/passwd did not start\n.*denied/is);
  assert.not(existsSync(dir));
});

test('a server that is not installed is noted as absent', async () => {
  const notes: string[] = [];
  assert.is(
    await startOrNote(
      'a server',
      async () => null,
      (text) => notes.push(text),
    ),
    null,
  );
  assert.equal(notes, ['a server: absent on this machine']);
});

test('a server that has cleanup to do is not killed before it, even if the bench is interrupted', async () => {
  const given = join(folder, 'given');
  const shell = `exec 2>>${given}; trap "echo given >&2; exit" QUIT; : > ready; while :; do sleep 0.05; done`;
  const script = `import { existsSync } from 'node:fs';
    import { Daemon } from '${daemon}';
    const one = new Daemon({ calmly: 'SIGINT', atOnce: 'SIGQUIT' });
    await one.start('/bin/sh', ['-c', '${shell}'], () => existsSync(one.dir + '/ready'));
    process.exit();`;
  const args = ['--input-type=module', '--eval', script];
  const child = spawn(process.execPath, args, { env: { ...process.env, TMPDIR: folder }, stdio: 'inherit' });
  assert.equal(await once(child, 'exit'), [0, null]);
  assert.is(readFileSync(given, 'utf8'), 'given\n');
  assert.equal(readdirSync(folder), ['given']);
});

test.run();
