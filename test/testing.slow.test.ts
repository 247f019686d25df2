/** The guarantees of a test node for the test that starts it, if either of them ends early. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startTestNode } from '../src/testing.js';
import { until } from './support/until.js';

const holder = fileURLToPath(new URL('./support/test-node-holder.js', import.meta.url));
let folder = '';
test.before.each(() => {
  folder = mkdtempSync(join(tmpdir(), 'ptf-testing-'));
});
test.after.each(() => rmSync(folder, { recursive: true, force: true }));

function answers(url: string): Promise<boolean> {
  return fetch(`${url}/api/v1/health`).then(
    ({ ok }) => ok,
    () => false,
  );
}

for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
  test(`a test that ${signal} ends also ends its node`, async () => {
    const child = spawn(process.execPath, [holder, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    await until(() => said.endsWith('\n') || child.exitCode !== null);
    const [url, pid] = said.trim().split(' ') as [string, string];
    let isAlive = await answers(url);
    assert.ok(isAlive, said);
    child.kill(signal);
    await once(child, 'exit');
    try {
      await until(async () => {
        isAlive = await answers(url);
        return !isAlive;
      });
    } finally {
      if (isAlive) process.kill(Number(pid), 'SIGKILL');
    }
  });
}

test('a missing folder is created', async () => {
  const node = await startTestNode({ folder: join(folder, 'a', 'b') });
  assert.ok(await answers(node.url));
  await node.close();
});

test('a node whose process cannot be started rejects, and is not running', async () => {
  const node = await startTestNode({ folder: join(folder, 'a') });
  await node.stop();
  rmSync(node.folder, { recursive: true });
  let error: unknown;
  node.start().catch((reason: unknown) => {
    error = reason;
  });
  await until(() => error !== undefined);
  assert.match(String(error), 'ENOENT');
  assert.not.ok(node.isRunning);
  await node.close();
});

test('a node that does not start leaves no folder behind', async () => {
  const { TMPDIR: before } = process.env;
  process.env.TMPDIR = folder;
  let said = '';
  try {
    await startTestNode({ variables: { HALF_LIFE_DAYS: 'many' } }).catch((error: unknown) => {
      said = String(error);
    });
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
  assert.match(said, 'HALF_LIFE_DAYS');
  assert.equal(readdirSync(folder), []);
});

test('a node with a low log level starts like any other', async () => {
  const node = await startTestNode({ variables: { LOG_LEVEL: 'error' } });
  assert.ok(await answers(node.url));
  await node.close();
});

test.run();
