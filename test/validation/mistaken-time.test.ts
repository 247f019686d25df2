import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parseUtcDateTime } from '../../src/validation/formats.js';
import { mistakenTime } from '../../src/validation/violation-text.js';

test('a number is taken for seconds, milliseconds, microseconds or nanoseconds of this century', () => {
  // `date -u -d @1732000000`
  const meant = '2024-11-19T07:06:40Z';
  for (const value of [1_732_000_000, 1_732_000_000_000, 1_732_000_000_000_000, 1_732_000_000_000_000_000]) {
    assert.equal(mistakenTime(value), { found: 'a number', meant });
    assert.equal(mistakenTime(String(value)), { found: 'a number in a string', meant });
  }
  // `date -u -d @946684800` and `@4102444800` are the first seconds of this century and of the next.
  const bounds = [946_684_799, 946_684_800, 4_102_444_799, 4_102_444_800].map((value) => mistakenTime(value).meant);
  assert.equal(bounds, [undefined, '2000-01-01T00:00:00Z', '2099-12-31T23:59:59Z', undefined]);
  assert.is(mistakenTime(1_732_000_000.25).meant, '2024-11-19T07:06:40.250Z');
  for (const value of [0, -1, 1, 20_261_120, 1e300, Number.POSITIVE_INFINITY, Number.NaN]) {
    assert.is(mistakenTime(value).meant, undefined, `${value}`);
  }
});

test('a time without a zone is taken for UTC, one with an offset is converted', () => {
  assert.equal(mistakenTime('2026-11-20T10:00:00'), { found: 'a time without a zone', meant: '2026-11-20T10:00:00Z' });
  assert.equal(mistakenTime('2026-11-20 10:00'), { found: 'a time without a zone', meant: '2026-11-20T10:00:00Z' });
  const offset = { found: 'a time with an offset', meant: '2026-11-20T08:30:00Z' };
  for (const value of ['2026-11-20T10:30:00+02:00', '2026-11-20T10:30:00+0200', '2026-11-20 10:30:00 +02']) {
    assert.equal(mistakenTime(value), offset, value);
  }
  assert.is(mistakenTime('2026-01-01T00:30:00.5+01:00').meant, '2025-12-31T23:30:00.500Z');
  assert.is(mistakenTime('2026-11-20T10:00:00-00:00').meant, '2026-11-20T10:00:00Z');
});

test('other notations of UTC are refused with the accepted one', () => {
  for (const value of ['2026-11-20t10:00:00z', '2026-11-20 10:00:00Z', ' 2026-11-20T10:00:00Z', '2026-11-20 10:00 UTC'])
    assert.equal(mistakenTime(value), { found: 'another notation', meant: '2026-11-20T10:00:00Z' }, value);
  assert.is(mistakenTime('2026-11-20T10:00:00,123456789123Z').meant, '2026-11-20T10:00:00.123456789Z');
});

test('nothing is guessed where nothing suggests a time', () => {
  const values = [
    '',
    'now',
    '2026-02-30T10:00:00',
    '2026-02-30T10:00:00+01:00',
    '2026-13-01T00:00:00+01:00',
    '2026-11-20T10:00:00+99:00',
    null,
    {},
  ];
  for (const value of values) assert.is(mistakenTime(value).meant, undefined, String(value));
  assert.equal(mistakenTime('2026-11-20'), { found: 'a date without a time' });
  assert.is(mistakenTime(`2026-11-20T10:00:00${' '.repeat(100_000)}`).meant, undefined);
});

test('every suggested time is valid', () => {
  const forms = ['2026-11-20', 'T', ' ', '10:00', ':60', ':59', '.5', ',25', 'Z', 'z', '+02:00', '-23:59', '+24:00'];
  for (let n = 0; n < forms.length ** 3; n++) {
    const [a = '', b = '', c = ''] = [n, n / forms.length, n / forms.length ** 2].map(
      (place) => forms[Math.floor(place) % forms.length],
    );
    const { meant } = mistakenTime(`2026-11-20T10:00${a}${b}${c}`);
    assert.ok(meant === undefined || parseUtcDateTime(meant) !== undefined, `${a}${b}${c}: ${meant}`);
  }
});

test.run();
