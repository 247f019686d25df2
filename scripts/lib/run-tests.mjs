/**
 * Runs compiled uvu files, several of one folder in a process, and judges each: uvu itself exits 0 where a file runs no
 * test, and prints no total. A file that runs no test, dies, hangs or ends without uvu's summary counts as a failure,
 * and the files after it run in another process. A test that runs for long is named while it runs, and one that hangs
 * or ends its process is named among the faults.
 */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { withSourcePositions } from './source-positions.mjs';

const testProcess = fileURLToPath(new URL('./test-process.mjs', import.meta.url));

const suffix = '.test.js';
/** How many fast files of one folder share a process, and so its start and the modules that it loads. */
const filesPerProcess = 12;
/** A file whose text matches this changes or measures its process, so it shares it with no other file. */
const ownProcess =
  /\bprocess\.env(?:\.\w+|\[[^\]]+\])? (?:\?\?|\|\||\+)?= |(?:delete |assign\()process\.env|\bprocess\.(?:exit|exitCode|on|once|emit|umask|chdir|memoryUsage|cpuUsage|getActive\w+|(?:stdout|stderr)\.write =)|node:(?:v8|diagnostics_channel)|\/proc\/self|syncBuiltinESMExports|Runs in a process of its own/;
/** The line that a process writes to both of its outputs after each of its files but the last. */
export const endOfFile = '\n\x1e end of the test file\n';
/** How long to read on after a file's process ended, where something it left behind holds its output open. */
const drainMs = 1_000;
/** How long a process may run on after uvu's summary: a failed test leaves open what it would have closed. */
const endingMs = 60_000;
/**
 * After how long a single test is named as one that still runs, and after how long its file is killed. A slow test has
 * the time of its file.
 */
const testLimits = {
  fast: { namedAfterMs: 10_000, killedAfterMs: 60_000 },
  slow: { namedAfterMs: 120_000 },
};

/**
 * Runs the test files under `folder` of the tiers (`fast`, `slow`) whose path holds one of `filters` (none: all),
 * `concurrency` processes at a time, each file for at most `timeoutMs`, and at most `endsWithinMs` after its last test;
 * with `name` only the tests whose name contains it. `write` takes each finished piece of the report. Resolves to
 * `{passed, failed, skips, files, times}`, counted in tests; `skips` are the reasons why tests did not run, `times` the
 * seconds of each file, `failedDuring` the last stage of each file that failed. With `stopsAtFailure` a file ends with
 * its first failed test. An aborted `signal` ends the files that run.
 */
export async function runTests({
  folder,
  filters = [],
  name = '',
  tiers = ['fast', 'slow'],
  concurrency = 2,
  timeoutMs,
  endsWithinMs = endingMs,
  limits = testLimits,
  env = process.env,
  write,
  signal,
  stopsAtFailure = false,
}) {
  const paths = testFiles(folder).filter((path) => tiers.includes(tierOf(path)) && matches(path, filters));
  const totals = { passed: 0, failed: 0, skips: [], files: paths.length, times: [], failedDuring: [] };
  const waiting = processesOf(folder, paths);
  const add = (path, run) => {
    const verdict = judge(run, name !== '');
    if (name !== '' && verdict.passed + verdict.failed === 0) return;
    totals.times.push({ path: nameOf(path), seconds: run.seconds });
    totals.passed += verdict.passed;
    totals.failed += verdict.failed;
    if (verdict.failed > 0) totals.failedDuring.push(run.stage);
    totals.skips.push(...verdict.skips.map((reason) => `${path}: ${reason}`));
    write(report(path, run, verdict));
  };
  const work = async () => {
    for (let group = waiting.shift(); group !== undefined && !signal?.aborted; group = waiting.shift()) {
      const { namedAfterMs, killedAfterMs = timeoutMs } = limits[tierOf(group[0])];
      const runs = await runFiles(folder, group, {
        timeoutMs,
        endsWithinMs,
        namedAfterMs,
        killedAfterMs,
        env: { ...env, TEST_NAME: name, TEST_STOPS_AT_FAILURE: stopsAtFailure ? 'true' : '' },
        signal,
        onLong: (path, test) => write(`LONG ${nameOf(path)}: ${test}: runs for ${namedAfterMs / 1000} s now\n`),
      });
      for (const [i, run] of runs.entries()) add(group[i], run);
      if (runs.length < group.length) waiting.unshift(group.slice(runs.length));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return totals;
}

/** The runner's last line, which a CI reads. */
export function lastLine({ passed, failed }) {
  return `${passed} passed, ${failed} failed\n`;
}

/** Files without a folder come first: they start whole nodes, and one that began last would run on alone. */
function testFiles(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(suffix))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length).replace(/^\//, ''))
    .sort((a, b) => Number(a.includes('/')) - Number(b.includes('/')) || (a < b ? -1 : 1));
}

/** Returns the files of each process. Files share one only within a folder directly under the tests. */
function processesOf(folder, paths) {
  const processes = [];
  const filling = new Map();
  const runsAlone = (path) => tierOf(path) === 'slow' || ownProcess.test(readFileSync(join(folder, path), 'utf8'));
  for (const path of paths) {
    const [top] = path.split('/');
    const group = filling.get(top);
    if (runsAlone(path)) processes.push([path]);
    else if (group?.length < filesPerProcess) group.push(path);
    else {
      filling.set(top, [path]);
      processes.push(filling.get(top));
    }
  }
  return processes;
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

/** The path as in the repository. */
function nameOf(path) {
  return path.replace(/\.js$/, '.ts');
}

/** Runs files in one process. Resolves to a run for each file that began; the last of them ended the process. */
function runFiles(folder, paths, { timeoutMs, endsWithinMs, namedAfterMs, killedAfterMs, env, signal, onLong }) {
  return new Promise((resolve, reject) => {
    // A group of its own, so that what a test started ends with it.
    const args = [testProcess, ...paths.map((path) => join(folder, path))];
    const child = spawn(process.execPath, args, {
      detached: true,
      env: { ...env, FORCE_COLOR: '0' },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    });
    const outputs = paths.map(() => '');
    for (const stream of [child.stdout, child.stderr]) {
      let file = 0;
      createInterface({ input: stream }).on('line', (line) => {
        if (line === endOfFile.trim()) file += 1;
        else outputs[file] += `${line}\n`;
      });
    }
    const killGroup = () => {
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch (error) {
        if (error.code !== 'ESRCH') throw error;
      }
    };
    const runs = [];
    let startedAt = performance.now();
    let isOver = false;
    let killedFor = null;
    let timer;
    let stage;
    let waitsFor = null;
    let stageTimers = [];
    const current = () => (waitsFor === null ? stage : `${stage}, which waits for ${waitsFor}`);
    const endStage = () => {
      for (const one of stageTimers) clearTimeout(one);
    };
    const clearTimers = () => {
      clearTimeout(timer);
      endStage();
    };
    const beginStage = (name) => {
      endStage();
      stage = name;
      waitsFor = null;
      stageTimers = [
        setTimeout(() => onLong(paths[runs.length], current()), namedAfterMs),
        setTimeout(() => {
          killedFor = `${current()}: killed at its limit of ${killedAfterMs / 1000} s`;
          killGroup();
        }, killedAfterMs),
      ];
    };
    const limit = (ms, reason) => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        killedFor = isOver ? reason : `${reason} during ${current()}`;
        killGroup();
      }, ms);
    };
    const beginFile = () => {
      startedAt = performance.now();
      isOver = false;
      beginStage('the top of the file');
      limit(timeoutMs, `killed at its limit of ${timeoutMs / 1000} s`);
    };
    const endFile = (ending) => {
      const seconds = (performance.now() - startedAt) / 1000;
      runs.push({ ...ending, killedFor, stage, seconds });
    };
    createInterface({ input: child.stdio[3] }).on('line', (line) => {
      // A process that was killed may leave half a line.
      if (!line.endsWith('}')) return;
      const message = JSON.parse(line);
      if (message.file !== undefined) {
        endFile({ code: 0, killedBy: null });
        beginFile();
      } else if (message.isOver) {
        isOver = true;
        endStage();
        const leftMs = timeoutMs - (performance.now() - startedAt);
        if (endsWithinMs < leftMs) limit(endsWithinMs, `did not end within ${endsWithinMs / 1000} s of its last test`);
      } else if (message.stage === undefined) waitsFor = message.waitsFor;
      else if (!isOver) beginStage(message.stage);
    });
    beginFile();
    signal?.addEventListener('abort', killGroup);
    child.on('error', reject);
    child.on('exit', () => {
      clearTimers();
      signal?.removeEventListener('abort', killGroup);
      killGroup();
      const drain = setTimeout(() => {
        for (const stream of child.stdio) stream?.destroy();
      }, drainMs);
      child.on('close', (code, killedBy) => {
        clearTimeout(drain);
        // A message that was read after the exit may have set them again.
        clearTimers();
        endFile({ code, killedBy });
        resolve(runs.map((run, i) => ({ ...run, output: outputs[i] })));
      });
    });
  });
}

function judge({ code, killedBy, killedFor, stage, output }, isByName) {
  const total = count(output, 'Total');
  const passed = count(output, 'Passed') ?? 0;
  const skipped = count(output, 'Skipped') ?? 0;
  const skips = [...output.matchAll(/^SKIPPED: (.*)$/gm)].map((match) => match[1].trim());
  if (skipped > 0 && !isByName) skips.push(`${skipped} skipped in the file`);

  const faults = [];
  if (killedFor !== null) faults.push(killedFor);
  else if (killedBy !== null) faults.push(`ended by ${killedBy} during ${stage}`);
  else if (total === undefined) faults.push(`exit code ${code} without a summary of uvu, during ${stage}`);
  else if (total === 0 && !isByName) faults.push('no test in this file ran');
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
  const head = `${failed === 0 ? 'ok  ' : 'FAIL'} ${nameOf(path)} (${seconds.toFixed(1)} s): ${passed} passed, ${failed} failed`;
  if (failed === 0) return [head, ...notes.map((note) => `     ${note}`), ''].join('\n');
  return [
    head,
    ...faults.map((fault) => `     ${fault}`),
    withSourcePositions(output.trimEnd()).replace(/^/gm, '   | '),
    '',
  ].join('\n');
}
