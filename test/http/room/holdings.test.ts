/** Finds the holder with the largest part of a shared resource. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Holdings } from '../../../src/http/room/holdings.js';
import { Random } from '../../support/random.js';

test('the holder with the most pieces is found after any number of changes', () => {
  const random = new Random(7);
  const holdings = new Holdings<number, number>();
  const model = new Map<number, Set<number>>();
  for (let step = 0; step < 20_000; step++) {
    const holder = random.below(6);
    const piece = random.below(8);
    const pieces = model.get(holder) ?? new Set<number>();
    model.set(holder, pieces);
    if (random.below(2) === 0) {
      holdings.add(holder, piece);
      pieces.add(piece);
    } else {
      holdings.delete(holder, piece);
      pieces.delete(piece);
    }
    const counts = [...model.values()].map(({ size }) => size);
    const { largest } = holdings;
    assert.is(largest === undefined ? 0 : holdings.countOf(largest), Math.max(...counts));
    assert.is(holdings.holders, counts.filter((count) => count > 0).length);
    assert.is(holdings.countOf(holder), pieces.size);
  }
});

test('pieces are given oldest first, and one that is put last is the newest', () => {
  const holdings = new Holdings<string, string>();
  for (const piece of ['first', 'second', 'third']) holdings.add('somebody', piece);
  holdings.putLast('somebody', 'first');
  holdings.putLast('nobody', 'first');
  assert.equal([...(holdings.of('somebody') ?? [])], ['second', 'third', 'first']);
  assert.is(holdings.largest, 'somebody');
});

test.run();
