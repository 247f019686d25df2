/** The tests of the HTTP face once more, with the fast path switched off: it may hold no rule of its own. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const here = fileURLToPath(new URL('.', import.meta.url));

/** Those that start a face or a node, and leave the choice of the fast path to the environment. */
const files = readdirSync(here, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.js') && join(here, file) !== fileURLToPath(import.meta.url))
  .filter((file) => {
    const text = readFileSync(join(here, file), 'utf8');
    return /from '[./]+(?:face|support\/node)\.js'/.test(text) && !/fastPath|FAST_PATH/.test(text);
  })
  .sort();

for (const file of files) {
  test(`every test of ${file.slice(0, -'.test.js'.length)} passes through Koa alone`, () => {
    const env = { ...process.env, FAST_PATH: 'false' };
    const run = spawnSync(process.execPath, [join(here, file)], { env, encoding: 'utf8' });
    assert.is(run.status, 0, run.stdout + run.stderr);
    assert.match(run.stdout, /Passed: +[1-9]/);
  });
}

test('the tests of access, of events and of the stream are among these', () => {
  const names = files.map((file) => file.replace(/(?:\.slow)?\.test\.js$/, ''));
  for (const name of [
    'request/access',
    'request/authorization',
    'handlers/events',
    'metrics/metrics',
    'verdict-stream/node',
  ])
    assert.ok(names.includes(join(name)), name);
});

test.run();
