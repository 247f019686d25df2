import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { logit } from '../../../src/core/evidence/evidence.js';
import { sigmoid } from '../../../src/core/evidence/sigmoid.js';

/**
 * Log-odds from -60 to 60, denser than the steps of the table, and on both sides of where one step ends and the next
 * begins.
 */
const logOdds = Array.from({ length: 120_001 }, (_, i) => (i - 60_000) / 1_000);
for (let k = -1_385; k <= 1_385; k++) {
  const end = ((k + 0.5) / 16) * Math.LN2;
  logOdds.push(end - 1e-12, end, end + 1e-12);
}
logOdds.sort((p, q) => p - q);

test('it is 1 / (1 + e^-l) to within the last digits', () => {
  for (const l of logOdds) {
    const bound = Math.min(60, Math.max(-60, l));
    const expected = 1 / (1 + Math.exp(-bound));
    assert.ok(Math.abs(sigmoid(l) - expected) < 1e-15 * expected, `at ${l}: ${sigmoid(l)}, not ${expected}`);
  }
});

test('better odds are never less likely, except for the last bit', () => {
  let last = 0;
  for (const l of logOdds) {
    assert.ok(sigmoid(l) > last * (1 - 1e-15), `at ${l}`);
    last = sigmoid(l);
  }
});

test('even odds are one half, and logit undoes it', () => {
  assert.is(sigmoid(0), 0.5);
  assert.ok(Math.abs(sigmoid(logit(0.2)) - 0.2) < 1e-15);
});

test('no log-odds overflow', () => {
  assert.is(sigmoid(1e9), sigmoid(60));
  assert.is(sigmoid(-1e9), sigmoid(-60));
  assert.is(sigmoid(Infinity), 1);
  assert.ok(sigmoid(-Infinity) > 0);
  assert.ok(Number.isNaN(sigmoid(Number.NaN)));
});

/** Every step is rounded as IEEE 754 says, so that no platform and no release of Node may give another bit. */
test('it is the same on every platform, to the last bit', () => {
  const bits = new DataView(new ArrayBuffer(8));
  const hexOf = (value: number) => {
    bits.setFloat64(0, value);
    return bits.getBigUint64(0).toString(16);
  };
  assert.equal([-59.9, -7.25, -0.3, 0.1, 1.4, 33.3].map(sigmoid).map(hexOf), [
    '3a87f5ce95a219a2',
    '3f47412593d98a3e',
    '3fdb3c5574372aeb',
    '3fe0cca12729afb7',
    '3fe9ab7d8bd79748',
    '3fefffffffffffe1',
  ]);
});

test.run();
