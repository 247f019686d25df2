/**
 * `npm run mutate -- --seed N --count N [--only PART]`: which small changes of `src` the tests notice. Draws changes
 * over all floors, makes one at a time in a copy of the tree, and runs the tests that import the changed file, nearest
 * first, until one fails: first fast files, then slow ones. Prints what was noticed per floor, and the survivors. The
 * same seed draws the same changes of the same tree. `--fast-files` and `--slow-files` bound the files that run for
 * each change.
 */
import './lib/require-node.mjs';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { closureOf } from './lib/closure.mjs';
import { compile, dependenciesInstalled, projects, root } from './lib/compile.mjs';
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
  };
  try {
    const { values } = parseArgs({ args, options });
    const number = (name) => {
      if (!/^\d+$/.test(values[name])) throw new Error(`--${name} must be a whole number, got ${values[name]}`);
      return Number(values[name]);
    };
    return {
      seed: number('seed'),
      count: number('count'),
      only: values.only,
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

/** Runs test files until one fails. Returns the path of that one, or undefined. */
async function firstFailure(folder, files) {
  const failure = new AbortController();
  let failed;
  const waiting = [...files];
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined && failed === undefined; next = waiting.shift()) {
      const totals = await runTests({
        folder: join(folder, 'build/test'),
        filters: [next.path],
        tiers: [next.tier],
        concurrency: 1,
        timeoutMs: fileTimeoutMs,
        limits,
        signal: AbortSignal.any([ending.signal, failure.signal]),
        write: () => undefined,
      });
      if (totals.failed === 0 || failure.signal.aborted) continue;
      failed = next.path;
      failure.abort();
    }
  };
  await Promise.all([work(), work()]);
  return failed;
}

async function main({ seed, count, only, filesMax }) {
  if (!compile(projects.main, { ifStale: true }) || !compile(projects.tests, { ifStale: true })) return 1;
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
    await measure({ api, folder, seed, count, only, filesMax });
  } finally {
    api.close();
    remove();
  }
  return 0;
}

async function measure({ api, folder, seed, count, only, filesMax }) {
  // The copy's own module: it compiles the copy.
  const copied = await import(pathToFileURL(join(folder, 'scripts/lib/compile.mjs')).href);
  const config = join(folder, 'tsconfig.json');
  const programWith = (changed) =>
    api.updateSnapshot({ openProjects: [config], fileChanges: { changed } }).getProject(config).program;
  const write = (file, text) => writeFileSync(join(folder, file), text);
  const build = () => {
    for (const project of Object.values(copied.projects)) {
      if (!copied.compile(project, { ifStale: true, quick: true, quiet: true }))
        throw new Error('the copy was not built');
    }
  };
  const program = programWith([]);
  const files = program
    .getSourceFileNames()
    .filter((path) => path.startsWith(join(folder, 'src', only)) && !path.endsWith('.d.ts'))
    .map((path) => path.slice(folder.length + 1))
    .sort();
  const tests = testsIn(folder);
  /** Test files that pass, or fail, where nothing was changed. */
  const isSound = new Map();

  const isRed = async (path, tier) => (await firstFailure(folder, [{ path, tier }])) !== undefined;

  /**
   * Runs the nearest tests of a tier on a changed copy. A test that fails without the change too is left out from then
   * on, and one that does not fail again did not notice the change.
   */
  const noticedBy = async (place, tier, left = testsFor(place.file, tests, folder)) => {
    const sound = left.filter((one) => one.tier === tier && isSound.get(one.path) !== false).slice(0, filesMax[tier]);
    const path = await firstFailure(folder, sound);
    if (path === undefined) return { files: sound.length };
    if (!isSound.has(path)) {
      write(place.file, place.text);
      build();
      isSound.set(path, !(await isRed(path, tier)));
      write(place.file, changed(place));
      build();
    }
    if (isSound.get(path) && (await isRed(path, tier))) return { path };
    return noticedBy(
      place,
      tier,
      left.filter((one) => one.path !== path),
    );
  };

  const results = [];
  for (const place of drawnFrom(placesIn(program, folder, files), randomFrom(seed))) {
    if (results.length === count) break;
    const path = join(folder, place.file);
    write(place.file, changed(place));
    const faults = programWith([path]).getSemanticDiagnostics(path).length;
    if (faults === 0) {
      build();
      const fast = await noticedBy(place, 'fast');
      const slow = fast.path === undefined ? await noticedBy(place, 'slow') : undefined;
      const by = fast.path === undefined ? (slow.path === undefined ? 'not' : 'slow') : 'fast';
      results.push({ ...place, by });
      const ran = fast.path ?? slow.path ?? `${fast.files} fast and ${slow.files} slow files ran`;
      console.log(`${results.length} ${by}: ${described(place)} (${ran})`);
    }
    write(place.file, place.text);
    programWith([path]);
  }
  report(results, seed);
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
