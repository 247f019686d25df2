/** `npm run bench` and `npm run replay`: compiles what is stale, then hands the arguments to the bench harness. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { compile, projects, root } from './lib/compile.mjs';

if (!compile(projects.main, { ifStale: true }) || !compile(projects.tests, { ifStale: true })) process.exit(1);

const entry = join(root, projects.tests.outDir, 'bench', 'main.js');
const bench = spawn(process.execPath, ['--enable-source-maps', entry, ...process.argv.slice(2)], { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => bench.kill(signal));
bench.on('exit', (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
