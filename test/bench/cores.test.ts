/** The statement of a result about cores, with a `taskset` that obeys and with one that does not. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { temporaryFolder } from '../support/process.js';

const cores = new URL('../../bench/machine.js', import.meta.url).href;
const folder = temporaryFolder();

/** The words of a process with this `taskset`, which is a script, before it. */
function pinningWith(taskset: string): string {
  writeFileSync(join(folder, 'taskset'), `#!/bin/sh\n${taskset}\n`, { mode: 0o755 });
  const text = `import { pinLoad, pinning } from '${cores}'; pinLoad(); console.log(pinning());`;
  const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` };
  return spawnSync(process.execPath, ['--input-type=module', '-e', text], { env, encoding: 'utf8' }).stdout.trim();
}

if (availableParallelism() < 2) {
  test('one core', () => void process.stdout.write('SKIPPED: with one core nothing is pinned\n'));
} else {
  test('a load generator that was moved to its core is reported as being on it', () => {
    assert.is(pinningWith('exit 0'), 'server on core 0 with --v8-pool-size=1, load on core 1, awake');
  });

  test('a load generator that could not be moved is not reported as being on its core', () => {
    const found = pinningWith('[ "$1" = -a ] && exit 1; exit 0');
    assert.is(found, 'server on core 0 with --v8-pool-size=1, load on any core: taskset could not move it');
  });
}

test('without taskset nothing is pinned', () => assert.is(pinningWith('exit 127'), 'not pinned'));

test.run();
