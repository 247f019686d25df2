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

test('an output that cannot be written is reported, unless its reader has closed it', async () => {
  const closed = begin(['completion', 'bash'], ['ignore', 'pipe', 'pipe']);
  closed.stdout!.destroy();
  const runs = [ended(closed)];
  if (existsSync('/dev/full')) {
    const full = openSync('/dev/full', 'w');
    runs.push(ended(begin(['completion', 'bash'], ['ignore', full, 'pipe'])));
    closeSync(full);
  }
  const [unread, lost] = await Promise.all(runs);
  assert.equal(unread, { code: 0, err: '' });
  if (lost === undefined) return;
  assert.match(lost.err, /^ptf: the output could not be written: ENOSPC.* \(output_failed\)\n$/);
  assert.is(lost.code, 1, 'a key may be lost with it');
});

test('without a terminal nothing is asked, and no more of an input is read than may be valid', async () => {
  const env = { PTF_ENV_FILE: '/nowhere/env' };
  const revoke = ended(begin(['peers', 'revoke', 'peer-1'], ['ignore', 'ignore', 'pipe'], '/', env));
  const args = ['dashboard', 'set-password', '--data-dir', temporaryFolder()];
  const password = begin(args, ['pipe', 'ignore', 'pipe']);
  password.stdin!.write('a'.repeat(10_000));
  const [unasked, endless] = await Promise.all([revoke, ended(password)]);
  assert.match(
    unasked.err,
    /^ptf: PTF_ENV_FILE or \.env cannot be read: .*; name the folder with --data-dir \(wrong_us/,
  );
  assert.match(endless.err, 'the password must');
  assert.equal([unasked.code, endless.code], [2, 2]);
});

test('an export writes every page, and a doctor examines the machine and the folders of its process', async () => {
  const [served, cwd] = [temporaryFolder(), temporaryFolder()];
  const entry = { at: 0, action: 'a', actor: 'b', target: 'c', prevHash: 'd', hash: 'e' };
  const { group } = recordedGroup(1);
  const audit: typeof group.audit = async (after) =>
    granted({ entries: [{ ...entry, seq: after + 1 }], nextAfter: after < 2 ? after + 1 : null });
  const socket = await startOperatorSocket({
    dir: served,
    log: pino({ level: 'silent' }),
    group: { ...group, audit },
    version: '9.8.7',
    pseudonymise: () => null,
  });
  writeFileSync(join(cwd, '.env'), 'GROUP_ID=arena\nDATA_DIR=data\n');
  writeFileSync(join(cwd, 'compose.yaml'), '');
  const doctor = begin(['doctor', '--json'], ['ignore', 'pipe', 'ignore'], cwd);
  const [exported, examined] = await Promise.all([runPtf(['export', 'audit'], served), text(doctor.stdout!)]);
  await socket.close();
  assert.equal([exported.code, exported.err], [0, '']);
  assert.equal(
    exported.out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).seq),
    [1, 2, 3],
  );
  const found = (JSON.parse(examined) as { checks: { check: string; text: string }[] }).checks;
  const of = (check: string) => found.filter((one) => one.check === check).map((one) => one.text);
  assert.match(of('memory')[0]!, /^[1-9]/);
  assert.ok(Number.parseFloat(of('memory')[0]!) * 1e6 <= totalmem() + 1e5);
  assert.equal(of('folder'), [join(cwd, 'data')]);
  assert.match(of('elsewhere').join(), `${join(cwd, 'compose.yaml')} describes a project`);
});

test.run();
