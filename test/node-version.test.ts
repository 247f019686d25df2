/** An older Node is told so by one sentence, at every entry. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nodeVersionProblem } from '../src/node-version.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** The path of a Node 18, where there is one. */
const old = process.env.NODE_18 ?? '';

test('the oldest Node is the one that package.json names', () => {
  const { engines } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { engines: { node: string } };
  const [major, minor] = engines.node.replace('>=', '').split('.').map(Number) as [number, number];
  assert.is(nodeVersionProblem(`${major}.${minor}.0`), null);
  for (const version of ['24.1.0', `${major + 1}.0.0`]) assert.is(nodeVersionProblem(version), null);
  const before = `${major}.${minor - 1}.9`;
  assert.is(nodeVersionProblem(before), `needs Node ${major}.${minor} or later; this is ${before}`);
});

interface Ran {
  readonly code: unknown;
  readonly output: string;
  readonly errors: string;
}

function run(args: readonly string[]): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(old, args, { cwd: root, timeout: 60_000 }, (error, output, errors) => {
      resolve({ code: error === null ? 0 : error.code, output, errors });
    });
  });
}

if (old === '') {
  process.stdout.write('SKIPPED: no Node 18 is at hand (NODE_18)\n');
} else {
  for (const args of [
    ['scripts/build.mjs', '--if-stale'],
    ['scripts/test.mjs'],
    ['scripts/bench.mjs'],
    ['dist/main.js'],
    ['bin/ptf.mjs', 'status'],
  ]) {
    test(`on Node 18 ${args.join(' ')} states the required version, and exits with 2`, async () => {
      const { code, errors } = await run(args);
      assert.is(code, 2);
      assert.match(errors, /^peer-trust-federation needs Node 20\.19 or later; this is 18\.[\d.]+\n$/);
    });
  }

  for (const entry of ['client/entry.js', 'testing.js']) {
    test(`on Node 18 an import of ${entry} rejects with the required version`, async () => {
      const script = `import('./dist/${entry}').catch(({ code, message }) => console.log(code, message))`;
      const { output } = await run(['-e', script]);
      assert.match(output, /^ERR_NODE_TOO_OLD the peer trust client needs Node 20\.19 or later; this is 18\.[\d.]+\n$/);
    });
  }
}

test.run();
