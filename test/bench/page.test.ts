/** The page of a result: what stands first on it, and how much fits on it. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { strangersNote } from '../../bench/machine.js';
import { resultPage } from '../../bench/page.js';
import { Report } from '../../bench/report.js';
import type { Result } from '../../bench/result.js';

function resultOf(fill: (report: Report) => void): Result {
  const report = new Report('read', { seed: 1 });
  fill(report);
  return report.result();
}

test('the note about a shared machine is printed once, before the figures that it makes invalid', () => {
  const result = resultOf((report) => {
    report.goal('reads', 2, 'at least', 1, 'x');
    report.note('a remark');
  });
  const page = resultPage({ ...result, notes: [strangersNote(200)!, 'a remark'] });
  const at = page.indexOf('<p class="missed">NOT ITS OWN MACHINE');
  assert.ok(at > 0 && at < page.indexOf('<h2>'), page);
  assert.is(page.split('NOT ITS OWN MACHINE').length, 2);
  assert.ok(page.indexOf('a remark') > page.indexOf('<h2>'));
});

test('a course of a day fits on a page', () => {
  const points = Array.from({ length: 200_000 }, (_, s) => [s / 2, s % 7] as const);
  const page = resultPage(resultOf((report) => report.course({ name: 'node', chart: 'stalls, ms', points })));
  assert.match(page, '100 000');
});

test.run();
