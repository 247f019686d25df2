/** The limit of open files that is enough to start a node. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { limits } from '../src/limits.js';
import { openFilesProblem } from '../src/open-files.js';

/** As proc_pid_limits(5) shows it. */
const limitsText = (soft: number | 'unlimited') =>
  `Limit                     Soft Limit           Hard Limit           Units\nMax processes             31000                31000                processes\nMax open files            ${soft}                 1048576              files\n`;

test('the limit in force decides, and the sentence names it', () => {
  assert.is(openFilesProblem(limitsText(limits.openFilesMin)), null);
  assert.match(openFilesProblem(limitsText(limits.openFilesMin - 1)) ?? '', `may have ${limits.openFilesMin - 1}`);
});

test('no limit, and a system that does not report one, pass the check', () => {
  for (const text of [limitsText('unlimited'), '', null]) assert.is(openFilesProblem(text), null);
});

test('a process that may open too few files ends with 2 and the sentence', () => {
  if (process.platform !== 'linux') return;
  const entry = fileURLToPath(new URL('../src/require-open-files.js', import.meta.url));
  const started = (max: number) =>
    spawnSync('sh', ['-c', `ulimit -n ${max} && exec "$0" "$1"`, process.execPath, entry], { encoding: 'utf8' });
  const refused = started(limits.openFilesMin - 1);
  assert.equal(
    [refused.status, refused.stderr],
    [2, `peer-trust-federation ${openFilesProblem(limitsText(limits.openFilesMin - 1))}\n`],
  );
  assert.is(started(limits.openFilesMin).status, 0);
});

test.run();
