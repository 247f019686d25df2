/** Checks the page of the commands of `ptf` against their help. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { operations } from '../../src/operations/table.js';
import { temporaryFolder } from '../support/process.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));

test('the page of the commands equals the output of docs:commands', () => {
  const folder = temporaryFolder();
  const made = join(folder, 'commands.md');
  const run = spawnSync(process.execPath, ['scripts/docs-commands.mjs', '--to', made], { cwd: root });
  assert.is(run.status, 0, String(run.stderr));
  const page = readFileSync(join(root, 'docs/operating/commands.md'), 'utf8');
  assert.ok(readFileSync(made, 'utf8') === page, 'the page is stale: run `npm run docs:commands`');
  for (const { group = '', command } of Object.values(operations).flatMap<{ group?: string; command: string }>(
    ({ ptf }) => ptf,
  )) {
    assert.ok(page.includes(`\n## ${['ptf', group, command].filter(Boolean).join(' ')}\n`), command);
  }
});

test.run();
