/** Numbers, times and names as the page displays them. */
import { type Test, test as uvuTest } from 'uvu';
import * as assert from 'uvu/assert';
import * as format from '../../../../src/operator/dashboard/page/format.js';

const test: Test = uvuTest;

test('numbers are shortened by their size, at the same bounds everywhere', () => {
  const all = (of: (value: number) => string, ...values: readonly number[]) => values.map(of).join(' | ');
  assert.is(all(format.compact, 0.6, 12_345, 99_999, 100_000, 1_234_567), '1 | 12,345 | 99,999 | 100K | 1.2M');
  assert.is(all(format.rate, 0, 0.04, 9.94, 10, 1_234), '0 | 0.0 | 9.9 | 10 | 1,234');
  assert.is(
    all(format.milliseconds, 0, 0.42, 1, 9.94, 10, 999, 1_000, 1_340),
    '0 ms | 0.42 ms | 1.0 ms | 9.9 ms | 10 ms | 999 ms | 1.0 s | 1.3 s',
  );
  assert.is(
    all(format.bytes, 0, 999, 1_000, 9_900, 10_000, 1_200_000_000, 5e15),
    '0 B | 999 B | 1.0 kB | 9.9 kB | 10 kB | 1.2 GB | 5000 TB',
  );
  assert.is(
    all((part) => format.percent(part, 1_000), 0, 0.9, 1, 99, 100, 1_000),
    '0.0% | <0.1% | 0.1% | 9.9% | 10% | 100%',
  );
  assert.is(format.percent(1, 0), '0%');
  assert.is(all(format.halfLife, 0, 1, 1_000), 'off | 1 day | 1,000 days');
});

test('times are displayed in one unit, and a recent or future one is now', () => {
  assert.equal([0, 59, 60, 3_599, 3_600, 172_799, 172_800, 259_199].map(format.span), [
    '0 s',
    '59 s',
    '1 min',
    '59 min',
    '1 h',
    '47 h',
    '2 days',
    '2 days',
  ]);
  const at = '2026-01-01T00:00:00.000Z';
  const since = (ms: number) => format.ago(at, Date.parse(at) + ms);
  assert.equal([-60_000, 4_999, 5_000, 60_000].map(since), ['now', 'now', '5 s ago', '1 min ago']);
  assert.is(format.asOf(at), '2026-01-01 00:00:00 UTC');
});

test('a long id is cut, but never for one character', () => {
  assert.equal(
    ['123456789', '1234567890'].map((id) => format.head(id)),
    ['123456789', '12345678…'],
  );
  assert.is(format.words('report_cheating_a'), 'report cheating a');
});

test('an invisible name is replaced by the id, and a character that turns text around is escaped', () => {
  assert.equal(
    ['\u200b \u2800', '', 'a\u202eb', 'A\nb'].map((name) => format.displayName(name, 'id')),
    ['id', 'id', 'a<202e>b', 'A<a>b'],
  );
});

test.run();
