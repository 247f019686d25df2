/** `ptf dashboard set-password`: from a prompt, from standard input, with a node and without. */
import { spawn } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isPassword, passwordFile } from '../../../src/operator/dashboard/sessions/password.js';
import { replaceFile } from '../../../src/store/files/small-file.js';
import { type Ran, watched } from '../../support/child-process.js';
import { startTestNode } from '../../support/node.js';
import { temporaryFolder } from '../../support/process.js';
import { runHere } from '../run-here.js';

const entry = fileURLToPath(new URL('../../../../dist/ptf.js', import.meta.url));
const password = 'correct horse battery';

let dir = '';
test.before.each(() => {
  dir = temporaryFolder();
});

/** As a process, with this on its standard input. */
async function ptf(input: string, folder = dir): Promise<Ran> {
  const args = [entry, 'dashboard', 'set-password', '--data-dir', folder];
  const child = spawn(process.execPath, args, { cwd: tmpdir(), env: { PATH: process.env.PATH } });
  // One that refuses its folder reads nothing, and may be gone before this is written.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  return watched(child).ended;
}

function signIn({ dashboardUrl }: { readonly dashboardUrl: string | null }, word: string): Promise<Response> {
  return fetch(`${dashboardUrl}/sign-in`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', Origin: String(dashboardUrl) },
    body: new URLSearchParams({ password: word }),
  });
}

/** At a terminal where these are typed. */
async function typed(...answers: readonly string[]): Promise<Ran & { readonly asked: readonly string[] }> {
  const asked: string[] = [];
  const ran = await runHere(['dashboard', 'set-password'], dir, {
    terminal: {
      async askSecret(question) {
        return answers[asked.push(question) - 1] ?? '';
      },
    },
    keepSecret: (folder, name, text) => replaceFile(join(folder, name), text, { sync: true }),
  });
  return { ...ran, asked };
}

const kept = (): string => readFileSync(join(dir, passwordFile), 'utf8').trim();

test('a password on standard input is stored as a hash that its owner alone reads, and printed nowhere', async () => {
  const { code, out, err } = await ptf(`${password}\n`);
  assert.equal([code, err], [0, '']);
  assert.ok(await isPassword(password, kept()));
  assert.is(statSync(join(dir, passwordFile)).mode & 0o777, 0o600);
  assert.not.match(out, /horse/);
});

test('at a terminal it is asked for twice', async () => {
  const { code, asked } = await typed(password, password);
  assert.equal([code, asked], [0, ['New password', 'Repeat the password']]);
  assert.ok(await isPassword(password, kept()));
});

test('at a terminal a password that is too short is refused before it is typed again', async () => {
  const { code, err, asked } = await typed('too short', 'too short');
  assert.equal([code, asked], [2, ['New password']]);
  assert.match(err, /at least 12 characters \(wrong_usage\)/);
});

test('two that differ, or none, change nothing', async () => {
  for (const answers of [[password, `${password}!`], ['']]) {
    const { code, err } = await typed(...answers);
    assert.is(code, 1);
    assert.match(err, /nothing was changed \(not_confirmed\)/);
    assert.not(existsSync(join(dir, passwordFile)));
  }
});

test('a password that is too short or has several lines is wrong usage', async () => {
  for (const input of ['', 'short\n', `${password}\nsecond line\n`, 'a'.repeat(10_000)]) {
    const { code, err } = await ptf(input);
    assert.is(code, 2, err);
    assert.match(err, /the password must/);
    assert.not(existsSync(join(dir, passwordFile)));
  }
});

test('before the first start the folder is made, closed to others, and the node then takes the password', async () => {
  const missing = join(dir, 'not-there');
  const { code, err } = await ptf(`${password}\n`, missing);
  assert.is(code, 0, err);
  assert.is(statSync(missing).mode & 0o777, 0o700);
  await using node = await startTestNode({ DATA_DIR: missing, DASHBOARD_PORT: '0' });
  assert.is((await signIn(node, password)).status, 303);
});

test("root makes no folder in another user's", async () => {
  if (process.getuid?.() !== 0) return;
  chownSync(dir, 65_534, 65_534);
  const missing = join(dir, 'data');
  const { code, err } = await ptf(password, missing);
  assert.equal([code, existsSync(missing)], [1, false]);
  assert.match(err, /is another user's; run as the user of the node \(access_denied\)/);
});

test('a running node takes the new password at once, and lets no session of the old one go on', async () => {
  mkdirSync(join(dir, 'data'));
  await using node = await startTestNode({ DATA_DIR: join(dir, 'data'), DASHBOARD_PORT: '0' });
  assert.is((await signIn(node, password)).status, 503);
  assert.is((await ptf(password, node.dir)).code, 0);
  const opened = await signIn(node, password);
  assert.is(opened.status, 303);
  const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? '';
  const session = () => fetch(`${node.dashboardUrl}/session`, { headers: { cookie } });
  assert.is((await session()).status, 200);
  assert.is((await ptf('another password', node.dir)).code, 0);
  assert.is((await session()).status, 401);
  assert.is((await signIn(node, password)).status, 401);
  // A file that somebody spoiled locks the door instead of opening it.
  writeFileSync(join(node.dir, passwordFile), 'another password');
  assert.is((await signIn(node, 'another password')).status, 503);
});

test.run();
