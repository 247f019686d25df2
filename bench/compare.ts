/**
 * Compares two results of one measurement: the change of each figure, and whether it exceeds the spread of the windows.
 * Gives no verdict where more than the node differs.
 */
import { at } from './load/latency.js';
import { type Figure, faultsOf, type NamedLatencies, plain, type Result, readResult, titleOf } from './result.js';
import { alignColumns } from './tables.js';

export function compareFiles(before: string, after: string): string {
  return compare(readResult(before), readResult(after));
}

export function compare(before: Result, after: Result): string {
  if (before.scenario !== after.scenario) {
    throw new Error(`a result of ${before.scenario} cannot be compared with one of ${after.scenario}`);
  }
  const obstacles = obstaclesOf(before, after);
  const found = pairs(before.figures, after.figures);
  const otherRates = found
    .filter(({ name, a, b }) => name.endsWith(rateOf) && a?.value !== b?.value)
    .map(({ name }) => name.slice(0, -rateOf.length));
  const figures = found.map(({ name, a, b }) => {
    const isOfOtherRate = otherRates.some((load) => name.startsWith(load));
    const verdict = a && b && obstacles.length === 0 ? (isOfOtherRate ? 'other rate' : verdictOf(a, b)) : '';
    return [name, formatted(a?.value), formatted(b?.value), (b ?? a)!.unit, changeOf(a?.value, b?.value), verdict];
  });
  const latencies = pairs(before.latencies, after.latencies).flatMap(({ name, a, b }) =>
    percentiles.map((percentile) => {
      const us = (of: NamedLatencies | undefined) => of && at(of, percentile);
      return [`${name}: p${percentile}`, formatted(us(a)), formatted(us(b)), changeOf(us(a), us(b))];
    }),
  );
  return [
    `before: ${titleOf(before)}`,
    `after:  ${titleOf(after)}`,
    ...(obstacles.length === 0 ? [] : ['', ...obstacles, 'For these reasons no figure gets a verdict.', '']),
    alignColumns([['Figure', 'before', 'after', 'unit', 'change', ''], ...figures]),
    ...(latencies.length === 0 ? [] : ['', alignColumns([['Latency, us', 'before', 'after', 'change'], ...latencies])]),
  ].join('\n');
}

/** Suffix of the row that gives the rate of an open loop. Its figures are comparable only at the same rate. */
const rateOf = ': rate';

/**
 * Percentiles of latencies in the comparison. They get no verdict, because their spread among the windows is unknown.
 */
const percentiles = [50, 99];

/** Properties that must be equal for a change to be attributed to the node. */
const place = ['node', 'system', 'cpu', 'cores', 'pinning'] as const;

function obstaclesOf(before: Result, after: Result): string[] {
  const options = [...new Set([...Object.keys(before.options), ...Object.keys(after.options)])];
  const differences = [
    ...options.map((name) => [name, before.options[name], after.options[name]] as const),
    ...place.map((name) => [name, before.environment[name], after.environment[name]] as const),
  ].filter(([, a, b]) => a !== b);
  return [
    ...differences.map(([name, a, b]) => `DIFFERENT: ${name} ${String(a ?? '-')} before, ${String(b ?? '-')} after`),
    ...faultsOf(before).map((fault) => `before: ${fault}`),
    ...faultsOf(after).map((fault) => `after: ${fault}`),
  ];
}

/** Pairs the entries by name: those of `before` in their order, then those that only `after` has. */
function pairs<T extends { readonly name: string }>(before: readonly T[], after: readonly T[]) {
  const names = [...new Set([...before, ...after].map(({ name }) => name))];
  const find = (list: readonly T[], name: string) => list.find((one) => one.name === name);
  return names.map((name) => ({ name, a: find(before, name), b: find(after, name) }));
}

function formatted(value: number | undefined): string {
  return value === undefined ? '-' : plain(value);
}

function changeOf(a = Number.NaN, b = Number.NaN): string {
  const change = (b / a - 1) * 100;
  return Number.isFinite(change) ? `${change > 0 ? '+' : ''}${change.toFixed(1)} %` : '';
}

/** With two windows on each side, one pair in three of equal servers differs by chance; with four, one in 35. */
const windowsMin = 4;

/** Overlapping windows allow no verdict; nor does a figure that was measured once or is not a number. */
function verdictOf(a: Figure, b: Figure): string {
  if (![a.value, b.value, ...a.windows, ...b.windows].every(Number.isFinite)) return 'not measured';
  if (Math.min(a.windows.length, b.windows.length) < windowsMin) return 'few windows';
  const isApart = Math.min(...a.windows) > Math.max(...b.windows) || Math.min(...b.windows) > Math.max(...a.windows);
  if (!isApart) return 'within noise';
  return b.value > a.value === (b.better === 'more') ? 'better' : 'WORSE';
}
