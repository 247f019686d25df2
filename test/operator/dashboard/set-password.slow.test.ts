/** `ptf dashboard set-password` in a process of its own: before the first start of a node, and while one runs. */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isPassword, passwordFile } from '../../../src/operator/dashboard/sessions/password.js';
import { type Ran, watched } from '../../support/child-process.js';
import { startTestNode, type TestNode } from '../../support/node.js';
import { temporaryFolder } from '../../support/process.js';

const entry = fileURLToPath(new URL('../../../../dist/ptf.js', import.meta.url));
const password = 'correct horse battery';

/** Runs the command with this on its standard input. */
async function setPassword(input: string, folder: string): Promise<Ran> {
  const args = [entry, 'dashboard', 'set-password', '--data-dir', folder];
  const child = spawn(process.execPath, args, { cwd: tmpdir(), env: { PATH: process.env.PATH } });
  child.stdin.end(input);
  return watched(child).ended;
}

function signIn({ dashboardUrl }: TestNode, word: string): Promise<Response> {
  return fetch(`${dashboardUrl}/sign-in`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', Origin: String(dashboardUrl) },
    body: new URLSearchParams({ password: word }),
  });
}

test('before the first start the folder and the hash are made for their owner alone, and the node takes them', async () => {
  const dir = join(temporaryFolder(), 'not-there');
  const { code, out, err } = await setPassword(`${password}\n`, dir);
  assert.equal([code, err], [0, '']);
  assert.not.match(out, /horse/);
  const stored = join(dir, passwordFile);
  assert.ok(await isPassword(password, readFileSync(stored, 'utf8').trim()));
  assert.equal([statSync(dir).mode & 0o777, statSync(stored).mode & 0o777], [0o700, 0o600]);
  await using node = await startTestNode({ DATA_DIR: dir, DASHBOARD_PORT: '0' });
  assert.is((await signIn(node, password)).status, 303);
});

test('a running node takes the new password at once, and lets no session of the old one go on', async () => {
  const dir = join(temporaryFolder(), 'data');
  mkdirSync(dir);
  await using node = await startTestNode({ DATA_DIR: dir, DASHBOARD_PORT: '0' });
  assert.is((await signIn(node, password)).status, 503);
  assert.is((await setPassword(password, dir)).code, 0);
  const opened = await signIn(node, password);
  assert.is(opened.status, 303);
  const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? '';
  const session = () => fetch(`${node.dashboardUrl}/session`, { headers: { cookie } });
  assert.is((await session()).status, 200);
  assert.is((await setPassword('another password', dir)).code, 0);
  assert.is((await session()).status, 401);
  assert.is((await signIn(node, password)).status, 401);
  // A file that somebody spoiled locks the door instead of opening it.
  writeFileSync(join(dir, passwordFile), 'another password');
  assert.is((await signIn(node, 'another password')).status, 503);
});

test.run();
