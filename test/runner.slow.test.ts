/** The test runner itself, on fixture files in a folder of its own: what uvu lets pass, it must not. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { temporaryFolder } from './support/process.js';

interface Totals {
  readonly passed: number;
  readonly failed: number;
  readonly skips: readonly string[];
  readonly files: number;
  readonly failedDuring: readonly string[];
  readonly times: readonly { readonly path: string; readonly seconds: number }[];
}

interface Options {
  readonly filters?: readonly string[];
  readonly name?: string;
  readonly tiers?: readonly ('fast' | 'slow')[];
  readonly timeoutMs?: number;
  readonly endsWithinMs?: number;
  readonly limits?: Readonly<Record<'fast' | 'slow', { namedAfterMs: number; killedAfterMs: number }>>;
  readonly stopsAtFailure?: boolean;
  readonly signal?: AbortSignal;
}

interface Runner {
  runTests(options: Options & { folder: string; write(text: string): void }): Promise<Totals>;
  lastLine(totals: Totals): string;
}

// Not compiled with the tests: the runner must work where the compiler has not run.
const runner: Runner = await import(new URL('../../scripts/lib/run-tests.mjs', import.meta.url).href);

const uvu = `import { test } from '${import.meta.resolve('uvu')}';\n`;

/** The text of a file that has these tests, given by the code of their functions. */
const fileOf = (tests: Readonly<Record<string, string>>) =>
  `${uvu}${Object.entries(tests)
    .map(([name, code]) => `test('${name}', ${code});\n`)
    .join('')}test.run();\n`;

const passes = '() => {}';
const fails = "() => { throw new Error('the reason'); }";
const blocks = '() => { for (;;); }';
const never = '() => new Promise(() => setInterval(() => {}, 1000))';
const passing = fileOf({ a: passes, b: passes });
const hanging = fileOf({ a: never });

/** Runs the runner on files given by their text, and returns its totals and everything that it wrote. */
async function run(
  files: Readonly<Record<string, string>>,
  options: Options = {},
): Promise<Totals & { readonly report: string }> {
  const folder = temporaryFolder();
  let report = '';
  for (const [name, text] of Object.entries({ ...files, 'package.json': '{"type":"module"}' })) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  const write = (text: string): void => {
    report += text;
  };
  const totals = await runner.runTests({ folder, timeoutMs: 60_000, write, ...options });
  return { ...totals, report };
}

test('a file whose name ends in .slow.test runs with the slow tier alone', async () => {
  const files = { 'a.test.js': passing, 'deep/b.slow.test.js': passing, 'slow.test.js': passing };
  const filesOf = async (tiers: readonly ('fast' | 'slow')[]) =>
    [...(await run(files, { tiers })).report.matchAll(/^ok +(\S+)/gm)].map(([, name]) => name).sort();
  assert.equal(await filesOf(['fast']), ['a.test.ts', 'slow.test.ts']);
  assert.equal(await filesOf(['slow']), ['deep/b.slow.test.ts']);
  assert.equal(await filesOf(['fast', 'slow']), ['a.test.ts', 'deep/b.slow.test.ts', 'slow.test.ts']);
});

test('the tests of all files are counted', async () => {
  const totals = await run({
    'a.test.mjs': '',
    'a.test.js': passing,
    'deep/er/b.test.js': passing,
    'help.js': 'throw 1',
  });
  assert.equal([totals.passed, totals.failed, totals.files], [4, 0, 2]);
  assert.match(totals.report, 'deep/er/b.test.ts');
});

test('a file may end with its first failed test, which is named', async () => {
  const text = fileOf({ good: passes, bad: fails, next: "() => process.stdout.write('next ran')" });
  const totals = await run({ 'a.test.js': text }, { stopsAtFailure: true });
  assert.equal([totals.failed, totals.failedDuring], [1, ['"bad"']]);
  assert.not.match(totals.report, 'next ran');
});

test('the stack of a failure names the source, also where another process printed it', async () => {
  // Only the second line of the compiled file is mapped, to line 41 of its source.
  const map = JSON.stringify({ version: 3, sources: ['../src/a.test.ts'], names: [], mappings: ';AAwCA' });
  const text = fileOf({ bad: "() => { throw new Error('child: ' + import.meta.url + ':2:9'); }" });
  const { report } = await run({ 'deep/a.test.js': text, 'deep/a.test.js.map': map });
  assert.match(report, /child: \/\S+\/src\/a\.test\.ts:41:1\n/);
  assert.match(report, /at Object\.handler \(\/\S+\/src\/a\.test\.ts:41:1\)/);
  assert.match((await run({ 'deep/a.test.js': text })).report, /\/deep\/a\.test\.js:2:9\n/);
});

const rejects = "async () => { Promise.reject(new Error('the reason')); await new Promise(setImmediate); }";

const endless = '() => new Promise(() => {})';

