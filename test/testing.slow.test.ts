/** The guarantees of a test node for the test that starts it, if either of them ends early. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
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

test.run();
