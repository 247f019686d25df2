/** Two results of the same scenario beside each other: what changed, and whether by more than the windows differ among themselves. */
import { readFileSync } from 'node:fs';
import { type Figure, plain, type Result, resultFormat, titleOf } from './result.js';
import { alignColumns } from './text-table.js';

export function compareFiles(before: string, after: string): string {
  return compare(readResult(before), readResult(after));
}

export function readResult(file: string): Result {
  const result = JSON.parse(readFileSync(file, 'utf8')) as Partial<Result>;
  if (result.format !== resultFormat || result.figures === undefined) {
    throw new Error(`${file} is not a result of this bench`);
  }
  return result as Result;
}

export function compare(before: Result, after: Result): string {
  if (before.scenario !== after.scenario) {
    throw new Error(`a result of ${before.scenario} does not compare with one of ${after.scenario}`);
  }
  const names = [...new Set([...before.figures, ...after.figures].map(({ name }) => name))];
  const lines = names.map((name) => {
    const a = before.figures.find((figure) => figure.name === name);
    const b = after.figures.find((figure) => figure.name === name);
    const cells = [name, a === undefined ? '-' : plain(a.value), b === undefined ? '-' : plain(b.value)];
    return [...cells, (b ?? a)!.unit, ...(a && b ? changeOf(a, b) : ['', ''])];
  });
  return [
    `before: ${titleOf(before)}`,
    `after:  ${titleOf(after)}`,
    alignColumns([['Figure', 'before', 'after', 'unit', 'change', ''], ...lines]),
  ].join('\n');
}

/** Windows that overlap say nothing; so does a figure measured once. */
function changeOf(a: Figure, b: Figure): [change: string, verdict: string] {
  const change = a.value === 0 ? Number.NaN : (b.value / a.value - 1) * 100;
  const sign = change > 0 ? '+' : '';
  const text = Number.isNaN(change) ? '' : `${sign}${change.toFixed(1)} %`;
  if (a.windows.length < 2 || b.windows.length < 2) return [text, 'one window'];
  const isApart = Math.min(...a.windows) > Math.max(...b.windows) || Math.min(...b.windows) > Math.max(...a.windows);
  if (!isApart) return [text, 'within noise'];
  return [text, b.value > a.value === (b.better === 'more') ? 'better' : 'WORSE'];
}