/** The text of a file that is refused, how many tests count as passed and failed, and what the report says. */
const refused: Readonly<Record<string, readonly [text: string, counts: readonly [number, number], said?: RegExp]>> = {
  'has a failing test': [fileOf({ good: passes, bad: fails }), [1, 1]],
  'has no test': [`${uvu}test.run();\n`, [0, 1]],
  'does not run its tests': [`${uvu}test('never run', () => {});\n`, [0, 1]],
  'leaves a rejection unhandled': [
    fileOf({ one: passes, two: rejects }),
    [0, 1],
    /without a summary of uvu, during "two"/,
  ],
  'is empty': ['', [0, 1]],
  'ends at its top with exit code 0': ['process.exit(0);', [0, 1]],
  'ends in a test with exit code 0': [fileOf({ a: '() => process.exit(0)' }), [0, 1]],
  'throws at its top': ['throw 1;', [0, 1]],
  'has a bad exit code after its tests': [`${passing}process.on('exit', () => { process.exitCode = 3; });\n`, [2, 1]],
  'does not end': [
    `setInterval(() => {}, 1000);\n${fileOf({ a: passes, b: fails })}`,
    [1, 2],
    /did not end within 0\.5 s of its last test/,
  ],
};

for (const [what, [text, counts, said = /FAIL a\.test\.ts/]] of Object.entries(refused)) {
  test(`a file that ${what} is refused, and its whole output is printed`, async () => {
    const totals = await run({ 'a.test.js': text }, { endsWithinMs: 500 });
    assert.equal([totals.passed, totals.failed], counts, totals.report);
    assert.match(totals.report, said);
    assert.is(totals.report.includes('the reason'), text.includes('the reason'), totals.report);
  });
}

/** A file that starts a process which listens on a free port and prints it, and that then never ends. */
const hangingWithChild = `import { spawn } from 'node:child_process';
const listen = "const s = require('node:net').createServer().listen(0, '127.0.0.1', () => console.log('port ' + s.address().port + '.'))";
spawn(process.execPath, ['-e', listen], { stdio: 'inherit' });
${hanging}`;

test('a hanging file is killed at its limit, together with its child processes', async () => {
  const totals = await run({ 'a.test.js': hangingWithChild }, { timeoutMs: 10_000 });
  assert.equal([totals.passed, totals.failed], [0, 1]);
  assert.match(totals.report, 'killed at its limit of 10 s during "a"\n');
  const port = Number(/port (\d+)\./.exec(totals.report)?.[1]);
  const answer = await new Promise((resolve) => {
    connect(port, '127.0.0.1')
      .on('connect', () => resolve('connected'))
      .on('error', (error) => resolve(error.message));
  });
  assert.match(String(answer), 'ECONNREFUSED');
});

/** A file that passes and notes its process. */
const noting = `console.log('NOTE: ' + process.pid);\n${passing}`;

const notedProcesses = (report: string): number => new Set(report.match(/^ {5}\d+$/gm)).size;

const filesOf = (folder: string, count: number) => Array.from({ length: count }, (_, i) => `${folder}/${i}`);

test('fast files of one folder share a process, at most twelve, and each has its own result', async () => {
  const names = [...filesOf('a', 12), 'a/b/13', ...filesOf('c', 12), 'd', 'e'];
  const totals = await run(Object.fromEntries(names.map((name) => [`${name}.test.js`, noting])));
  assert.equal([totals.passed, totals.failed, totals.times.length], [54, 0, 27]);
  for (const name of names)
    assert.match(totals.report, new RegExp(`^ok   ${name}.test.ts .*: 2 passed, 0 failed$`, 'm'));
  assert.is(notedProcesses(totals.report), 5);
});

test('a slow file, one that uses its process and one that says so share no process', async () => {
  const files = {
    'a/1.test.js': noting,
    'a/2.slow.test.js': noting,
    'a/3.test.js': `process.env.TZ = 'UTC';\n${noting}`,
    'a/4.test.js': `// Runs in a process of its own: it says so.\n${noting}`,
    'a/5.test.js': noting,
  };
  assert.is(notedProcesses((await run(files)).report), 4);
});

test('a file that ends or holds a shared process is named, and the files beside it keep their results', async () => {
  const failing = new Map([
    [fileOf({ two: fails }), /"two"/],
    [fileOf({ two: rejects }), /exit code 1 without .* during "two"\n/],
    [fileOf({ two: endless }), /exit code 1 without .* during "two"\n/],
    [fileOf({ two: blocks }), /LONG a\/2.*"two"(?:.|\n)*"two": killed at its limit of 2 s/],
    [`${passing}setInterval(() => {}, 1000);\n`, /did not end within 0.5 s of its last test/],
    [`${uvu}test('never run', () => {});\n`, /exit code 1 without .* during the top of the file/],
    ["throw new Error('x');", /exit code 1 without .* during the top of the file/],
  ]);
  for (const [text, fault] of failing) {
    const files = { 'a/1.test.js': noting, 'a/2.test.js': text, 'a/3.test.js': noting, 'a/4.test.js': noting };
    const { report, failed } = await run(files, { limits, endsWithinMs: 500 });
    const results = [...report.matchAll(/^(ok|FAIL) +(\S+) .*: (\d) passed/gm)].map(([, ...found]) => found.join(' '));
    const second = text.includes('setInterval') ? 2 : 0;
    const others = [1, 3, 4].map((file) => `ok a/${file}.test.ts 2`);
    assert.equal([failed, results], [1, others.toSpliced(1, 0, `FAIL a/2.test.ts ${second}`)], report);
    assert.match(report, fault);
    assert.is(notedProcesses(report), 2);
  }
});

