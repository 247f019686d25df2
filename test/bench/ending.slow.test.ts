/** However the bench ends, nothing of it is left: no process, no folder. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { watched } from '../support/child-process.js';
import { temporaryFolder } from '../support/process.js';
import { until } from '../support/until.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const folder = temporaryFolder();
const main = fileURLToPath(new URL('../../bench/main.js', import.meta.url));
const ending = new URL('../../bench/ending.js', import.meta.url).href;
const running = new Set<ChildProcess>();

/** A process whose temporary folders are all in `folder`, silent, but for what it says of faults. */
function start(...args: readonly string[]): ChildProcess {
  const env = { ...process.env, TMPDIR: folder };
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

const script = (text: string) => start('--input-type=module', '--eval', text);
const brief = ['read', '--seconds', '60', '--players', '20000', '--no-pin'];
const read = () => start(main, ...brief);

/** Resolves once the bench has two nodes, the second one in a copy of the first one's folder, and one of them runs. */
const hasNodes = () => until(() => readdirSync(folder).length === 2 && workedIn().length > 0);

async function leavesNothing(): Promise<void> {
  assert.equal(readdirSync(folder), []);
  await until(() => workedIn().length === 0);
}

/** As a terminal, npm and the script before the bench do: one after the other, to a process that is ending already. */
async function signalUntilGone(child: ChildProcess, signal: NodeJS.Signals): Promise<unknown> {
  const exited = once(child, 'exit');
  const again = setInterval(() => child.kill(signal), 1);
  const [code] = await exited;
  clearInterval(again);
  return code;
}

/** The working directories below `folder` of what runs, where the system tells. */
function workedIn(): string[] {
  const pids = process.platform === 'linux' ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : [];
  return pids.flatMap((pid) => {
    try {
      const cwd = readlinkSync(`/proc/${pid}/cwd`);
      return cwd.startsWith(folder) ? [cwd] : [];
    } catch {
      // It ended meanwhile, or is another's.
      return [];
    }
  });
}

for (const [signal, code] of [
  ['SIGHUP', 129],
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  test(`${signal} to the script of the bench, however often it comes, ends the bench with its servers and folders`, async () => {
    const npm = start(join(root, 'scripts', 'bench.mjs'), ...brief);
    await hasNodes();
    assert.is(await signalUntilGone(npm, signal), code);
    await leavesNothing();
  });
}

test('a bench that is killed without any cleanup also ends its servers', async () => {
  const bench = read();
  await hasNodes();
  bench.kill('SIGKILL');
  await until(() => workedIn().length === 0);
  for (const left of readdirSync(folder)) rmSync(join(folder, left), { recursive: true });
});

test('a signal while a folder is filled leaves no folder', async () => {
  const bench = read();
  await until(() => readdirSync(folder).length === 1);
  assert.is(await signalUntilGone(bench, 'SIGINT'), 130);
  await leavesNothing();
});

test('a failing cleanup is reported and does not prevent the others', async () => {
  const child = script(`import { atEnd, temporaryFolder } from '${ending}';
    temporaryFolder('first-');
    atEnd(() => { throw new Error('not to be undone'); });
    temporaryFolder('last-');
    process.exit(3);`);
  const { code, err } = await watched(child).ended;
  assert.is(code, 3);
  assert.is(err, 'bench: not to be undone\n');
  assert.equal(readdirSync(folder), []);
});

test('the newest step is undone first, and withdrawn steps are not undone', async () => {
  const child = script(`import { atEnd } from '${ending}';
    for (const name of ['a', 'b', 'c']) {
      const forget = atEnd(() => console.error(name));
      if (name === 'b') forget();
    }`);
  const { err } = await watched(child).ended;
  assert.is(err, 'c\na\n');
});

test('any number of servers and folders hangs on one listener', async () => {
  const child = script(`import { temporaryFolder } from '${ending}';
    for (let i = 0; i < 100; i++) temporaryFolder('many-');`);
  const { err } = await watched(child).ended;
  assert.is(err, '');
  assert.equal(readdirSync(folder), []);
});

test('a folder is removed although another process still writes to it', async () => {
  // Among hundreds of files, so that some come while those before are removed.
  const writes = 'i=0; while [ $i -lt 3000 ]; do i=$((i+1)); : > a/$i; [ $i -ne 300 ] || echo; done';
  const child = script(`import { spawn } from 'node:child_process';
    import { mkdirSync } from 'node:fs';
    import { temporaryFolder } from '${ending}';
    const { path } = temporaryFolder('busy-');
    mkdirSync(path + '/a');
    const shell = spawn('sh', ['-c', '${writes}'], { cwd: path, stdio: ['ignore', 'pipe', 'ignore'] });
    shell.stdout.once('data', () => process.exit());`);
  await once(child, 'exit');
  assert.equal(readdirSync(folder), []);
});

test('npm puts no shell between itself and a program: a signal to npm would end at the shell', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Readonly<Record<string, string>>;
  };
  for (const name of ['start', 'test', 'bench', 'replay', 'faults', 'sim', 'soak', 'fuzz']) {
    assert.match(scripts[name] ?? '', /(?:^|&& )exec node \S+(?: \w+)?$/, name);
  }
});

// A failure of one test must not affect the next one.
test.after.each(() => {
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true, force: true });
});

test.after(() => {
  for (const child of running) child.kill('SIGKILL');
});

test.run();
