/** The page of a result: what stands first on it, and what its lines join. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { strangersNote } from '../../bench/neighbours.js';
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

/** How many lines and dots the page draws for the course of each server. */
function drawn(courses: Readonly<Record<string, readonly number[]>>): Record<string, [lines: number, dots: number]> {
  const page = resultPage(
    resultOf((report) => {
      for (const [server, places] of Object.entries(courses)) {
        report.course({ name: `reads, ${server}`, chart: 'Throughput, req/s', points: places.map((x) => [x, 1]) });
      }
    }),
  );
  const groups = [...page.matchAll(/<title>reads, (.*?)<\/title>(.*?)<\/g>/g)];
  return Object.fromEntries(
    groups.map(([, server, shapes]) => [
      server,
      [shapes!.match(/M[\d.]+,/g)?.length ?? 0, shapes!.match(/<circle/g)?.length ?? 0],
    ]),
  );
}

test('a line joins no windows between which another server had its turn, however few points they hold', () => {
  // There and back: the second of b's windows follows its first, and the third of a's its second.
  assert.equal(drawn({ a: [0.1, 0.4, 0.5], b: [0.2, 0.3, 0.6] }), { a: [1, 1], b: [1, 1] });
  assert.equal(drawn({ a: [0.1, 0.2, 0.5, 0.6], b: [0.3, 0.4, 0.7, 0.8] }), { a: [2, 0], b: [2, 0] });
});

test('lines whose points have the same x values are complete', () => {
  const places = [0, 1, 2, 3];
  assert.equal(drawn({ a: places, b: places }), { a: [1, 0], b: [1, 0] });
});

test('a course of a day fits on a page', () => {
  const points = Array.from({ length: 200_000 }, (_, s) => [s / 2, s % 7] as const);
  const page = resultPage(resultOf((report) => report.course({ name: 'node', chart: 'stalls, ms', points })));
  assert.match(page, '100 000');
});

test.run();
