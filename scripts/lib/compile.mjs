/**
 * Compiles one TypeScript project into one folder, and knows whether that folder is still fresh. A folder is never
 * half-written: the compiler writes next to it, and the new folder takes the old one's place once it is whole.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
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

/** Code for the browser is compiled against other globals; its style and icon are copied as they are. */
const page = { config: 'tsconfig.page.json', folder: join('operator', 'dashboard', 'page'), files: /\.(?:css|svg)$/ };

const sharedInputs = ['tsconfig.json', 'tsconfig.test.json', 'tsconfig.page.json', 'package.json'];
const stampName = '.stamp';

/**
 * Compiles unless `ifStale` is set and the output is fresh. Returns true where the output is usable afterwards; on a
 * fault the reason has been printed and the output of before stands.
 */
export function compile(project, { ifStale = false } = {}) {
  const { config, outDir, src, entry } = project;
  const target = join(root, outDir);
  // Taken before the compiler reads: a source that changes meanwhile leaves the output stale.
  const stamp = fingerprint(project.inputs);
  const fresh = ifStale && existsSync(join(target, entry)) && readStamp(target) === stamp;
  if (!dependenciesInstalled(fresh ? ['dependencies'] : ['dependencies', 'devDependencies'])) return false;
  if (fresh) return true;

  sweepLeftOvers(outDir);
  const startedAt = performance.now();
  const next = `${target}.new-${process.pid}`;
  if (!runCompiler(page.config, join(next, src)) || !runCompiler(config, next)) {
    rmSync(next, { recursive: true, force: true });
    console.error(`${outDir}/ was not built: the compiler found the faults above`);
    return false;
  }
  for (const name of readdirSync(join(root, 'src', page.folder))) {
    if (page.files.test(name)) copyFileSync(join(root, 'src', page.folder, name), join(next, src, page.folder, name));
  }
  const command = join(next, 'ptf.js');
  if (existsSync(command)) chmodSync(command, 0o755);
  writeFileSync(join(next, stampName), stamp);
  takePlace(next, target);
  console.error(`built ${outDir}/ in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  return true;
}

function runCompiler(config, outDir) {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const args = [compiler, '-p', config, '--outDir', outDir];
  return spawnSync(process.execPath, args, { cwd: root, stdio: ['ignore', 2, 2] }).status === 0;
}

/** A digest of every input's path, size and modification time: a new, changed, restored or deleted source differs. */
function fingerprint(inputs) {
  const hash = createHash('sha256').update(process.version);
  const visit = (path) => {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat?.isDirectory()) for (const name of readdirSync(path).sort()) visit(join(path, name));
    else if (stat) hash.update(`\n${relative(root, path)} ${stat.size} ${stat.mtimeMs}`);
  };
  for (const input of [...sharedInputs, ...inputs]) visit(join(root, input));
  return hash.digest('hex');
}

function readStamp(folder) {
  const path = join(folder, stampName);
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

function dependenciesInstalled(groups) {
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
