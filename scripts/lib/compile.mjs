/**
 * Compiles one TypeScript project into one folder, and knows whether that folder is still fresh. A folder is never
 * half-written: the compiler writes next to it, and the new folder takes the old one's place once it is whole. A quick
 * compilation leaves types unchecked and, where an output is there, writes what changed alone, file by file.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));

/**
 * The input of a compilation, the folders of its output and of the output of `src`, and a path that exists in every
 * complete output.
 */
export const projects = {
  main: { config: 'tsconfig.json', outDir: 'dist', src: '.', inputs: ['src'], entry: 'main.js' },
  tests: { config: 'tsconfig.test.json', outDir: 'build', src: 'src', inputs: ['src', 'test', 'bench'], entry: 'src' },
};

/** Code for the browser is compiled against other globals. */
const page = { config: 'tsconfig.page.json' };

/** Files that are copied as they are: the page's style and icon, the descriptions of ban lists, etcd's messages. */
const copied = [
  { folder: join('operator', 'dashboard', 'page'), files: /\.(?:css|svg)$/ },
  { folder: join('peer', 'formats'), files: /\.json$/ },
  { folder: join('store', 'etcd'), files: /\.proto$/ },
];

const sharedInputs = ['tsconfig.json', 'tsconfig.test.json', 'tsconfig.page.json', 'package.json'];
const stampName = '.stamp';

/**
 * Compiles unless `ifStale` is set and the output is fresh; with `quick` unchecked types are good enough. Returns true
 * where the output is usable afterwards; on a fault the reason has been printed and the output of before stands.
 */
