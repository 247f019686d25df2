/** The process of `ptf`: its streams, its exit codes, and what it takes from its environment. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, writeFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { granted } from '../src/errors.js';
import { startOperatorSocket } from '../src/operator/protocol/socket-server.js';
import { recordedGroup } from './operator/recorded-group.js';
import { temporaryFolder } from './support/process.js';
import { ptfEntry, runPtf } from './support/ptf.js';

/** Starts a run in the folder `cwd`, with this environment alone. */
function begin(args: readonly string[], stdio: readonly ('pipe' | 'ignore' | number)[], cwd = '/', env = {}) {
  return spawn(process.execPath, [ptfEntry, ...args], { cwd, env, stdio: [...stdio] });
}

async function ended(child: ChildProcess): Promise<{ readonly code: number | null; readonly err: string }> {
  const [err] = await Promise.all([text(child.stderr!), once(child, 'close')]);
  return { code: child.exitCode, err };
}

/** Serves a group whose audit log has three pages. `pages` lists the entries after which one was asked for. */
async function served() {
  const [dir, pages] = [temporaryFolder(), [] as number[]];
  const { group } = recordedGroup(1);
  const entry = { at: 0, action: 'a', actor: 'b', target: 'c', prevHash: 'd', hash: 'e' };
  const audit: typeof group.audit = async (after) => {
    pages.push(after);
    return granted({ entries: [{ ...entry, seq: after + 1 }], nextAfter: after < 2 ? after + 1 : null });
  };
  const log = pino({ level: 'silent' });
  const parts = { dir, log, group: { ...group, audit }, version: '9.8.7', pseudonymise: () => null };
  return { dir, pages, socket: await startOperatorSocket(parts) };
}

test('an output that cannot be written ends with 1 and is reported, unless its reader has closed it', async () => {
  const closed = begin(['completion', 'bash'], ['ignore', 'pipe', 'pipe']);
  const unread = begin(['status'], ['ignore', 'ignore', 'pipe'], '/', { PTF_ENV_FILE: '/nowhere/env' });
  for (const output of [closed.stdout!, unread.stderr!]) output.destroy();
  const runs = [once(closed, 'close'), once(unread, 'close')];
  if (existsSync('/dev/full')) {
    const full = openSync('/dev/full', 'w');
    const { dir, pages, socket } = await served();
    const lost = await ended(begin(['export', 'audit', '--data-dir', dir], ['ignore', full, 'pipe']));
    closeSync(full);
    await socket.close();
    assert.match(lost.err, /^ptf: the output could not be written: ENOSPC.* \(output_failed\)\n$/);
    assert.equal([lost.code, pages], [1, [0]]);
  }
  assert.equal(await Promise.all(runs), [
    [0, null],
    [2, null],
  ]);
});

test('without a terminal nothing is asked, and no more of an input is read than may be valid', async () => {
  const { dir, socket } = await served();
  const args = ['dashboard', 'set-password', '--data-dir', temporaryFolder()];
  const password = begin(args, ['pipe', 'ignore', 'pipe']);
  password.stdin!.write('a'.repeat(10_000));
  const [unasked, endless] = await Promise.all([runPtf(['peers', 'revoke', 'peer-0'], dir), ended(password)]);
  await socket.close();
  assert.equal([unasked.err, unasked.code], ['', 0]);
  assert.match(endless.err, 'the password must');
  assert.is(endless.code, 2);
});

test('a doctor examines the environment and the folder of its process, and the memory of the machine', async () => {
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, '.env'), 'GROUP_ID=arena\nDATA_DIR=data\n');
  writeFileSync(join(cwd, 'compose.yaml'), '');
  const out = await text(begin(['doctor', '--json'], ['ignore', 'pipe', 'ignore'], cwd).stdout!);
  const found = (JSON.parse(out) as { checks: { check: string; text: string }[] }).checks;
  const of = (check: string) => found.filter((one) => one.check === check).map((one) => one.text);
  const [memory] = of('memory');
  assert.match(memory!, /^[1-9]/);
  assert.ok(Number.parseFloat(memory!) * 1e6 <= totalmem() + 1e5);
  assert.equal(of('folder'), [join(cwd, 'data')]);
  assert.match(of('elsewhere').join(), `${join(cwd, 'compose.yaml')} describes a project`);
});

test.run();
