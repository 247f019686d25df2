/** Which Node a refusal names: the one that package.json demands. */
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nodeVersionProblem } from '../src/node-version.js';

test('the oldest Node is the one that package.json names', () => {
  const { engines } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    engines: { node: string };
  };
  const [major, minor] = engines.node.replace('>=', '').split('.').map(Number) as [number, number];
  assert.is(nodeVersionProblem(`${major}.${minor}.0`), null);
  for (const version of ['24.1.0', `${major + 1}.0.0`]) assert.is(nodeVersionProblem(version), null);
  const before = `${major}.${minor - 1}.9`;
  assert.is(nodeVersionProblem(before), `needs Node ${major}.${minor} or later; this is ${before}`);
});

test.run();
