/** Checks what the pages say about the tests and about the files and messages of a node against the code. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { asksOf } from '../../src/operations/table.js';
import { judgeRunning } from '../../src/operator/cli/findings.js';
import { recordedGroup } from '../operator/recorded-group.js';

const root = new URL('../../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
const filesIn = (folder: string, name: RegExp) =>
  readdirSync(fileURLToPath(new URL(folder, root)), { recursive: true, encoding: 'utf8' }).filter((path) =>
    name.test(path),
  );

test('each filter of npm test that a page names selects a test file', () => {
  const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'bench/README.md'];
  for (const path of filesIn('docs/', /\.md$/)) pages.push(`docs/${path}`);
  const commands = pages.flatMap((page) =>
    Array.from(read(page).matchAll(/npm test -- ([a-z/ .-]+)/g), ([, all]) => all!),
  );
  const filters = commands.flatMap((all) => all.split(' ')).filter((filter) => filter !== '');
  assert.ok(filters.length > 5);
  const tests = filesIn('test/', /\.test\.ts$/);
  assert.equal(
    filters.filter((filter) => !tests.some((path) => path.includes(filter))),
    [],
  );
});

test('the page for contributors says how many fast files share a process', () => {
  const most = /filesPerProcess = (\d+);/.exec(read('scripts/lib/run-tests.mjs'))?.[1];
  assert.match(read('CONTRIBUTING.md'), `Up to ${most} fast files of one folder under \`test\` share a process`);
});

test('each file that a node makes in its folder has its row in the table of the page', () => {
  const [, names = ''] = /^const own =\n {2}\/(.*)\/;$/m.exec(read('src/store/backup/backup-folder.ts')) ?? [];
  // The files of earlier releases, and the endings of names.
  const words = (names.match(/[a-z]+(?:-[a-z]+)*/g) ?? []).filter((word) => !['d', 'path', 'json'].includes(word));
  assert.ok(words.length > 15);
  const [, table = ''] = /## The data folder\n([\s\S]*?)\n## /.exec(read('docs/operating/configure.md')) ?? [];
  assert.equal(
    words.filter((word) => !table.includes(word)),
    [],
  );
});

test('each heading that the doctor names for a node without writes is on the index of the operating pages', async () => {
  const healthy = recordedGroup(1).group.status();
  const index = read('docs/OPERATING.md');
  for (const reason of ['clock_ahead', 'log_full', 'log_unreachable', 'disk_low'] as const) {
    const { group } = recordedGroup(1, { status: () => ({ ...healthy, writable: false, reason }) });
    const answer = await asksOf({ group, version: '1', pseudonymise: () => null })('status', {});
    assert.ok(answer.ok);
    const advice = judgeRunning(answer.value).find(({ text }) => text.includes(reason))?.advice;
    assert.match(advice ?? '', /^see "[A-Z]/);
    assert.ok(index.includes(`[${advice!.slice('see '.length)}]`), advice);
  }
});

test.run();
