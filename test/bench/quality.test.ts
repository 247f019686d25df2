import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { judgeGoals } from '../../bench/quality/goals.js';
import { qualityPage } from '../../bench/quality/page.js';
import { makeRows } from '../../bench/quality/rows.js';
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

test('the page escapes what it shows and loads nothing from elsewhere', async () => {
  const rows = (await makeRows(options)).map((row) => ({ ...row, name: '<b>&"' }));
  const page = qualityPage('a <title>', rows, judgeGoals(rows, size));
  assert.match(page, '&lt;b&gt;&amp;&quot;');
  assert.not.match(page, '<b>');
  assert.not.match(page, /https?:|src=|url\(|<script/);
});

test.run();
