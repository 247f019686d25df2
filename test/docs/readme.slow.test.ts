/** The README stays short, and what it tells a stranger to type works. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { blocksOf } from '../support/markdown.js';
import { startTestNode } from '../support/node.js';
import { temporaryFolder } from '../support/process.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const readme = readFileSync(join(root, 'README.md'), 'utf8');

async function run(...args: readonly string[]): Promise<{ readonly code: number; readonly out: string }> {
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  const [out, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return { code, out };
}

test('the README has at most 150 lines', () => assert.ok(readme.trimEnd().split('\n').length <= 150));

test('every script of npm that the README names exists', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const [, name = ''] of readme.matchAll(/npm run ([\w:]+)/g)) assert.ok(name in scripts, name);
});

test('the sample in JavaScript runs as pasted', async () => {
  const [sample = ''] = blocksOf(readme, ['js']);
  const node = await startTestNode();
  const folder = temporaryFolder();
  // The package imports itself by its name, as the sample does, from within its own folder only.
  const file = join(root, 'build', `readme-sample-${process.pid}.mjs`);
  try {
    const here = sample
      .replace('http://127.0.0.1:8080', node.url)
      .replace('snapshots/group-salt', join(node.dir, 'group-salt'))
      .replace('./trust-spool', folder);
    writeFileSync(file, here);
    const { code, out } = await run(file);
    assert.is(code, 0);
    assert.match(out, /playerId: 'player-2'/);
    assert.is(node.group.counts().events, 1, 'the report reached the node');
  } finally {
    unlinkSync(file);
    rmSync(folder, { recursive: true, force: true });
    await node.close();
  }
});

test('the commands of ptf that the README lists run against a node', async () => {
  await using node = await startTestNode();
  const lines = Array.from(readme.matchAll(/^npm exec ptf -- (.*)$/gm), ([, args]) => args!.split(' '));
  assert.ok(lines.length > 5);
  // `doctor` warns of a node of a test; what it says is not the matter here.
  for (const args of lines)
    assert.is((await run('build/src/ptf.js', ...args, '--data-dir', node.dir)).code, 0, args.join(' '));
  for (const [, command] of readme.matchAll(/^npm exec ptf-peer -- (\w+)/gm)) {
    assert.is((await run('build/src/ptf-peer.js', command!, '--help')).code, 0, command);
  }
});

test.run();
