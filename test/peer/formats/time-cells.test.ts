/** The times of a list: an end may be none, and a text may be no time. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { endOf } from '../../../src/peer/formats/reading/time-cells.js';

test('a number of ms too large for any date is no end, and a time of an impossible offset is no time', () => {
  for (const text of ['999999999999999', '9223372036854775807']) assert.is(endOf(text, 'ms', 'UTC'), 'never');
  const at = Date.UTC(2026, 10, 20, 13);
  assert.is(endOf(String(at), 'ms', 'UTC'), at);
  const hour = 3_600_000;
  assert.is(endOf('2026-11-20 13:00:00 +14:00', 'text', 'UTC'), at - 14 * hour);
  assert.is(endOf('2026-11-20 13:00:00 +15:00', 'text', 'UTC'), undefined);
});

test.run();
