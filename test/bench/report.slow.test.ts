import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { compare } from '../../bench/compare.js';
import { decades, lineChart, ticksTo } from '../../bench/line-chart.js';
import { environment, strangersNote } from '../../bench/machine.js';
import { resultPage } from '../../bench/page.js';
import { Report } from '../../bench/report.js';
import { goalsTable, meetsGoals, plain, type Result, readResult, resultText } from '../../bench/result.js';
import { temporaryFolder } from '../support/process.js';

function resultOf(fill: (report: Report) => void): Result {
  const report = new Report('read', { seed: 1, rate: null });
  fill(report);
  const result = report.result();
  // These tests are of a machine of their own, wherever they run.
  return { ...result, notes: result.notes.filter((note) => !note.startsWith('NOT ITS OWN MACHINE')) };
}

/** Reads a result from a file with this text. */
function readWritten(text: string): Result {
  const file = join(temporaryFolder(), 'written.json');
  writeFileSync(file, text);
  return readResult(file);
}

const [low, high] = [
  [1, 2, 1, 2],
  [3, 4, 3, 4],
];

test('a figure is the median of its windows, and shows their range', () => {
  const result = resultOf((report) => report.figure('reads', 'req/s', 'more', [10, 30, 20, 50]));
  assert.is(result.figures[0]!.value, 25);
  assert.match(resultText(result), /reads +25 +req\/s +10 to 50/);
});

test('a goal is met, missed or not measured', () => {
  const cases = [
    [0.95, 'at least', 0.95, 'x', undefined, 'at least 0.95x', '0.95x', true],
    [11, 'at most', 10, ' ms', undefined, 'at most 10 ms', '11 ms', false],
    [null, 'at least', 1, 'x', undefined, 'at least 1x', null, null],
    [Number.NaN, 'at most', 1, 'x', undefined, 'at most 1x', null, null],
    [Number.POSITIVE_INFINITY, 'at least', 3, 'x', undefined, 'at least 3x', null, null],
    [13, 'at least', 12, 'x', 14, 'at least 12x, floor 14x', '13x, misses the floor', true],
    [1.4, 'at most', 1.2, 'x', 1.5, 'at most 1.2x, floor 1.5x', '1.4x', false],
  ] as const;
  const { goals } = resultOf((report) => {
    for (const [value, sense, bound, unit, floor] of cases) report.goal('a', value, sense, bound, unit, floor);
  });
  const expected = cases.map(([, , , , , goal, reached, met]) => ({ figure: 'a', goal, reached, met }));
  assert.equal(goals, expected);
});

test('a ratio to a server that answered nothing is in no figure', () => {
  const { figures } = resultOf((report) => {
    report.figure('some', 'x', 'more', [2, Number.POSITIVE_INFINITY, Number.NaN, 4]);
    report.figure('none', 'x', 'more', [Number.POSITIVE_INFINITY]);
  });
  const [some, none] = figures;
  assert.equal([some!.value, some!.windows], [3, [2, 4]]);
  assert.equal([none!.value, none!.windows], [Number.NaN, []]);
});

test('a load that the caller chose is judged by no goal, but by every rule', () => {
  for (const option of ['rate', 'connections']) {
    const report = new Report('test', { [option]: 10 });
    report.goal('a', 2, 'at least', 1, 'x');
    report.rule('b', 2, 'at least', 1, 'x');
    const { goals, notes } = report.result();
    const [goal, rule] = goals;
    assert.equal([goal!.met, rule!.met], [null, true]);
    assert.ok(notes.some((note) => note.includes(`--${option}`)));
  }
});

test('goals are met where each was measured and is met', () => {
  const areMet = (...values: readonly (number | null)[]) => {
    const result = resultOf((report) => {
      for (const value of values) report.goal('a', value, 'at most', 1, 'x');
    });
    return meetsGoals(result);
  };
  assert.equal([areMet(1, 0.5), areMet(1, 2), areMet(null, 1)], [true, false, false]);
});

test('a comparison judges only windows that lie apart', () => {
  const figures = (...values: readonly (readonly number[])[]) =>
    resultOf((report) => {
      report.figure('rate', 'req/s', 'more', values[0]!);
      report.figure('cpu', 'us', 'less', values[1]!);
      report.figure('noisy', 'us', 'less', values[2]!);
    });
  const text = compare(figures(low, low, [1, 5, 1, 5]), figures(high, high, [4, 6, 4, 6]));
  assert.match(text, /rate .*\+133\.3 % +better/);
  assert.match(text, /cpu .*\+133\.3 % +WORSE/);
  assert.match(text, /noisy .*within noise/);
  const few = compare(figures([1, 2, 1], [1], [1, 2]), figures([3, 4, 3, 4], [3, 4], [4, 6]));
  for (const name of ['rate', 'cpu', 'noisy']) assert.match(few, new RegExp(`${name} .*few windows`));
});

