import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { judgePopulations, type Population } from '../../bench/quality/goals.js';
import { type Judgement, judge } from '../../bench/quality/judgement.js';
import { type FiguresByMethod, hitShares, methodLabels, methodNames } from '../../bench/quality/methods.js';
import { qualityPage } from '../../bench/quality/page.js';
import { makeReportsOnlyRows, makeRows, type Row } from '../../bench/quality/rows.js';
import { isReportOnly, type KindName, kindsOf, simulate } from '../../bench/quality/simulator.js';
import { summarise } from '../../bench/quality/summary.js';
import { printComparison } from '../../bench/quality/tables.js';
import { temporaryFolder } from '../support/process.js';

const options = {
  data: [],
  kinds: ['none', 'collude2', 'reportonly'],
  seed: 1,
  seeds: 2,
  size: { peers: 10, players: 300 },
  injected: false,
  http: false,
} as const;

const rows = await makeRows(options);
const page = qualityPage('a title', rows, judgePopulations(rows, options));

test('the same seed gives the same rows', async () => assert.equal(await makeRows(options), rows));

test('a folder without a data set is refused by its name', async () => {
  const data = temporaryFolder();
  const refusal = await makeRows({ ...options, data: [data] }).then(
    () => 'none',
    (error: Error) => error.message,
  );
  assert.is(refusal, `${data} has no data set: no file is named NAME.obs.csv.gz`);
});

test('every group yields one turn to the event loop, in which a signal is received', async () => {
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns++;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  await makeRows(options);
  isDone = true;
  const groups = rows.reduce((sum, { judgements }) => sum + judgements.length, 0);
  assert.ok(turns >= groups, `${turns} turns in ${groups} groups`);
});

test('the verdict suspicious or worse is the threshold that other methods are held to', async () => {
  const set = simulate('none', 3, { peers: 10, players: 2000 });
  const { methods, verdicts } = await judge(set, { http: false, damage: false });
  const { caught, bad } = verdicts.suspicious;
  assert.ok(caught > 0);
  assert.is(methods.score.caughtAsVerdict, caught / bad);
  // The oracle that hits as many good players catches some bad ones, and not all.
  assert.ok(methods.oracle.caughtAsVerdict > 0.05 && methods.oracle.caughtAsVerdict < 1);
});

test('an attempt is held against the same group without its attackers', async () => {
  const [row] = await makeRows({ ...options, kinds: ['latejoiner1'], seeds: 1 });
  const { damage } = row!.judgements[0]!;
  assert.ok(damage !== null && damage.targets > 0);
  assert.is(rows.find(({ kind }) => kind === 'none')!.judgements[0]!.damage, null);
});

/** A judgement in which every figure of every method is `value`, and so is every share of players with a verdict. */
function judgementOf(value: number): Judgement {
  const one = {
    ...{
      auc: value,
      accuracy: value,
      brier: value,
      targetError: value,
      caughtAsVerdict: value,
      caughtAtFewHits: value,
    },
    caughtAt: hitShares.map(() => value),
  };
  const count = { caught: 1000 * value, bad: 1000, hit: 1000 * (1 - value), good: 1000 };
  return {
    methods: Object.fromEntries(methodNames.map((method) => [method, one])) as unknown as FiguresByMethod,
    verdicts: { untrusted: count, suspicious: count },
    victims: count,
    calibration: Array.from({ length: 10 }, (_, i) => ({ players: 1, bad: 0, predicted: i / 10 })),
    promises: { lowered: 4, raised: 5, leftNeutral: 0, lowestOfMany: 40, manyLeftNeutral: 0 },
    damage: null,
    node: null,
  };
}

function rowsOf(names: readonly KindName[], value: number): Row[] {
  const judgement = judgementOf(value);
  return names.map((name) => ({
    origin: 'simulated',
    name,
    family: isReportOnly(name) ? 'report-only' : 'both-sided',
    kind: name,
    judgements: [judgement],
    methods: judgement.methods,
  }));
}

const allKinds = kindsOf(['basic', 'new']);

/** Goals of the design, which are about groups of 12 peers and 4,000 players. */
const designSize = { seed: 5, seeds: 1, size: { peers: 12, players: 4000 } };

const goalsFor = (rows: readonly Row[], run = designSize) => judgePopulations(rows, run)[0]!.goals;

test('every goal is judged where every kind is there, but that of real sets', () => {
  const goals = goalsFor(rowsOf(allKinds, 0.999));
  const others = goals.filter(({ met }) => met !== true).map(({ figure }) => figure);
  assert.equal(others, ['real sets: AUC, mean / worst']);
  assert.is(goals.length, 13);
});

test('a figure below its goal is missed, and one that only some of its kinds have is not judged', () => {
  const metOf = (names: readonly KindName[]) =>
    goalsFor(rowsOf(names, 0.5))
      .slice(0, 10)
      .map(({ met }) => met);
  assert.equal(metOf(allKinds), [false, false, true, false, true, false, true, false, false, false]);
  assert.equal(metOf(['none', 'reportonly']), Array(10).fill(null));
});

