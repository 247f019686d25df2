/**
 * Two results of the same scenario beside each other: what changed, and whether by more than the windows differ among
 * themselves. Where more than the node differs, the figures stand without a verdict.
 */
import { at } from './load/latency.js';
import { type Figure, faultsOf, type NamedLatencies, plain, type Result, titleOf } from './result.js';
import { readResult } from './result-file.js';
import { alignColumns } from './tables.js';

export function compareFiles(before: string, after: string): string {
  return compare(readResult(before), readResult(after));
}

export function compare(before: Result, after: Result): string {
  if (before.scenario !== after.scenario) {
    throw new Error(`a result of ${before.scenario} does not compare with one of ${after.scenario}`);
  }
  const obstacles = obstaclesOf(before, after);
  const found = pairs(before.figures, after.figures);
  const otherRates = found
    .filter(({ name, a, b }) => name.endsWith(rateOf) && a?.value !== b?.value)
    .map(({ name }) => name.slice(0, -rateOf.length));
  const figures = found.map(({ name, a, b }) => {
    const isOfOtherRate = otherRates.some((load) => name.startsWith(load));
    const verdict = a && b && obstacles.length === 0 ? (isOfOtherRate ? 'other rate' : verdictOf(a, b)) : '';
    return [name, shown(a?.value), shown(b?.value), (b ?? a)!.unit, changeOf(a?.value, b?.value), verdict];
  });
  const latencies = pairs(before.latencies, after.latencies).flatMap(({ name, a, b }) =>
    percentiles.map((percentile) => {
      const us = (of: NamedLatencies | undefined) => of && at(of, percentile);
      return [`${name}: p${percentile}`, shown(us(a)), shown(us(b)), changeOf(us(a), us(b))];
    }),
  );
  return [
    `before: ${titleOf(before)}`,
    `after:  ${titleOf(after)}`,
    ...(obstacles.length === 0 ? [] : ['', ...obstacles, 'So the figures stand without a verdict.', '']),
    alignColumns([['Figure', 'before', 'after', 'unit', 'change', ''], ...figures]),
    ...(latencies.length === 0 ? [] : ['', alignColumns([['Latency, us', 'before', 'after', 'change'], ...latencies])]),
  ].join('\n');
}

/** Beside the figures of an open loop stands the rate that it was given: at another one they are no better or worse. */
const rateOf = ': rate';

/** Of latencies; how far they differ among the windows is not known, so they get no verdict. */
const percentiles = [50, 99];

/** What must be the same for a change to be one of the node. */
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

/** By name, in the order of `before`, then what only `after` holds. */
function pairs<T extends { readonly name: string }>(before: readonly T[], after: readonly T[]) {
  const names = [...new Set([...before, ...after].map(({ name }) => name))];
  const find = (list: readonly T[], name: string) => list.find((one) => one.name === name);
  return names.map((name) => ({ name, a: find(before, name), b: find(after, name) }));
}

function shown(value: number | undefined): string {
  return value === undefined ? '-' : plain(value);
}

function changeOf(a = Number.NaN, b = Number.NaN): string {
  const change = (b / a - 1) * 100;
  return Number.isFinite(change) ? `${change > 0 ? '+' : ''}${change.toFixed(1)} %` : '';
}

/** Of two against two that mean the same, one pair in three lies apart by chance; of four against four, one in 35. */
const windowsMin = 4;

/** Windows that overlap say nothing; so does a figure measured once, or one without a number. */
function verdictOf(a: Figure, b: Figure): string {
  if (![a.value, b.value, ...a.windows, ...b.windows].every(Number.isFinite)) return 'not measured';
  if (Math.min(a.windows.length, b.windows.length) < windowsMin) return 'few windows';
  const isApart = Math.min(...a.windows) > Math.max(...b.windows) || Math.min(...b.windows) > Math.max(...a.windows);
  if (!isApart) return 'within noise';
  return b.value > a.value === (b.better === 'more') ? 'better' : 'WORSE';
}
