/**
 * `npm run mutate -- --seed N --count N [--only PART]`: which small changes of `src` the tests notice. Draws changes
 * over all floors, makes one at a time in a copy of the tree, and runs the tests that import the changed file, nearest
 * first, until one fails: first fast files, then slow ones. Prints what was noticed per floor, and the survivors. The
 * same seed draws the same changes of the same tree. `--fast-files` and `--slow-files` bound the files that run for
 * each change, `--jobs` those that run at a time; `--pick 3,17` runs these numbers of the draw alone.
 */
import './lib/require-node.mjs';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';
import { parseArgs } from 'node:util';
import { closureOf } from './lib/closure.mjs';
import { compileAll, dependenciesInstalled, root } from './lib/compile.mjs';
import { runTests } from './lib/run-tests.mjs';

if (!dependenciesInstalled(['devDependencies'])) process.exit(1);
const { API } = await import('typescript/unstable/sync');
const { mutationsOf, randomFrom } = await import('./lib/mutations.mjs');

const notCopied = ['.git', 'node_modules', 'out', 'coverage'];
/** A change may make a loop endless, so a fast test has less time than usual. */
const limits = { fast: { namedAfterMs: 30_000, killedAfterMs: 30_000 }, slow: { namedAfterMs: 240_000 } };
const fileTimeoutMs = 240_000;

function optionsOf(args) {
  const text = (fallback) => ({ type: 'string', default: fallback });
  const options = {
    seed: text('1'),
    count: text('10'),
    only: text(''),
    'fast-files': text('30'),
    'slow-files': text('3'),
    jobs: text('2'),
    pick: text(''),
  };
  try {
    const { values } = parseArgs({ args, options });
    const number = (name) => {
      if (!/^\d+$/.test(values[name])) throw new Error(`--${name} must be a whole number, got ${values[name]}`);
      return Number(values[name]);
    };
    if (number('jobs') === 0) throw new Error('--jobs must be at least 1');
    if (!/^(?:\d+(?:,\d+)*)?$/.test(values.pick)) throw new Error(`--pick must be numbers, got ${values.pick}`);
    return {
      seed: number('seed'),
      count: number('count'),
      only: values.only,
      jobs: number('jobs'),
      picked: values.pick === '' ? undefined : new Set(values.pick.split(',').map(Number)),
      filesMax: { fast: number('fast-files'), slow: number('slow-files') },
    };
  } catch (error) {
    console.error(error.message);
    process.exit(2);
  }
}

