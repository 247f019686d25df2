/** The times of a list: an end may be none, and a text may be no time. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { endOf, timeOf } from '../../../src/peer/formats/reading/time-cells.js';

test('a number of ms too large for any date is no end, and a time of an impossible offset is no time', () => {
  for (const text of ['999999999999999', '9223372036854775807']) assert.is(endOf(text, 'ms', 'UTC'), 'never');
  const at = Date.UTC(2026, 10, 20, 13);
  assert.is(endOf(String(at), 'ms', 'UTC'), at);
  const hour = 3_600_000;
  assert.is(endOf('2026-11-20 13:00:00 +14:00', 'text', 'UTC'), at - 14 * hour);
  assert.is(endOf('2026-11-20 13:00:00 +15:00', 'text', 'UTC'), undefined);
});

test('the bounds of times: before 2001 and, of ends, before 2010 nothing counts, and from 2100 on it is never', () => {
  const times = ['999999999', '1000000000', '999999999999', '1000000000000'].map((text) => timeOf(text, 'any', 'UTC'));
  assert.equal(times, [undefined, 1_000_000_000_000, undefined, 1_000_000_000_000]);
  const ends = ['1262303999', '1262304000', '2147483646', '2147483647', '4102444799', '4102444800'];
  assert.equal(
    ends.map((text) => endOf(text, 's', 'UTC')),
    [undefined, 1_262_304_000_000, 2_147_483_646_000, 'never', 4_102_444_799_000, 'never'],
  );
});

test.run();
