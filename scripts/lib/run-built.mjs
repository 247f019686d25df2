/**
 * Runs a program of the harnesses: compiles what is stale, then hands the arguments, the signals and the exit code on.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { compileAll, projects, root } from './compile.mjs';

/** `path`: the program's source below the root, with the extension of what it is built to. `options`: of Node. */
export function runBuilt(path, options = []) {
  if (!compileAll()) process.exit(1);
  const entry = join(root, projects.tests.outDir, path);
  const args = [...options, '--enable-source-maps', entry, ...process.argv.slice(2)];
  const child = spawn(process.execPath, args, { stdio: 'inherit' });
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
