/** A test node that ends with its test, waits for its address, or accepts ids of one kind alone. */
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startTestNode } from '../../src/testing/test-node.js';
import { watched } from '../support/child-process.js';
import { closing } from '../support/closing.js';
import { temporaryFolder } from '../support/process.js';
import { until } from '../support/until.js';

const entry = fileURLToPath(new URL('../../src/testing/test-node-process.js', import.meta.url));
const holder = fileURLToPath(new URL('../support/test-node-holder.js', import.meta.url));
let folder = '';
test.before.each(() => {
  folder = temporaryFolder();
});

function answers(url: string): Promise<boolean> {
  return fetch(`${url}/api/v1/health`).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** Takes the address of a node that is not running. */
async function listeningAt(url: string): Promise<Server> {
  const server = createServer().listen(Number(new URL(url).port), '127.0.0.1');
  await once(server, 'listening');
  return server;
}

for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
  test(`a test that ${signal} ends also ends its node`, async () => {
    const child = spawn(process.execPath, [holder, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
    const { out } = watched(child);
    await until(() => out().endsWith('\n') || child.exitCode !== null);
    const [url, pid] = out().trim().split(' ') as [string, string];
    let isAlive = await answers(url);
    assert.ok(isAlive, out());
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
  await using node = closing(await startTestNode({ folder }));
  const { url } = node;
  const { peerId } = await node.register();
  await node.kill();
  const other = await listeningAt(url);
  const started = node.start();
  await until(() => node.output.includes('in use by another process'));
  other.close();
  await started;
  assert.is(node.url, url);
  assert.match(await (await fetch(`${url}/api/v1/peers`)).text(), peerId);
});

test('a node that is closed while it waits for its address does not start any more', async () => {
  await using node = closing(await startTestNode({ folder }));
  await node.kill();
  const other = await listeningAt(node.url);
  try {
    const started = node.start().then(
      () => 'started',
      (error: unknown) => String(error),
    );
    await until(() => node.output.includes('in use by another process') && !node.isRunning);
    await node.close();
    assert.match(await started, 'AbortError');
    assert.not.ok(node.isRunning);
  } finally {
    other.close();
  }
});

test('a node that accepts only ids of one kind is seeded with players of that kind', async () => {
  await using node = closing(await startTestNode({ folder, variables: { PLAYER_ID_KINDS: 'steam' } }));
  const [peer] = await node.seed({ bad: ['STEAM_0:1:147480000'], peers: 1 });
  assert.is((await node.client(peer).explain('76561198255225729'))?.event_count, 3);
});

test('a node whose test ends before or after it began to start ends as in a crash', async () => {
  for (const begins of [false, true]) {
    const child = fork(entry, [], {
      cwd: folder,
      env: { DATA_DIR: join(folder, String(begins)), PORT: '0' },
      execArgv: [],
      stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
    });
    try {
      const exited = once(child, 'exit');
      if (begins) assert.match(String(await once(child.stdout!, 'data')), '"msg":"starting"');
      child.disconnect();
      assert.equal(await exited, [null, 'SIGKILL']);
    } finally {
      child.kill('SIGKILL');
    }
  }
  assert.not.ok(existsSync(join(folder, 'false')));
});

test.run();