/** A copy of the tree with its outputs, so that a change and its build dirty nothing. */
function copyTree() {
  const folder = mkdtempSync(join(tmpdir(), 'ptf-mutate-'));
  const names = readdirSync(root).filter((name) => !notCopied.includes(name) && !/^(?:dist|build)\./.test(name));
  const { status } = spawnSync('cp', ['-a', ...names, folder], { cwd: root, stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error('the tree was not copied');
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

/** `src/core/rules/a.ts` stands on the floor `core/rules`, `src/cluster/a.ts` on `cluster`, `src/main.ts` on `top`. */
function floorOf(path) {
  const folder = posix.dirname(path).split('/').slice(1, 3).join('/');
  return folder === '' ? 'top' : folder;
}

/** The changes that can be drawn from the sources, by floor. */
function placesIn(program, folder, files) {
  const floors = new Map();
  for (const file of files) {
    const source = program.getSourceFile(join(folder, file));
    const places = mutationsOf(source).map((mutation) => ({
      ...mutation,
      file,
      floor: floorOf(file),
      text: source.text,
    }));
    floors.set(floorOf(file), [...(floors.get(floorOf(file)) ?? []), ...places]);
  }
  return floors;
}

/** Yields each change once: in each round one of each floor, in any order. */
function* drawnFrom(floors, random) {
  const drawn = (list) => list.splice(random(list.length), 1)[0];
  for (let left = [...floors.values()]; left.length > 0; left = left.filter((places) => places.length > 0)) {
    const round = left.filter((places) => places.length > 0);
    while (round.length > 0) yield drawn(drawn(round));
  }
}

/** The compiled test files, with the compiled sources that each imports, directly or through others. */
function testsIn(folder) {
  return readdirSync(join(folder, 'build/test'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.js'))
    .map((path) => {
      const { files } = closureOf([join(folder, 'build/test', path)], { missingAllowed: true });
      return { path, tier: path.endsWith('.slow.test.js') ? 'slow' : 'fast', reached: new Set(files) };
    });
}

/** The tests that reach a source, nearest first: of the same name, of the nearest folder, of the fewest files. */
function testsFor(file, tests, folder) {
  const built = join(folder, 'build', file.replace(/\.ts$/, '.js'));
  const source = file.replace(/^src\//, '').replace(/\.ts$/, '');
  const parts = source.split('/');
  const nearness = ({ path }) => {
    const own = path.replace(/(?:\.slow)?\.test\.js$/, '').split('/');
    let shared = 0;
    while (shared < parts.length && parts[shared] === own[shared]) shared += 1;
    return shared + (own.at(-1) === parts.at(-1) ? 1 : 0);
  };
  return tests
    .filter(({ reached }) => reached.has(built))
    .sort((a, b) => nearness(b) - nearness(a) || a.reached.size - b.reached.size);
}

/** Aborted by a signal: the test processes, which have groups of their own, end with this one. */
const ending = new AbortController();

/** Runs test files until a test fails. Returns the file and the test, or undefined. */
async function firstFailure(folder, files, { jobs = 1, name = '' } = {}) {
  const failure = new AbortController();
  let found;
  const waiting = [...files];
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined && found === undefined; next = waiting.shift()) {
      const totals = await runTests({
        folder: join(folder, 'build/test'),
        filters: [next.path],
        name,
        tiers: [next.tier],
        concurrency: 1,
        timeoutMs: fileTimeoutMs,
        endsWithinMs: 10_000,
        stopsAtFailure: true,
        limits,
        signal: AbortSignal.any([ending.signal, failure.signal]),
        write: () => undefined,
      });
      if (totals.failed === 0 || failure.signal.aborted) continue;
      found = { path: next.path, test: /^"(.*)"$/s.exec(totals.failedDuring[0])?.[1] ?? '' };
      failure.abort();
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  return found;
}

async function main(options) {
  if (!compileAll({ quick: true })) return 1;
  const folder = copyTree();
  const remove = () => rmSync(folder, { recursive: true, force: true });
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => {
      ending.abort();
      remove();
      process.exit(1);
    });
  }
  const api = new API({ cwd: folder });
  try {
    await measure({ api, folder, ...options });
  } finally {
    api.close();
    remove();
  }
  return 0;
}

async function measure({ api, folder, seed, count, only, filesMax, jobs, picked }) {
  const config = join(folder, 'tsconfig.json');
  const programWith = (changed) =>
    api.updateSnapshot({ openProjects: [config], fileChanges: { changed } }).getProject(config).program;
  const program = programWith([]);
  const files = program
    .getSourceFileNames()
    .filter((path) => path.startsWith(join(folder, 'src', only)) && !path.endsWith('.d.ts'))
    .map((path) => path.slice(folder.length + 1))
    .sort();

  /** Whether the changed source passes the type check: a change that the compiler notices is none for the tests. */
  const isTyped = (place) => {
    const path = join(folder, place.file);
    writeFileSync(path, changed(place));
    const faults = programWith([path]).getSemanticDiagnostics(path).length;
    writeFileSync(path, place.text);
    programWith([path]);
    return faults === 0;
  };
  const drawn = [];
  for (const place of drawnFrom(placesIn(program, folder, files), randomFrom(seed))) {
    if (drawn.length === count) break;
    if (isTyped(place)) drawn.push({ ...place, number: drawn.length + 1 });
  }
  const chosen = drawn.filter(({ number }) => picked === undefined || picked.has(number));
  compileChanges(folder, chosen);

  const tests = testsIn(folder);
  const results = [];
  for (const place of chosen) {
    const fast = await noticedBy({ folder, place, tier: 'fast', tests, filesMax, jobs });
    const slow = fast.path === undefined ? await noticedBy({ folder, place, tier: 'slow', tests, filesMax, jobs }) : {};
    const by = fast.path === undefined ? (slow.path === undefined ? 'not' : 'slow') : 'fast';
    results.push({ ...place, by });
    const ran = fast.path ?? slow.path ?? `${fast.files} fast and ${slow.files} slow files ran`;
    console.log(`${place.number} ${by}: ${described(place)} (${ran})`);
  }
  report(results, seed);
}

/** Compiles all changes at once, each into a folder of its own. */
function compileChanges(folder, places) {
  const sources = join(folder, 'changes');
  const pathOf = ({ number, file }) => join(sources, String(number), file);
  for (const place of places) {
    mkdirSync(dirname(pathOf(place)), { recursive: true });
    writeFileSync(pathOf(place), changed(place));
  }
  const compilerOptions = { noCheck: true, noResolve: true, types: [], sourceMap: false, rootDir: sources };
  const config = join(sources, 'tsconfig.json');
  const extended = join(folder, 'tsconfig.test.json');
  writeFileSync(config, JSON.stringify({ extends: extended, compilerOptions, include: [], files: places.map(pathOf) }));
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const { status } = spawnSync(process.execPath, [compiler, '-p', config, '--outDir', sources], { stdio: [0, 2, 2] });
  if (status !== 0) throw new Error('the changes were not compiled');
}

/** Runs `work` while the outputs in the copy hold the change. */
async function withChange(folder, { number, file }, work) {
  const output = file.replace(/\.ts$/, '.js');
  const text = readFileSync(join(folder, 'changes', String(number), output));
  const before = [join(folder, 'build', output), join(folder, 'dist', output.replace('src/', ''))].map((path) => ({
    path,
    text: readFileSync(path),
  }));
  for (const { path } of before) writeFileSync(path, text);
  try {
    return await work();
  } finally {
    for (const one of before) writeFileSync(one.path, one.text);
  }
}

/** Test files that pass, or fail, where nothing was changed, by `path name of the test`. */
const isSound = new Map();

/**
 * Runs the nearest tests of a tier on a changed copy. A test that fails without the change too did not notice it, nor
 * did one that does not fail again: the tests of the other files follow then.
 */
async function noticedBy({ folder, place, tier, tests, filesMax, jobs }) {
  let left = testsFor(place.file, tests, folder)
    .filter((one) => one.tier === tier)
    .slice(0, filesMax[tier]);
  const files = left.length;
  while (left.length > 0) {
    const found = await withChange(folder, place, () => firstFailure(folder, left, { jobs }));
    if (found === undefined) break;
    const { path, test } = found;
    const again = () => firstFailure(folder, [{ path, tier }], { name: test });
    const key = `${path} ${test}`;
    if (!isSound.has(key)) isSound.set(key, (await again()) === undefined);
    if (isSound.get(key) && (await withChange(folder, place, again)) !== undefined) return { path };
    left = left.filter((one) => one.path !== path);
  }
  return { files };
}

function changed({ text, start, end, replacement }) {
  return text.slice(0, start) + replacement + text.slice(end);
}

/** A change as one line: its place, and the text before and after. */
function described({ file, kind, text, start, end, replacement }) {
  const line = text.slice(0, start).split('\n').length;
  const short = (code) => (code.length > 70 ? `${code.slice(0, 70)}...` : code).replace(/\s+/g, ' ');
  return `${file}:${line} ${kind}: ${short(text.slice(start, end))} -> ${short(replacement)}`;
}

/** Prints per floor how many changes were noticed, and the survivors. */
function report(results, seed) {
  const count = (list, by) => list.filter((one) => one.by === by).length;
  const floors = [...new Set(results.map(({ floor }) => floor))].sort();
  console.log(`\nseed ${seed}\n| Floor | fast | slow | not |\n|---|---|---|---|`);
  for (const [name, list] of [
    ...floors.map((one) => [one, results.filter(({ floor }) => floor === one)]),
    ['all', results],
  ]) {
    console.log(`| ${name} | ${count(list, 'fast')} | ${count(list, 'slow')} | ${count(list, 'not')} |`);
  }
  const survivors = results.filter(({ by }) => by === 'not');
  for (const one of survivors) console.log(`survivor: ${described(one)}`);
}

process.exitCode = await main(optionsOf(process.argv.slice(2)));