const short = { namedAfterMs: 500, killedAfterMs: 2_000 };
const limits = { fast: short, slow: { namedAfterMs: 60_000, killedAfterMs: 60_000 } };

test('a hanging test is named while it runs and when it is killed, and the other files run', async () => {
  const until = new URL('./support/until.js', import.meta.url).href;
  const waiting = `import { until } from '${until}';\n${fileOf({ one: passes, two: '() => until(() => 1 > 2)' })}`;
  const totals = await run({ 'a.test.js': waiting, 'b.test.js': passing }, { limits });
  assert.equal([totals.passed, totals.failed], [2, 1]);
  assert.match(totals.report, 'LONG a.test.ts: "two", which waits for () => 1 > 2: runs for 0.5 s now\n');
  assert.match(totals.report, '"two", which waits for () => 1 > 2: killed at its limit of 2 s\n');
});

test('a test that blocks its thread is named too, and so are the hooks and the top of the file', async () => {
  const texts = {
    '"a"': fileOf({ a: blocks }),
    'the hooks before the first test': fileOf({ a: passes }).replace('test(', `test.before(${blocks});\ntest(`),
    'the top of the file': 'setInterval(() => {}, 1000); await new Promise(() => {});',
  };
  for (const [stage, text] of Object.entries(texts)) {
    const { report } = await run({ 'a.test.js': text }, { limits });
    assert.match(report, `${stage}: killed at its limit of 2 s`);
  }
});

test('a test of the slow tier may run longer', async () => {
  const text = fileOf({ a: '() => new Promise((resolve) => setTimeout(resolve, 2_500))' });
  assert.is((await run({ 'a.slow.test.js': text }, { limits })).passed, 1);
});

test('a name selects tests that contain it, in the files that have one, and their hooks run', async () => {
  const text = `${uvu}let count = 0;\ntest.before.each(() => { count += 1; });\ntest('reads a page', () => { if (count !== 1) throw new Error('no hook'); });\ntest('writes', () => { throw new Error('ran'); });\ntest.run();\n`;
  const totals = await run({ 'a.test.js': text, 'b.test.js': passing }, { name: 'a page' });
  assert.equal([totals.passed, totals.failed, totals.skips], [1, 0, []]);
  assert.equal(
    totals.times.map(({ path }) => path),
    ['a.test.ts'],
  );
  assert.equal((await run({ 'b.test.js': passing }, { name: 'nothing like it' })).times, []);
});

test('an interrupt ends the files that run and starts no other', async () => {
  const interrupt = new AbortController();
  const files = { 'a.test.js': hanging, 'b.test.js': hanging, 'c.test.js': passing };
  const running = run(files, { signal: interrupt.signal });
  interrupt.abort();
  assert.is((await running).passed, 0);
});

test('a filter picks files by any part of their path, as compiled or as in the repository', async () => {
  const files = { 'a.test.js': passing, 'http/b.test.js': passing, 'http/c.test.js': passing };
  const counts = async (...filters: string[]): Promise<number> => (await run(files, { filters })).files;
  assert.is(await counts('http'), 2);
  assert.is(await counts('test/http/b.test.ts'), 1);
  assert.is(await counts('a.test', 'c.test'), 2);
  assert.is(await counts('nothing-like-it'), 0);
});

test('tests that were left out are reported with their reasons', async () => {
  const text = `${uvu}console.log('SKIPPED: no strace here');\ntest.skip('a', () => {});\ntest('b', () => {});\ntest.run();\n`;
  const totals = await run({ 'a.test.js': text });
  assert.equal([totals.passed, totals.failed], [1, 0]);
  assert.equal(totals.skips, ['a.test.js: no strace here', 'a.test.js: 1 skipped in the file']);
});

test('only the notes of a passed file are printed, and none of its other output', async () => {
  const text = `${uvu}console.log('some text');\nconsole.log('NOTE: fresh seed 7');\ntest('a', () => {});\ntest.run();\n`;
  const { report } = await run({ 'a.test.js': text });
  assert.match(report, /^ok {3}a\.test\.ts \([\d.]+ s\): 1 passed, 0 failed\n {5}fresh seed 7\n$/);
});

test('the last line holds the totals alone', async () => {
  const totals = await run({ 'a.test.js': fileOf({ good: passes, better: passes, bad: fails }) });
  assert.is(runner.lastLine(totals), '2 passed, 1 failed\n');
});

test.run();
