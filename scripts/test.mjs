/**
 * `npm test`: builds what is stale and runs the fast test files. `npm run test:all`: the slow files too; with `--slow`
 * those alone. With filters either runs the files of both tiers whose path holds one of them, and with `--name TEXT`
 * the tests whose name contains the text. Once both tiers have run, each row of the HTTP contract must have been seen
 * by some test. A whole run names its ten slowest files. The last line is `N passed, N failed`, alone.
 */
import './lib/require-node.mjs';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { compileAll, projects, root } from './lib/compile.mjs';
import { lastLine, runTests } from './lib/run-tests.mjs';

const write = (text) => process.stdout.write(text);

/** Returns the rows of the contract that no test has seen in any of the folders, by the HTTP tests' own module. */
async function unseenRows(testFolder, seenDirs) {
  const module = join(testFolder, 'http', 'contract-coverage.js');
  if (!existsSync(module)) return [];
  const { missingRows } = await import(pathToFileURL(module).href);
  const missing = await Promise.all(seenDirs.map((dir) => missingRows(dir)));
  return missing[0].filter((row) => missing.every((rows) => rows.includes(row)));
}

/** Makes an empty folder. A run of the same tests in another process may still write to it. */
function emptied(dir) {
  mkdirSync(dir, { recursive: true });
  for (const name of readdirSync(dir)) rmSync(join(dir, name), { force: true });
  return dir;
}

/** The whole number above 0 in an environment variable, or `fallback`; anything else ends the run. */
function setting(name, fallback) {
  const value = Number(process.env[name] || fallback);
  if (Number.isInteger(value) && value > 0) return value;
  console.error(`${name} must be a whole number above 0`);
  process.exit(2);
}

/** Returns the filters, the name and the tiers of a command line; a wrong one ends the run. */
function selectionOf(args) {
  const options = { all: { type: 'boolean' }, slow: { type: 'boolean' }, name: { type: 'string', default: '' } };
  try {
    const { values, positionals: filters } = parseArgs({ args, options, allowPositionals: true });
    const one = values.slow ? ['slow'] : values.all ? ['fast', 'slow'] : ['fast'];
    return { filters, name: values.name, tiers: filters.length > 0 ? ['fast', 'slow'] : one };
  } catch (error) {
    console.error(error.message);
    process.exit(2);
  }
}

/** Writes the files that took longest, as a hint where the time of a whole run goes. */
function writeSlowest(times) {
  const slowest = times.toSorted((a, b) => b.seconds - a.seconds).slice(0, 10);
  write(`the slowest files: ${slowest.map(({ path, seconds }) => `${path} ${seconds.toFixed(0)} s`).join(', ')}\n`);
}

async function main(args) {
  const { filters, name, tiers } = selectionOf(args);
  // Fast files mostly wait; slow ones take a core each.
  const concurrency = setting('TEST_CONCURRENCY', tiers.includes('slow') ? 2 : 3);
  const timeoutMs = setting('TEST_TIMEOUT_S', 1200) * 1000;
  const isWhole = filters.length === 0 && name === '';
  if (!compileAll({ quick: !isWhole })) return { passed: 0, failed: 1 };
  const folder = join(root, projects.tests.outDir, 'test');
  // The fast tier leaves what its tests saw for the slow tier, which may run in a process of its own.
  const seenBy = (tier) => join(root, projects.tests.outDir, 'contract-seen', tier);
  const fastIsDone = join(seenBy('fast'), 'done');
  const seenDir = isWhole ? emptied(seenBy(tiers[0])) : undefined;
  const interrupt = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => interrupt.abort());
  const env = { ...process.env, CONTRACT_SEEN_DIR: seenDir };
  const totals = await runTests({
    folder,
    filters,
    name,
    tiers,
    concurrency,
    timeoutMs,
    env,
    write,
    signal: interrupt.signal,
  });
  if (totals.files === 0) write(`no test file matches ${filters.join(' ')}\n`);
  for (const skip of totals.skips) write(`SKIPPED ${skip}\n`);
  if (name !== '' && totals.times.length === 0) write(`no test's name contains ${name}\n`);
  if (process.env.TEST_SKIPS_FAIL === 'true') totals.failed += totals.skips.length;
  if (interrupt.signal.aborted) {
    write('interrupted\n');
    totals.failed += 1;
    return totals;
  }
  if (isWhole) writeSlowest(totals.times);
  if (isWhole && tiers.includes('fast')) writeFileSync(fastIsDone, '');
  if (isWhole && tiers.includes('slow') && existsSync(fastIsDone)) {
    const missing = await unseenRows(folder, [...new Set([seenBy('fast'), seenDir])]);
    for (const row of missing) write(`no test saw ${row}\n`);
    totals.failed += missing.length;
  } else if (isWhole && tiers.includes('slow')) {
    write('rows of the contract are not counted: the fast tier has not run\n');
  }
  return totals;
}

const totals = await main(process.argv.slice(2));
if (totals.failed > 0 || totals.passed === 0) process.exitCode = 1;
write(lastLine(totals));