test('a mean or worst case is judged only on groups for which its goal was stated', () => {
  const usual = { peers: 10, players: 2000 };
  for (const [run, judged] of [
    [designSize, 12],
    [{ seed: 1, seeds: 3, size: usual }, 12],
    [{ seed: 1, seeds: 20, size: usual }, 12],
    [{ seed: 2, seeds: 3, size: usual }, 4],
    [{ seed: 1, seeds: 3, size: { peers: 10, players: 300 } }, 4],
  ] as const) {
    const goals = goalsFor(rowsOf(allKinds, 0.5), run);
    assert.is(goals.filter(({ met }) => met !== null).length, judged, JSON.stringify(run));
  }
});

test('the figures of the second version on the same groups are goals that it reaches', () => {
  const run = { seed: 1, seeds: 20, size: { peers: 10, players: 2000 } };
  const [{ reference, goals }] = judgePopulations(rowsOf(allKinds, 0.5), run) as [Population];
  const precise = goals.find(({ figure }) => figure.startsWith('both-sided: untrusted precise'))!;
  assert.equal([reference, precise.reference, precise.goal], ['second version', '98 / 87', '97.7 / 86.7']);
});

test('attempts and kinds besides count for no goal of verdicts', () => {
  for (const goal of goalsFor(rowsOf(kindsOf(['more', 'attempts']), 0.5))) {
    if (goal.figure.startsWith('one event') || goal.figure.startsWith('a thousand')) continue;
    assert.equal([goal.reached, goal.met], [null, null], goal.figure);
  }
});

test('a promise is printed beside its bound, and broken by a little more than it', () => {
  const [row] = rowsOf(['none'], 0.5);
  const goalWith = (lowered: number) => {
    const judgement = { ...row!.judgements[0]!, promises: { ...row!.judgements[0]!.promises!, lowered } };
    return goalsFor([{ ...row!, judgements: [judgement] }]).find(({ figure }) => figure.startsWith('one event'))!;
  };
  assert.equal([goalWith(4).met, goalWith(4).reached], [true, '5.00 / 0']);
  assert.equal([goalWith(5.01).met, goalWith(5.01).goal], [false, 'at most 5 / at most 0']);
});

test('data files and simulated groups are judged apart, and an injected attack with neither', () => {
  const [row] = rowsOf(['none'], 0.5);
  const rows = [row!, { ...row!, origin: 'attack file' }, { ...row!, origin: 'injected' }] as const;
  const populations = judgePopulations(rows, designSize).map(({ name }) => name);
  assert.equal(populations, ['data files', 'simulated groups']);
  assert.equal(judgePopulations([rows[2]], designSize), []);
});

test('a summary counts the worst precision of untrusted only among groups with twenty of them', () => {
  const withUntrusted = (caught: number, hit: number): Judgement => {
    const judgement = judgementOf(0.5);
    return { ...judgement, verdicts: { ...judgement.verdicts, untrusted: { caught, bad: 100, hit, good: 100 } } };
  };
  const groups = [withUntrusted(19, 1), withUntrusted(0, 1), withUntrusted(30, 0)];
  const { untrustedPrecise, untrustedPreciseWorst } = summarise(groups);
  assert.equal([untrustedPrecise, untrustedPreciseWorst], [49 / 51, 19 / 20]);
});

test('session_clean is judged on the players that the report-only group knows', async () => {
  const [pair, ...others] = await makeReportsOnlyRows(options);
  assert.is(others.length, 0);
  const playersOf = ({ judgements }: Row) =>
    judgements.map(({ verdicts }) => [verdicts.untrusted.bad, verdicts.untrusted.good]);
  assert.equal(playersOf(pair!.with), playersOf(pair!.without));
  assert.ok(pair!.with.methods.score.auc > pair!.without.methods.score.auc);
  assert.match(printComparison([pair!]), /reportonly\+session_clean x2/);
});

test('a method has one colour in all plots of the page, and no other method has it', () => {
  const keys = [...page.matchAll(/stroke="(#\w+|currentColor)" stroke-width="3"\/><\/svg> ([^<]*)/g)];
  const colours = Object.values(methodLabels).map((label) => {
    const found = new Set(keys.filter(([, , name]) => name === label).map(([, colour]) => colour));
    assert.is(found.size, 1, `${label}: ${[...found]}`);
    return [...found][0];
  });
  assert.is(new Set(colours).size, methodNames.length);
});

test('the page plots calibration, and the catch against the hit for each family', () => {
  const plots = [...page.matchAll(/(<div class="wide">)?<svg[^>]* role="img"( aria-label="([^"]*)")?>/g)];
  const catches = 'share of bad players caught by share of good players hit';
  const titles = plots.map(([, , , about]) => about!.split(':')[0]);
  assert.equal(titles, ['actual share of bad players by predicted P(bad)', catches, catches]);
  assert.ok(plots.every(([, wide]) => wide === '<div class="wide">'));
});

test('the page escapes its contents and loads nothing from other servers', () => {
  const named = rows.map((row) => ({ ...row, name: '<b>&"' }));
  const escaped = qualityPage('a <title>', named, judgePopulations(named, options));
  assert.match(escaped, '&lt;b&gt;&amp;&quot;');
  assert.not.match(escaped, '<b>');
  assert.not.match(escaped, /https?:|src=|url\(|<script/);
});

test.run();
