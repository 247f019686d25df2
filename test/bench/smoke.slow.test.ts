/** Every measurement runs, on a small group and for a moment: that it works, never how fast. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { LifeRow } from '../../bench/quality/life/rows.js';
import type { Row } from '../../bench/quality/rows.js';
import type { Result } from '../../bench/result.js';
import { execute, type Ran } from '../support/child-process.js';
import { temporaryFolder } from '../support/process.js';

const bench = fileURLToPath(new URL('../../bench/main.js', import.meta.url));
/** Bounds a hanging test, not a slow one. */
const limitMs = 300_000;

/** Runs the bench; a SIGTERM at the time limit ends what it started. `out` holds its progress, then its output. */
async function run(...args: readonly string[]): Promise<Ran> {
  const ran = await execute(process.execPath, ['--enable-source-maps', bench, ...args], { timeout: limitMs });
  return { ...ran, out: ran.err + ran.out };
}

const dir = temporaryFolder();
// Long enough for a busy machine to answer something in every window.
const briefly = ['--seconds', '0.6', '--players', '500', '--no-pin'];

// These count in minutes.
const inMinutes: Readonly<Record<string, readonly string[]>> = {
  soak: ['--minutes', '0.1', '--players', '500'],
  small: ['--minutes', '0.02', '--players', '500', '--no-pin'],
};

/**
 * A figure of each, the number of its goals, and how many at least are judged: percentiles need more answers than a
 * moment gives, and servers of others may be absent.
 */
const measurements: Readonly<Record<string, readonly [figure: string, goals: number, judged: number]>> = {
  read: ['read, node / bare node:http', 2, 1],
  match: ['scores/s by match calls / single GETs on bare node:http', 1, 1],
  stream: ['a snapshot: CPU', 0, 0],
  client: ['match by cache', 0, 0],
  sidecar: ['memory: rss, empty', 2, 1],
  signing: ['durable events, signed / unsigned', 1, 1],
  ingest: ['durable events, node / bare node:http that stores nothing', 1, 1],
  batch: ['durable events/s, batches / one by one', 1, 1],
  repeats: ['durable events, timestamps of the match / of their own', 1, 1],
  mixed: ['mixed at half load, node', 1, 1],
  memory: ['players: bytes each', 6, 6],
  recover: ['replay', 2, 2],
  snapshot: ['a snapshot', 1, 1],
  recompute: ['a recompute', 4, 3],
  overload: ['batches stored under overload / at capacity', 6, 3],
  neighbour: ['flood of batches: success of the victim beside it', 14, 3],
  peers: ['reads against bare node:http', 8, 1],
  small: ['p99 of a match of 50', 3, 2],
  soak: ['log, live data', 3, 2],
  steps: ['event: parse', 0, 0],
};

/** A figure of one run must not be part of a name: the next run could not be compared with it. */
const measuredRate = /at \d+\/s|\d+ batches/;

for (const [name, [figure, goals, judged]] of Object.entries(measurements)) {
  test(`${name} runs, and its result has the expected figures`, async () => {
    const [json, html] = [join(dir, `${name}.json`), join(dir, `${name}.html`)];
    const { code, out } = await run(name, ...(inMinutes[name] ?? briefly), '--json', json, '--html', html);
    assert.is(code, 0, out);
    const result = JSON.parse(readFileSync(json, 'utf8')) as Result;
    assert.is(result.scenario, name);
    assert.is(result.options.seed, 1);
    assert.ok(result.environment.node.startsWith('v'));
    assert.ok(result.environment.cache_read_ns! > 0);
    const found = result.figures.find((one) => one.name === figure);
    assert.ok(found !== undefined, `${figure} is missing in\n${out}`);
    assert.is(result.goals.length, goals);
    assert.ok(result.goals.filter(({ met }) => met !== null).length >= judged, out);
    assert.not(result.notes.some((note) => note.includes('none is judged')));
    for (const { name } of result.figures) assert.not.match(name, measuredRate);
    const page = readFileSync(html, 'utf8');
    assert.match(page, `<h1>Bench: ${name}</h1>`);
    assert.not.match(page, /https?:\/\/|src=|url\(|<script|NaN|undefined/);
  });
}

test('the file of a log is at least as large as its live data, even if it grew since the last sample', async () => {
  const json = join(dir, 'shorter.json');
  // Samples are 5 s apart.
  const { code, out } = await run('soak', '--minutes', '0.05', '--players', '100', '--json', json);
  assert.is(code, 0, out);
  const { figures } = JSON.parse(readFileSync(json, 'utf8')) as Result;
  const [live, file] = ['log, live data', 'log, file'].map((name) => figures.find((one) => one.name === name)!.value);
  assert.ok(file! >= live!, `${file} MB, ${live} MB live`);
});

const oneGroup = ['--no-data', '--kinds', 'reportonly', '--seeds', '1', '--peers', '4', '--players', '100'];

test('quality runs by the computation alone, and compares groups that only report', async () => {
  for (const [args, figure] of [
    [oneGroup, 'Verdicts, %'],
    [[...oneGroup, '--reports-only'], 'with session_clean'],
  ] as const) {
    const { code, out } = await run('quality', ...args);
    assert.is(code, 0, out);
    assert.match(out, figure);
  }
});

test('quality reads a group that bans through a node, and ends in its conclusion', async () => {
  const [json, html] = [join(dir, 'life.json'), join(dir, 'life.html')];
  const args = ['--no-data', '--kinds', 'mixed_liar1', '--players', '400', '--json', json, '--html', html];
  const { code, out } = await run('quality', ...args);
  assert.is(code, 0, out);
  assert.match(out, /A plain count of three bans .* of 100 bad players\.\n$/);
  const { life } = JSON.parse(readFileSync(json, 'utf8')) as { life: readonly LifeRow[] };
  const { condemned, targets } = life[0]!.judgements[0]!;
  assert.ok(condemned.twoBans.bad > 0 && targets.twoBans.good === 200, out);
  assert.match(readFileSync(html, 'utf8'), 'simulated groups that ban');
});

test('quality reads through HTTP equal those of the computation alone, except for rounding', async () => {
  const json = join(dir, 'quality.json');
  const { code, out } = await run('quality', ...oneGroup, '--http', '--json', json);
  assert.is(code, 0, out);
  const { rows } = JSON.parse(readFileSync(json, 'utf8')) as { rows: readonly Row[] };
  const { scoreDifference, verdictsThatDiffer } = rows[0]!.judgements[0]!.node!;
  // Scores of whom fewer than three witnesses know are whole.
  assert.ok(scoreDifference <= 0.51, `${scoreDifference}`);
  assert.is(verdictsThatDiffer, 0);
});

test('a result compares with itself, not with one of another measurement, and results make a table', async () => {
  const [read, match] = [join(dir, 'read.json'), join(dir, 'match.json')];
  const same = await run('compare', read, read);
  assert.is(same.code, 0, same.out);
  assert.match(same.out, 'read, node / bare node:http');
  assert.is((await run('compare', read, match)).code, 1);
  const table = await run('table', read, match);
  assert.is(table.code, 0, table.out);
  assert.match(table.out, '| GET score against bare node:http, req/s | at least 0.95x, floor 0.85x |');
});

test.run();
