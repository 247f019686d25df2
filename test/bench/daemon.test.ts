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

/** Returns the note about a server that does not start. */
async function noteOf(start: () => Promise<null>): Promise<string | undefined> {
  const notes: string[] = [];
  assert.is(await startOrNote('a server', start, (text) => notes.push(text)), null);
  assert.is(notes.length, 1);
  return notes[0];
}

for (const [name, command, args, why] of [
  [
    'is installed but does not start is a note with its last lines',
    '/bin/sh',
    ['-c', 'for i in 1 2 3 4 5 6 7; do echo line $i >&2; done; exit 1'],
    /^line 3\nline 4\nline 5\nline 6\nline 7$/,
  ],
  ['cannot be executed is one that does not start', '/etc/passwd', [], /denied/i],
] as const) {
  test(`a server that ${name}, and leaves no folder`, async () => {
    let dir = '';
    const note = await noteOf(() =>
      Daemon.use(async (one) => {
        dir = one.dir;
        await one.start(command, args, () => false);
        return null;
      }),
    );
    const [first, ...last] = note!.split('\n');
    assert.is(first, `a server: could not be started: ${command} did not start`);
    assert.match(last.join('\n'), why);
    assert.not(existsSync(dir));
  });
}

test('a server that is not installed is noted as absent', async () => {
  assert.is(await noteOf(async () => null), 'a server: absent on this machine');
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
