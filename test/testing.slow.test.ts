/** The guarantees of a test node for the test that starts it, if either ends early or its address is taken. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
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

test('a node that starts again waits for its address, and then has its data there', async () => {
  const node = await startTestNode({ folder });
  const { url } = node;
  try {
    const { peerId } = await node.register();
    await node.kill();
    const other = createServer().listen(Number(new URL(url).port), '127.0.0.1');
    await once(other, 'listening');
    const started = node.start();
    await until(() => node.output.includes('in use by another process'));
    other.close();
    await started;
    assert.is(node.url, url);
    assert.match(await (await fetch(`${url}/api/v1/peers`)).text(), peerId);
  } finally {
    await node.close();
  }
});

test('a node that is closed while it waits for its address does not start any more', async () => {
  const node = await startTestNode({ folder });
  const other = createServer();
  try {
    await node.kill();
    await once(other.listen(Number(new URL(node.url).port), '127.0.0.1'), 'listening');
    const started = node.start().then(
      () => 'started',
      (error: unknown) => String(error),
    );
    await until(() => node.output.includes('in use by another process') && !node.isRunning);
    await node.close();
    other.close();
    assert.match(await started, 'AbortError');
    assert.not.ok(node.isRunning);
  } finally {
    other.close();
    await node.close();
  }
});

test.run();
