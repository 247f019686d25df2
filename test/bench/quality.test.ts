import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { judgeGoals } from '../../bench/quality/goals.js';
import { type MeasuresByMethod, methodNames } from '../../bench/quality/methods.js';
import { qualityPage } from '../../bench/quality/page.js';
import { makeRows, type Row } from '../../bench/quality/rows.js';
import { type KindName, kindNames } from '../../bench/quality/simulator.js';
import { printTables } from '../../bench/quality/tables.js';

const size = { peers: 10, players: 300 };
const options = { kinds: ['none', 'collude2'], seed: 1, seeds: 2, size, injected: false } as const;

async function tables(): Promise<string> {
  const rows = await makeRows(options);
  return printTables(rows, judgeGoals(rows, size));
}

test('the same seed gives the same table', async () => {
  assert.is(await tables(), await tables());
});

test('a folder without a data set is refused by its name', async () => {
  const data = mkdtempSync(join(tmpdir(), 'ptf-no-sets-'));
  try {
    const refusal = await makeRows({ ...options, data }).then(
      () => 'none',
      (error: Error) => error.message,
    );
    assert.is(refusal, `${data} holds no data set: no file is named NAME.obs.csv.gz`);
  } finally {
    rmSync(data, { recursive: true });
  }
});

test('every group leaves the event loop a turn, in which a signal is heard', async () => {
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns++;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  const rows = await makeRows(options);
  isDone = true;
  const groups = rows.reduce((sum, row) => sum + row.groups, 0);
  assert.ok(turns >= groups, `${turns} turns in ${groups} groups`);
});

test('a goal whose figure was not measured is neither met nor missed', async () => {
  const goals = judgeGoals(await makeRows(options), size);
  const real = goals.find(({ figure }) => figure === 'mean AUC, real sets')!;
  assert.equal([real.reached, real.met, real.classic], [null, null, null]);
});

/** A row of each of these kinds, in which every measure of every method is `value`. */
function rowsOf(names: readonly KindName[], value: number): Row[] {
  const one = { auc: value, accuracy: value, brier: value, targetError: value, targetsWrong: value };
  const methods = Object.fromEntries(methodNames.map((method) => [method, one])) as unknown as MeasuresByMethod;
  return names.map((name) => {
    const reportOnly = name.startsWith('reportonly');
    return { origin: 'simulated', name, base: null, reportOnly, groups: 1, methods };
  });
}

test('a figure over all attacks is shown where all of them were simulated, and not over some', () => {
  const reachedOf = (names: readonly KindName[]) =>
    judgeGoals(rowsOf(names, 0.95), size)
      .filter(({ figure }) => /simulated (?:attacks|groups)/.test(figure))
      .map(({ reached }) => reached);
  assert.equal(reachedOf(kindNames), ['95.00', '95.00', '0.950', '0.950', '95.00']);
  assert.equal(reachedOf(['none', 'collude2', 'reportonly']), [null, null, null, null, null]);
  assert.equal(reachedOf(['reportonly', 'reportonly_flood1']), [null, null, null, null, '95.00']);
});

test('simulated groups miss no goal that was set on other data', () => {
  const goals = judgeGoals(rowsOf(kindNames, 0.1), size).filter(({ figure }) =>
    /simulated (?:attacks|groups)/.test(figure),
  );
  assert.is(goals.length, 5);
  assert.ok(goals.every(({ met, reached }) => met === null && reached !== null));
  assert.not.match(printTables([], goals), /MISSED/);
});

test('a goal whose figure is no number is not measured', () => {
  for (const goal of judgeGoals(rowsOf(kindNames, Number.NaN), size)) {
    assert.equal([goal.reached, goal.met, goal.classic], [null, null, null], goal.figure);
  }
});

test('no two methods have the same colour on the page, and this service has shapes that no other has', () => {
  const page = qualityPage('a title', [], []);
  const keys = [...page.matchAll(/<span class="key"><svg[^>]*>(.*?)<\/svg>/g)].map(([, mark]) => mark!);
  assert.is(keys.length, methodNames.length);
  const colourOf = (mark: string) => /(?:fill|stroke)="(#\w+|currentColor)"/.exec(mark)?.[1];
  const shapeOf = (mark: string) => /<circle|d="M6,6([^"]*)"/.exec(mark)?.slice(0, 2).join();
  assert.is(new Set(keys.map(colourOf)).size, methodNames.length);
  const [score, pBad, reference, ...others] = keys.map(shapeOf);
  assert.is.not(score, pBad);
  assert.is.not(pBad, reference);
  for (const shape of others.slice(0, -1)) assert.not([score, pBad, reference].includes(shape));
});

test('a plot that is wider than the screen is moved by itself, and says what it is of', async () => {
  const rows = await makeRows(options);
  const page = qualityPage('a title', rows, judgeGoals(rows, size));
  const plots = [...page.matchAll(/(<div class="wide">)?<svg[^>]* role="img"( aria-label="([^"]*)")?>/g)];
  assert.equal(
    plots.map(([, wide, , about]) => [wide, about]),
    ['AUC, %', 'Accuracy, %', 'Brier score', 'Mean error on the targets'].map((title) => ['<div class="wide">', title]),
  );
});

test('the page escapes what it shows and loads nothing from elsewhere', async () => {
  const rows = (await makeRows(options)).map((row) => ({ ...row, name: '<b>&"' }));
  const page = qualityPage('a <title>', rows, judgeGoals(rows, size));
  assert.match(page, '&lt;b&gt;&amp;&quot;');
  assert.not.match(page, '<b>');
  assert.not.match(page, /https?:|src=|url\(|<script/);
});

test.run();
