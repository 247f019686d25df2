import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { lowerWeightedMedian } from '../../../src/core/trust/gate.js';

test('with equal weights it is the lower of the two middle values', () => {
  assert.is(lowerWeightedMedian([4, 1, 3, 2], [1, 1, 1, 1]), 2);
  assert.is(lowerWeightedMedian([5, 1, 3], [1, 1, 1]), 3);
});

test('a value that holds half of the weight is the median', () => {
  assert.is(lowerWeightedMedian([1, 2, 9], [1, 1, 2]), 2);
  assert.is(lowerWeightedMedian([1, 2, 9], [1, 1, 3]), 9);
});

test('a single value is its own median, and an empty list is a broken invariant', () => {
  assert.is(lowerWeightedMedian([0.3], [0.01]), 0.3);
  assert.throws(() => lowerWeightedMedian([], []), /needs at least one value/);
});

test.run();