export function compile(project, { ifStale = false, quick = false, quiet = false } = {}) {
  const { config, outDir, src, entry } = project;
  const target = join(root, outDir);
  // Taken before the compiler reads: a source that changes meanwhile leaves the output stale.
  const stamp = stampOf(project.inputs);
  const built = ifStale && existsSync(join(target, entry)) ? readStamp(target) : undefined;
  const isUsable = built?.settings === stamp.settings && (built.isChecked || quick);
  const stale = isUsable ? differing(built.files, stamp.files) : [];
  const isFresh = isUsable && stale.length === 0;
  if (!dependenciesInstalled(isFresh ? ['dependencies'] : ['dependencies', 'devDependencies'])) return false;
  if (isFresh) return true;

  sweepLeftOvers(outDir);
  const startedAt = performance.now();
  const next = `${target}.new-${process.pid}`;
  const isPartial = quick && isUsable;
  const options = quick ? ['--noCheck'] : [];
  if (
    isPartial
      ? !emit(project, stale, next)
      : !runCompiler(page.config, join(next, src), options) || !runCompiler(config, next, options)
  ) {
    rmSync(next, { recursive: true, force: true });
    console.error(`${outDir}/ was not built: the compiler found the faults above`);
    return false;
  }
  for (const { folder, files } of copied) {
    for (const name of readdirSync(join(root, 'src', folder))) {
      const copy = join(next, src, folder, name);
      mkdirSync(dirname(copy), { recursive: true });
      if (files.test(name)) copyFileSync(join(root, 'src', folder, name), copy);
    }
  }
  const command = join(next, 'ptf.js');
  if (existsSync(command)) chmodSync(command, 0o755);
  writeFileSync(join(next, stampName), JSON.stringify({ ...stamp, isChecked: !quick }));
  if (isPartial) moveInto(target, next, stale);
  else takePlace(next, target);
  const what = `${isPartial ? `${stale.length} files of ` : ''}${outDir}/${quick ? ', types unchecked,' : ''}`;
  if (!quiet) console.error(`built ${what} in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  return true;
}

/**
 * Compiles what is stale of all that tests, bench and harnesses run. Their own types are left to `npm run types`, so
 * that they run soon after an edit.
 */
export function compileAll({ quick = false } = {}) {
  return compile(projects.main, { ifStale: true, quick }) && compile(projects.tests, { ifStale: true, quick: true });
}

/** Writes the output of the stale sources into `next`. Each depends on its own source alone (`isolatedModules`). */
function emit({ config }, stale, next) {
  const files = stale.map((path) => join(root, path)).filter((path) => path.endsWith('.ts') && existsSync(path));
  mkdirSync(next);
  if (files.length === 0) return true;
  const own = join(next, 'tsconfig.json');
  const compilerOptions = { noCheck: true, noResolve: true, types: [], declaration: false };
  writeFileSync(own, JSON.stringify({ extends: join(root, config), compilerOptions, include: [], exclude: [], files }));
  const isDone = runCompiler(own, next);
  rmSync(own);
  return isDone;
}

/** Moves the files of `next` into `target`, and removes there what a source that is gone was built to. */
function moveInto(target, next, stale) {
  for (const entry of readdirSync(next, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory() || entry.name === stampName) continue;
    const from = join(entry.parentPath, entry.name);
    const to = join(target, relative(next, from));
    mkdirSync(dirname(to), { recursive: true });
    renameSync(from, to);
  }
  for (const path of stale.filter((one) => !existsSync(join(root, one)))) {
    const built = join(target, target.endsWith(projects.main.outDir) ? relative('src', path) : path);
    for (const end of ['.js', '.js.map', '.d.ts']) rmSync(built.replace(/\.ts$/, end), { force: true });
  }
  // The stamp vouches for all of the above.
  renameSync(join(next, stampName), join(target, stampName));
  rmSync(next, { recursive: true });
}

function runCompiler(config, outDir, options = []) {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const args = [compiler, '-p', config, '--outDir', outDir, ...options];
  return spawnSync(process.execPath, args, { cwd: root, stdio: ['ignore', 2, 2] }).status === 0;
}

/** The size and modification time of every source, and of what all outputs depend on. */
function stampOf(inputs) {
  const facts = (paths) => {
    const found = {};
    const visit = (path) => {
      const stat = statSync(path, { throwIfNoEntry: false });
      if (stat?.isDirectory()) for (const name of readdirSync(path).sort()) visit(join(path, name));
      else if (stat) found[relative(root, path)] = `${stat.size} ${stat.mtimeMs}`;
    };
    for (const path of paths) visit(join(root, path));
    return found;
  };
  return { settings: JSON.stringify([process.version, facts(sharedInputs)]), files: facts(inputs) };
}

/** The sources that changed, came or went. */
function differing(before, after) {
  return Object.keys({ ...before, ...after }).filter((path) => before[path] !== after[path]);
}

function readStamp(folder) {
  try {
    return JSON.parse(readFileSync(join(folder, stampName), 'utf8'));
  } catch {
    return undefined;
  }
}

export function dependenciesInstalled(groups) {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const names = groups.flatMap((group) => Object.keys(manifest[group] ?? {}));
  const missing = names.filter((name) => !existsSync(join(root, 'node_modules', name)));
  if (missing.length === 0) return true;
  console.error(`dependencies are not installed (${missing.join(', ')}): run "npm ci" first`);
  return false;
}

/** Renames `next` to `target`. Another build may do the same at the same time; the last one stands. */
function takePlace(next, target) {
  const old = `${target}.old-${process.pid}`;
  for (let attempt = 1; ; attempt++) {
    if (existsSync(target)) {
      try {
        renameSync(target, old);
      } catch (error) {
        if (error.code !== 'ENOENT') throw error;
      }
    }
    try {
      renameSync(next, target);
      break;
    } catch (error) {
      if (error.code !== 'ENOTEMPTY' || attempt === 5) throw error;
    } finally {
      rmSync(old, { recursive: true, force: true });
    }
  }
}

/** Removes what builds that were killed left behind. */
function sweepLeftOvers(outDir) {
  for (const name of readdirSync(root)) {
    const pid = name.startsWith(`${outDir}.`) ? /\.(?:new|old)-(\d+)$/.exec(name)?.[1] : undefined;
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(join(root, name), { recursive: true, force: true });
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
