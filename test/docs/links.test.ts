/**
 * Checks links between documents, the pages of decisions that texts name, and the length of decisions and changelog.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Route, routes } from '../../src/contract/routes.js';
import { anchorsOf, linksOf } from '../support/markdown.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const under = (folder: string, name: RegExp) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => name.test(path))
    .map((path) => join(folder, path));

const pages = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  'bench/README.md',
  'snapshots/README.md',
  ...under('docs', /\.md$/),
];
const sources = ['src', 'test', 'bench', 'scripts', 'deploy'].flatMap((folder) => under(folder, /\.(?:ts|mjs|yml)$/));
const decisions = new Set(under('docs/decisions', /\.md$/).map((path) => Number(/(\d+)-[^/]*$/.exec(path)?.[1])));

function faultOf(page: string, target: string): string | undefined {
  if (/^https?:/.test(target)) return undefined;
  const [path, anchor] = target.split('#') as [string, string?];
  const file = path === '' ? page : join(page, '..', path);
  if (!existsSync(join(root, file))) return `${page}: ${target} is not there`;
  if (anchor === undefined || anchorsOf(read(file)).has(anchor)) return undefined;
  return `${page}: ${target} has no such heading`;
}

/** Numbers of decisions that a text names, as "decision 12" or "decisions 15 to 18"; also where a line ends within. */
function namedIn(text: string): number[] {
  const found = text.matchAll(/\bdecisions?[\s*#]+(\d+)(?: (?:to|and) (\d+))?\b/g);
  return Array.from(found).flatMap(([, ...numbers]) => numbers.filter(Boolean).map(Number));
}

const wordsOf = (text: string) => text.trim().split(/\s+/).length;

test('each source file that a page names exists', () => {
  const known = sources.map((path) => `/${path}`);
  const missing = pages
    .filter((page) => page !== 'CHANGELOG.md' && !page.startsWith(join('docs', 'upstream')))
    .flatMap((page) =>
      Array.from(read(page).matchAll(/`((?:[\w.-]+\/)*[\w.-]+\.ts)`/g), ([, path]) => path!)
        .filter((path) => !known.some((one) => one.endsWith(`/${path}`)))
        .map((path) => `${page}: ${path}`),
    );
  assert.equal(missing, []);
});

test('every link of a document leads somewhere', () => {
  assert.ok(pages.length > 50);
  assert.equal(
    pages.flatMap((page) => linksOf(read(page)).flatMap((target) => faultOf(page, target) ?? [])),
    [],
  );
});

test('a link that names a decision by its number leads to that one', () => {
  const wrong = pages.flatMap((page) =>
    Array.from(read(page).matchAll(/\[(?:decision\s+)?(\d+)\]\((?:[\w./]*\/)?(\d{4})-/g))
      .filter(([, named, linked]) => Number(named) !== Number(linked))
      .map(([link]) => `${page}: ${link}`),
  );
  assert.equal(wrong, []);
});

test('every decision that a document or a comment names has its page, and each page begins with its number', () => {
  const missing = [...pages, ...sources].flatMap((path) =>
    namedIn(read(path))
      .filter((number) => !decisions.has(number))
      .map((number) => `${path}: decision ${number}`),
  );
  assert.equal(missing, []);
  for (const path of under('docs/decisions', /\.md$/)) {
    assert.ok(read(path).startsWith(`# ${Number(/(\d+)-[^/]*$/.exec(path)?.[1])}. `), path);
  }
});

test('a decision page has at most 700 words; there are at most 40, with 18,000 words together', () => {
  const words = under('docs/decisions', /\.md$/).map((path) => ({ path, count: wordsOf(read(path)) }));
  assert.equal(
    words.filter(({ count }) => count > 700),
    [],
  );
  assert.ok(words.length <= 40, `${words.length} pages`);
  assert.ok(words.reduce((sum, { count }) => sum + count, 0) <= 18_000);
});

test("the README's table has every route of the API, and no other", () => {
  const told = read('README.md').matchAll(/`(GET|POST|DELETE) (\/api[^?`]*)/g);
  const nameOf = (method: string, path: string) => `${method} ${path.replace(/\{\w+\}/g, '{}')}`;
  const rows = Object.values<Route>(routes).filter(({ path }) => path.startsWith('/api'));
  assert.equal(
    [...new Set(Array.from(told, ([, method, path]) => nameOf(method!, path!)))].sort(),
    rows.map(({ method, path }) => nameOf(method, path)).sort(),
  );
});

test('the changelog has at most 2,500 words and an Unreleased section on top', () => {
  const text = read('CHANGELOG.md');
  assert.ok(wordsOf(text) <= 2500, `${wordsOf(text)} words`);
  assert.match(/^## (.*)$/m.exec(text)?.[1] ?? '', /^\[Unreleased\]/);
});

test('the checks above detect their faults', () => {
  assert.match(faultOf('README.md', 'docs/NOTHING.md') ?? '', 'is not there');
  assert.match(faultOf('docs/OPERATING.md', '../README.md#nothing') ?? '', 'no such heading');
  assert.is(faultOf('docs/OPERATING.md', 'operating/scale.md#sizing'), undefined);
  assert.is(wordsOf(' one\n two '), 2);
  assert.equal(namedIn('see [decision\n * 12](a.md); decisions 15 to 18'), [12, 15, 18]);
});

test.run();