test('results of different options or machines, or with an error, get a reason instead of a verdict', () => {
  const fast = resultOf((report) => report.figure('rate', 'req/s', 'more', high));
  const slow = resultOf((report) => report.figure('rate', 'req/s', 'more', low));
  const { options, environment: here } = fast;
  assert.match(compare(slow, fast), /rate .*better/);
  for (const [change, why] of [
    [{ options: { ...options, rate: 100 } }, /DIFFERENT: rate - before, 100 after/],
    [{ environment: { ...here, node: 'v0' } }, /DIFFERENT: node v\S+ before, v0 after/],
    [{ environment: { ...here, pinning: 'x' } }, /DIFFERENT: pinning .* before, x after/],
    [{ notes: ['FAULT: nothing was stored'] }, /after: FAULT: nothing was stored/],
    [{ notes: [strangersNote(101)!] }, /after: NOT ITS OWN MACHINE/],
  ] as const) {
    const text = compare(slow, { ...fast, ...change });
    assert.match(text, why);
    assert.ok(text.search(why) < text.indexOf('Figure'), text);
    assert.not.match(text, /better|WORSE|noise/);
    assert.match(text, /rate .*\+133\.3 %/);
  }
});

test('an open loop at another rate gets no verdict, since the rate is an input', () => {
  const result = (rate: number, reads: readonly number[]) =>
    resultOf((report) => {
      report.figure('read, node', 'req/s', 'more', reads);
      report.figure('read at half load: rate', 'req/s', 'more', rate);
      report.figure('read at half load, node', 'req/s', 'more', reads);
      report.figure('p99 at half load, node / bare node:http', 'x', 'less', reads);
    });
  const text = compare(result(1, low), result(2, high));
  assert.match(text, /read, node .*better/);
  assert.match(text, /p99 at half load, node .*WORSE/);
  assert.match(text, /read at half load, node .*\+133\.3 % +other rate/);
  assert.match(compare(result(1, low), result(1, high)), /read at half load, node .*better/);
});

test('a comparison holds the percentiles of latencies, without a verdict', () => {
  const result = (us: number) =>
    resultOf((report) => {
      const percentiles = [50, 99].map((percentile) => [percentile, percentile * us] as const);
      report.latencies('read, node', { count: 100, meanUs: us, maxUs: us, percentiles });
    });
  const text = compare(result(1), result(2));
  assert.match(text, /read, node: p50 +50 +100 +\+100\.0 %$/m);
  assert.match(text, /read, node: p99 +99 +198 +\+100\.0 %$/m);
});

test('an invalid number is null in a file, and no change in a comparison', () => {
  const result = resultOf((report) => {
    report.figure('once', 'x', 'more', Number.POSITIVE_INFINITY);
    report.figure('window by window', 'x', 'more', [Number.POSITIVE_INFINITY, Number.NaN]);
  });
  const read = readWritten(JSON.stringify(result));
  for (const text of [compare(result, result), compare(read, read)]) {
    assert.not.match(text, /Infinity|NaN|noise|%(?! of)/);
    assert.match(text, /once +- +- +x +not measured/);
    assert.match(text, /window by window +- +- +x +not measured/);
  }
  assert.match(resultText(read), /window by window +- +x *$/m);
});

test('a document that is not a result is refused with its name and the expected format', () => {
  for (const [text, why] of [
    ['# Bench', 'is not JSON: expected a result'],
    ['null', 'expected an object'],
    ['[]', 'expected an object'],
    ['{"format":2}', 'expected format 1'],
    ['{"environment":{},"goals":[],"rows":[]}', 'a result of quality'],
  ] as const) {
    assert.throws(() => readWritten(text), new RegExp(`written\\.json .*${why}`), text);
  }
  assert.throws(() => readResult('/nowhere/result.json'), /\/nowhere\/result.json cannot be read/);
});

test('a fault or a shared machine is stated once, before the figures, and is the verdict on each goal', () => {
  const result = resultOf((report) => {
    report.figure('reads <i>', 'req/s', 'more', 1);
    report.course({ name: '"q"', chart: '<u>', points: [0, 1].map((s) => [s, s] as const) });
    report.goal('latency', 0.5, 'at most', 1, ' ms');
    report.note('a remark');
    report.fault('nothing <b> was stored');
  });
  // Set by the fault; this process does not fail for it.
  process.exitCode = 0;
  const shared: Result = { ...result, notes: ['a remark', strangersNote(101)!] };
  for (const [mark, faulty, onPage] of [
    ['FAULT', result, 'FAULT: nothing &lt;b&gt; was stored</p>'],
    ['NOT ITS OWN MACHINE', shared, 'NOT ITS OWN MACHINE: '],
  ] as const) {
    for (const [text, figures] of [
      [resultText(faulty), 'Figure'],
      [resultPage(faulty), '<h2>'],
    ] as const) {
      assert.ok(text.indexOf(mark) < text.indexOf(figures) && text.indexOf('a remark') > text.indexOf(figures), text);
      assert.is(text.split(mark).length, 2);
    }
    assert.not.match(resultPage(faulty), /<b>|<i>|<u>/);
    assert.match(resultPage(faulty), `<p class="missed">${onPage}`);
    const table = goalsTable([readWritten(JSON.stringify(faulty))]);
    assert.match(table, `| latency | at most 1 ms | 0.5 ms | ${mark} |`);
  }
});

