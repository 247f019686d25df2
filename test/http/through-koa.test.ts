/** The tests of the HTTP face once more, with the lane in front of Koa switched off: no rule may stand in one lane only. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

for (const name of [
  'access',
  'batch',
  'events',
  'faults',
  'players',
  'rate-limits',
  'registration',
  'service',
  'transport',
]) {
  test(`every test of ${name} passes through Koa alone`, () => {
    const file = fileURLToPath(new URL(`./${name}.test.js`, import.meta.url));
    const run = spawnSync(process.execPath, [file], { env: { ...process.env, FAST_LANE: 'false' }, encoding: 'utf8' });
    assert.is(run.status, 0, run.stdout + run.stderr);
    assert.match(run.stdout, /Passed: +[1-9]/);
  });
}

test.run();
