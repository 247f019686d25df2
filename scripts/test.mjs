/**
 * `npm test`: builds what is stale and runs the fast test files. `npm run test:all`: the slow files too; with `--slow`
 * those alone. With filters either runs the files of both tiers whose path holds one of them. Once both tiers have run,
 * each row of the HTTP contract must have been seen by some test. The last line is `N passed, N failed`, alone.
 */
import './lib/require-node.mjs';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { compile, projects, root } from './lib/compile.mjs';
import { lastLine, runTests } from './lib/run-tests.mjs';

const write = (text) => process.stdout.write(text);

/** Returns the rows of the contract that no test has seen, by the HTTP tests' own module. */
async function unseenRows(testFolder, seenDir) {
  const module = join(testFolder, 'http', 'contract-coverage.js');
  if (!existsSync(module)) return [];
  const { missingRows } = await import(pathToFileURL(module).href);
  return missingRows(seenDir);
}

/** The whole number above 0 in an environment variable, or `fallback`; anything else ends the run. */
function setting(name, fallback) {
  const value = Number(process.env[name] || fallback);
  if (Number.isInteger(value) && value > 0) return value;
  console.error(`${name} must be a whole number above 0`);
  process.exit(2);
}

/** Returns the options and filters of a command line. */
function tiersOf(args) {
  const filters = args.filter((one) => one !== '--all' && one !== '--slow');
  if (filters.length > 0) return { filters, tiers: ['fast', 'slow'] };
  if (args.includes('--slow')) return { filters, tiers: ['slow'] };
  return { filters, tiers: args.includes('--all') ? ['fast', 'slow'] : ['fast'] };
}

async function main(args) {
  const { filters, tiers } = tiersOf(args);
  // Fast files mostly wait; slow ones take a core each.
  const concurrency = setting('TEST_CONCURRENCY', tiers.includes('slow') ? 2 : 3);
  const timeoutMs = setting('TEST_TIMEOUT_S', 1200) * 1000;
  if (!compile(projects.main, { ifStale: true }) || !compile(projects.tests, { ifStale: true })) {
    return { passed: 0, failed: 1 };
  }
  const folder = join(root, projects.tests.outDir, 'test');
  // The fast tier leaves what its tests saw for the slow tier, which may run in a process of its own.
  const seenDir = join(root, projects.tests.outDir, 'contract-seen');
  const isWhole = filters.length === 0;
  if (isWhole && tiers.includes('fast')) rmSync(seenDir, { recursive: true, force: true });
  const hasFastTier = tiers.includes('fast') || existsSync(seenDir);
  if (isWhole) mkdirSync(seenDir, { recursive: true });
  const interrupt = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => interrupt.abort());
  const env = isWhole ? { ...process.env, CONTRACT_SEEN_DIR: seenDir } : process.env;
  const totals = await runTests({
    folder,
    filters,
    tiers,
    concurrency,
    timeoutMs,
    env,
    write,
    signal: interrupt.signal,
  });
  if (totals.files === 0) write(`no test file matches ${filters.join(' ')}\n`);
  for (const skip of totals.skips) write(`SKIPPED ${skip}\n`);
  if (process.env.TEST_SKIPS_FAIL === 'true') totals.failed += totals.skips.length;
  if (interrupt.signal.aborted) {
    write('interrupted\n');
    totals.failed += 1;
    if (isWhole) rmSync(seenDir, { recursive: true, force: true });
  } else if (isWhole && tiers.includes('slow')) {
    if (!hasFastTier) write('rows of the contract are not counted: the fast tier has not run\n');
    const missing = hasFastTier ? await unseenRows(folder, seenDir) : [];
    for (const row of missing) write(`no test saw ${row}\n`);
    totals.failed += missing.length;
  }
  return totals;
}

const totals = await main(process.argv.slice(2));
if (totals.failed > 0 || totals.passed === 0) process.exitCode = 1;
write(lastLine(totals));