test('the commit is that of this project, wherever the bench is run from', () => {
  const { commit } = environment();
  const folder = process.cwd();
  try {
    process.chdir(tmpdir());
    assert.is(environment().commit, commit);
  } finally {
    process.chdir(folder);
  }
});

test('numbers have three digits, and whole numbers are grouped', () => {
  const printed = [81_353.4, 100.4, 13.84, 0.012345, 0, Number.NaN].map(plain);
  assert.equal(printed, ['81 353', '100', '13.8', '0.0123', '0', '-']);
});

test('ticks are round and reach the greatest value', () => {
  assert.equal(ticksTo(83), [0, 20, 40, 60, 80, 100]);
  assert.equal(ticksTo(0), [0, 1]);
  assert.equal(decades([12, 900]), [10, 100, 1000]);
});

/** How many lines and dots are drawn through points at these places. */
function drawn(...places: readonly number[]): [lines: number, dots: number] {
  const axis = { label: '', ticks: [0, 10], print: String };
  const chart = lineChart([{ name: 'a', points: places.map((x) => [x, 1] as const) }], axis, axis);
  return [chart.match(/M[\d.]+,[\d.]+L/g)?.length ?? 0, chart.match(/<circle/g)?.length ?? 0];
}

test('a line breaks where a point is no number, and a lone point is a dot', () => {
  const gap = Number.NaN;
  assert.equal(drawn(0, 1, gap, 5, 6), [2, 0]);
  assert.equal(drawn(0, 5, 10), [1, 0]);
  assert.equal(drawn(0, 0.1, 0.2, gap, 5, gap, 9, 9.1, 9.2, gap), [2, 1]);
  assert.equal(drawn(3), [0, 1]);
});

test('a course that is looked at every few seconds is one line, and one of a day fits on a page', () => {
  const pageOf = (points: readonly (readonly [number, number])[]) =>
    resultPage(resultOf((report) => report.course({ name: 'resident', chart: 'memory, MB', points })));
  assert.match(pageOf([0, 5, 10, 15.2].map((s) => [s, 1])), /d="M[\d.]+,[\d.]+(L[\d.]+,[\d.]+){3}"/);
  assert.match(pageOf(Array.from({ length: 200_000 }, (_, s) => [s / 2, s % 7])), '100 000');
});

test('each measurement has its own chart, and each server one colour on the whole page', () => {
  const points = [0, 1].map((s) => [s, 1] as const);
  const percentiles = [50, 99].map((percentile) => [percentile, percentile] as const);
  const latencies = { count: 100, meanUs: 1, maxUs: 1, percentiles };
  const page = resultPage(
    resultOf((report) => {
      for (const server of ['node', 'node, all Koa', 'bare node:http']) report.latencies(`reads, ${server}`, latencies);
      for (const server of ['bare node:http', 'node, all Koa']) {
        report.latencies(`mixed, ${server}: score`, latencies);
        report.course({ name: `events at 1 connection, ${server}`, chart: 'Throughput, req/s', points });
      }
      for (const name of ['resident', 'heap']) report.course({ name, chart: 'memory, MB', points });
    }),
  );
  const charts = [...page.matchAll(/role="img".*?<\/p>/gs)].map(([chart]) => {
    const keys = chart.matchAll(/stroke="([^"]+)" stroke-width="3"\/><\/svg> ([^<]+)</g);
    return Object.fromEntries(Array.from(keys, ([, colour, name]) => [name!, colour!]));
  });
  const [node, koa, bare] = ['#0072b2', '#d55e00', '#009e73'];
  assert.equal(charts, [
    { 'reads, node': node, 'reads, node, all Koa': koa, 'reads, bare node:http': bare },
    { 'mixed, bare node:http: score': bare, 'mixed, node, all Koa: score': koa },
    { 'events at 1 connection, bare node:http': bare, 'events at 1 connection, node, all Koa': koa },
    { resident: node, heap: koa },
  ]);
  const titles = Array.from(page.matchAll(/<h3>(.*?)<\/h3>/g), ([, title]) => title);
  assert.equal(titles, ['reads', 'mixed: score', 'events at 1 connection']);
});

test('the axis of percentiles ends with the data', () => {
  const percentiles = [1, 50, 90, 95].map((percentile) => [percentile, percentile] as const);
  const page = resultPage(
    resultOf((report) => report.latencies('reads', { count: 20, meanUs: 50, maxUs: 95, percentiles })),
  );
  const chart = page.slice(page.indexOf('<svg'), page.indexOf('</svg>'));
  assert.match(chart, '>p90<');
  assert.not.match(chart, '>p99<');
  // The chart's right border.
  assert.match(chart, /L906\.0,[\d.]+"/);
});

test.run();
