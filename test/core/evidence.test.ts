import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { damping, saturate, unit } from '../../src/core/evidence.js';

test('one peer counts at most 1.5 on one player, and 1 with one event of severity 1', () => {
  assert.is(saturate(0), 0);
  assert.is(saturate(0.5), 0.75);
  assert.is(saturate(1), 1);
  assert.ok(saturate(1e9) < 1.5 && saturate(1e9) > 1.499);
});

test('mass beyond one event is still one vote', () => {
  assert.equal([unit(0), unit(0.25), unit(1), unit(50)], [0, 0.25, 1, 1]);
});

test('agreeing votes are damped by the fourth root of their mass, from one vote on', () => {
  assert.equal([damping(0), damping(1), damping(16), damping(81)], [1, 1, 2, 3]);
});

test.run();
