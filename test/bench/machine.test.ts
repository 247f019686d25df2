/** The statements of a result about its machine: cores, with a `taskset` that obeys or not, and other tenants. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { coreTimeIn, shareTaken, strangersNote } from '../../bench/machine.js';
import { temporaryFolder } from '../support/process.js';

const machine = new URL('../../bench/machine.js', import.meta.url).href;
const folder = temporaryFolder();

/** The words of a process with this `taskset`, which is a script, before it. */
function pinningWith(taskset: string): string {
  writeFileSync(join(folder, 'taskset'), `#!/bin/sh\n${taskset}\n`, { mode: 0o755 });
  const text = `import { pinLoad, pinning } from '${machine}'; pinLoad(); console.log(pinning());`;
  const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` };
  return spawnSync(process.execPath, ['--input-type=module', '-e', text], { env, encoding: 'utf8' }).stdout.trim();
}

if (availableParallelism() < 2) process.stdout.write('SKIPPED: with one core nothing is pinned\n');

const server = 'server on core 0 with --v8-pool-size=1';

for (const [name, taskset, found] of [
  ['moves the load', 'exit 0', `${server}, load on core 1, awake`],
  ['cannot move the load', '[ "$1" = -a ] && exit 1; exit 0', `${server}, load on any core: taskset could not move it`],
  ['does not run', 'exit 127', 'not pinned'],
] as const) {
  if (availableParallelism() < 2 && found !== 'not pinned') continue;
  test(`a result says which core has the load where taskset ${name}`, () => assert.is(pinningWith(taskset), found));
}

const stat = `cpu  100 20 30 4000 50 1 9 40 7 0
cpu0 50 10 15 2000 25 1 5 20 7 0
intr 1
`;

test('the time of all cores is the time they worked plus the time that the host took', () => {
  assert.equal(coreTimeIn(stat), { worked: 160, taken: 40 });
});

test('a system that does not report stolen time gives no value', () => {
  for (const text of ['cpu  100 20 30 4000 50 1 9\n', 'intr 1\n', '']) assert.is(coreTimeIn(text), null, text);
});

test('the share is of the time that was wanted between two looks', () => {
  const before = { worked: 100, taken: 10 };
  assert.is(shareTaken(before, { worked: 190, taken: 20 }), 0.1);
  assert.is(shareTaken(before, { worked: 190, taken: 10 }), 0);
  assert.is(shareTaken(before, before), undefined);
  assert.is(shareTaken(null, before), undefined);
  assert.is(shareTaken(before, null), undefined);
});

test('a run is reported as invalid if other processes took the cache or the cores', () => {
  assert.is(strangersNote(30), undefined);
  assert.is(strangersNote(100, 0.01), undefined);
  assert.match(strangersNote(101) ?? '', /NOT ITS OWN MACHINE/);
  assert.match(strangersNote(30, 0.011) ?? '', /NOT ITS OWN MACHINE/);
});

test.run();
