/** The limit of open files that is enough to start a node. */
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

test.run();
