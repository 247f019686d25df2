/** SECURITY.md stays short, and the tests that it names for what it claims are there. */
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const root = new URL('../../../', import.meta.url);
const text = readFileSync(new URL('SECURITY.md', root), 'utf8');

test('every test and page that SECURITY.md names exists', () => {
  const tests = [...text.matchAll(/`(test\/[\w./-]+)`/g)].map((found) => found[1] ?? '');
  const pages = [...text.matchAll(/\]\((docs\/[\w./-]+)/g)].map((found) => found[1] ?? '');
  assert.ok(tests.length > 20 && pages.length > 2);
  assert.equal(
    [...tests, ...pages].filter((path) => !existsSync(new URL(path, root))),
    [],
  );
});

test('every item of the OWASP API Security Top 10 has its place, in at most 1,288 words', () => {
  for (let item = 1; item <= 10; item++) assert.match(text, new RegExp(`\\bAPI${item}\\b`));
  assert.ok(text.trim().split(/\s+/).length <= 1_288);
});

test.run();
