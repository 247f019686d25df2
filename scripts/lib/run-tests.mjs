/**
 * Runs compiled uvu files, one process each, and judges them: uvu itself exits 0 where a file runs no test, and prints
 * no total. A file that runs no test, dies, hangs or ends without uvu's summary counts as a failure.
 */
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const suffix = '.test.js';
/** How long to read on after a file's process ended, where something it left behind holds its output open. */
const drainMs = 1_000;
/** How long a process may run on after uvu's summary: a failed test leaves open what it would have closed. */
const endingMs = 60_000;

/**
 * Runs the test files under `folder` of the tiers (`fast`, `slow`) whose path holds one of `filters` (none: all),
 * `concurrency` at a time, each for at most `timeoutMs`, and at most `endsWithinMs` after its last test; `write` takes
 * each finished piece of the report. Resolves to `{passed, failed, skips, files}`, counted in tests; `skips` are the
 * reasons why tests did not run. An aborted `signal` ends the files that run.
 */
export async function runTests({
  folder,
  filters = [],
  tiers = ['fast', 'slow'],
  concurrency = 2,
  timeoutMs,
  endsWithinMs = endingMs,
  env = process.env,
  write,
  signal,
}) {
  const waiting = testFiles(folder).filter((path) => tiers.includes(tierOf(path)) && matches(path, filters));
  const totals = { passed: 0, failed: 0, skips: [], files: waiting.length };
  const work = async () => {
    for (let path = waiting.shift(); path !== undefined && !signal?.aborted; path = waiting.shift()) {
      const run = await runFile(join(folder, path), { timeoutMs, endsWithinMs, env, signal });
      const verdict = judge(run);
      totals.passed += verdict.passed;
      totals.failed += verdict.failed;
      totals.skips.push(...verdict.skips.map((reason) => `${path}: ${reason}`));
      write(report(path, run, verdict));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return totals;
}

/** The runner's last line, which a CI reads. */
export function lastLine({ passed, failed }) {
  return `${passed} passed, ${failed} failed\n`;
}

function testFiles(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(suffix))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length).replace(/^\//, ''))
    .sort();
}

/** A file that takes long, or that holds a rule's long form, says so by its name: `NAME.slow.test.ts`. */
function tierOf(path) {
  return path.endsWith(`.slow${suffix}`) ? 'slow' : 'fast';
}

/** A filter may be any part of the path, as compiled or as in the repository: `config`, `test/http/config.test.ts`. */
function matches(path, filters) {
  const parts = filters.map((filter) => filter.replace(/^(?:\.\/)?(?:build\/)?test\//, '').replace(/\.ts$/, '.js'));
  return parts.length === 0 || parts.some((part) => path.includes(part));
}

function runFile(path, { timeoutMs, endsWithinMs, env, signal }) {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    // A group of its own, so that what a test started ends with it.
    const child = spawn(process.execPath, ['--enable-source-maps', path], {
      detached: true,
      env: { ...env, FORCE_COLOR: '0' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const chunks = [];
    child.stdout.on('data', (chunk) => {
      chunks.push(chunk);
      if (isSummarized || !/^ {2}Duration: /m.test(chunk.toString('latin1'))) return;
      isSummarized = true;
      const leftMs = timeoutMs - (performance.now() - startedAt);
      if (endsWithinMs < leftMs) limit(endsWithinMs, `did not end within ${endsWithinMs / 1000} s of its last test`);
    });
    child.stderr.on('data', (chunk) => chunks.push(chunk));
    const killGroup = () => {
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch (error) {
        if (error.code !== 'ESRCH') throw error;
      }
    };
    let isSummarized = false;
    let killedFor = null;
    let timer;
    const limit = (ms, reason) => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        killedFor = reason;
        killGroup();
      }, ms);
    };
    limit(timeoutMs, `killed at its limit of ${timeoutMs / 1000} s`);
    signal?.addEventListener('abort', killGroup);
    child.on('error', reject);
    child.on('exit', () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', killGroup);
      killGroup();
      const drain = setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
      }, drainMs);
      child.on('close', (code, killedBy) => {
        clearTimeout(drain);
        const seconds = (performance.now() - startedAt) / 1000;
        resolve({ code, killedBy, killedFor, seconds, output: Buffer.concat(chunks).toString('utf8') });
      });
    });
  });
}

function judge({ code, killedBy, killedFor, output }) {
  const total = count(output, 'Total');
  const passed = count(output, 'Passed') ?? 0;
  const skipped = count(output, 'Skipped') ?? 0;
  const skips = [...output.matchAll(/^SKIPPED: (.*)$/gm)].map((match) => match[1].trim());
  if (skipped > 0) skips.push(`${skipped} skipped in the file`);

  const faults = [];
  if (killedFor !== null) faults.push(killedFor);
  else if (killedBy !== null) faults.push(`ended by ${killedBy}`);
  else if (total === undefined) faults.push(`exit code ${code} without a summary of uvu`);
  else if (total === 0) faults.push('no test in this file ran');
  else if (code !== 0 && passed === total) faults.push(`exit code ${code} although its tests passed`);
  return { passed, failed: (total ?? 0) - passed + faults.length, skips, faults };
}

/** The last such line of the summary: a test may print another one's. */
function count(output, label) {
  const found = [...output.matchAll(new RegExp(`^ {2}${label}: +(\\d+)$`, 'gm'))].at(-1)?.[1];
  return found === undefined ? undefined : Number(found);
}

/** For a file that passed, prints only the lines that it marks with `NOTE:`, such as a seed that only this run drew. */
function report(path, { seconds, output }, { passed, failed, faults }) {
  const notes = [...output.matchAll(/^NOTE: (.*)$/gm)].map((match) => match[1].trim());
  const name = path.replace(/\.js$/, '.ts');
  const head = `${failed === 0 ? 'ok  ' : 'FAIL'} ${name} (${seconds.toFixed(1)} s): ${passed} passed, ${failed} failed`;
  if (failed === 0) return [head, ...notes.map((note) => `     ${note}`), ''].join('\n');
  return [head, ...faults.map((fault) => `     ${fault}`), output.trimEnd().replace(/^/gm, '   | '), ''].join('\n');
}
