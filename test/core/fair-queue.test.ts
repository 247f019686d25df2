/** Holders take turns, whatever the length of their lines. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { FairQueue } from '../../src/core/fair-queue.js';

interface Item {
  readonly name: string;
  readonly size: number;
}

const quantum = 10;

function queueOf(items: Readonly<Record<string, readonly number[]>>): FairQueue<string, Item> {
  const queue = new FairQueue<string, Item>(quantum, ({ size }) => size);
  for (const [holder, sizes] of Object.entries(items)) {
    for (const [n, size] of sizes.entries()) queue.push(holder, { name: `${holder}${n}`, size });
  }
  return queue;
}

/** Takes items up to a total size. */
function take(queue: FairQueue<string, Item>, most = Number.POSITIVE_INFINITY): string[] {
  let size = 0;
  return queue
    .take((item) => {
      size += item.size;
      return size <= most;
    })
    .map(({ name }) => name);
}

test('holders bring up to a quantum each, and the items of one stay in order', () => {
  const queue = queueOf({ a: [5, 5, 5, 5], b: [4, 4, 4], c: [1] });
  assert.equal([queue.size, queue.sizeOf('a'), queue.sizeOf('d'), queue.empty], [33, 20, 0, false]);
  assert.equal(take(queue), ['a0', 'a1', 'b0', 'b1', 'c0', 'a2', 'a3', 'b2']);
  assert.equal([queue.size, queue.empty, take(queue)], [0, true, []]);
});

test('an item above the quantum waits until its holder has saved enough', () => {
  const queue = queueOf({ large: [35, 35], small: [8, 8, 8, 8, 8, 8, 8, 8] });
  const order = take(queue);
  // For each quantum of the large items the other holder brings one of its own.
  assert.equal(order.indexOf('large0'), 3);
  assert.ok(order.indexOf('large1') > 6, String(order));
});

test('what does not fit stays, in its place', () => {
  const queue = queueOf({ a: [6, 4, 6], b: [7] });
  assert.equal(take(queue, 6), ['a0']);
  assert.equal(take(queue, 11), ['a1', 'b0']);
  queue.push('c', { name: 'c0', size: 1 });
  assert.equal(take(queue), ['a2', 'c0']);
});

test('holders with equal lines get equal shares over time', () => {
  const sizes = new Array<number>(100).fill(7);
  const queue = queueOf({ a: sizes, b: sizes, c: sizes });
  const got = { a: 0, b: 0, c: 0 };
  for (let turn = 0; turn < 20; turn++) {
    for (const name of take(queue, 35)) got[name[0] as keyof typeof got] += 1;
    const counts = Object.values(got);
    assert.ok(Math.max(...counts) - Math.min(...counts) <= 3, JSON.stringify(got));
  }
  assert.is(got.a + got.b + got.c, 100);
});

test('holders whose next item waits are passed over, and keep their place and what they saved', () => {
  const queue = queueOf({ a: [30, 1], b: [2, 30, 2], c: [3, 3] });
  const names = (items: readonly Item[]) => items.map(({ name }) => name);
  const few = () =>
    names(
      queue.take(
        () => true,
        ({ size }) => size >= 30,
      ),
    );
  assert.equal([few(), few(), queue.size], [['b0', 'c0', 'c1'], [], 63]);
  assert.equal(take(queue), ['a0', 'a1', 'b1', 'b2']);
});

test('sizeBefore counts of each other line no more than the holder itself brings', () => {
  const queue = queueOf({ a: [50, 50], b: [3] });
  assert.is(queue.sizeBefore('new', 5), 5 + 3);
  assert.is(queue.sizeBefore('new', 1_000), 103);
  assert.is(queue.sizeBefore('a', 10), 100 + 3);
  assert.is(queue.sizeBefore('b', 2), 3 + 5);
});

test('items leave from the end of a line, or by a condition', () => {
  const queue = queueOf({ a: [1, 2, 3], b: [4] });
  assert.is(
    queue.largest(() => true),
    'a',
  );
  assert.is(
    queue.largest((holder) => holder !== 'a'),
    'b',
  );
  assert.is(queue.pop('a')?.name, 'a2');
  assert.is(queue.pop('c'), undefined);
  assert.equal(
    queue.removeWhere(({ size }) => size > 1).map(({ name }) => name),
    ['a1', 'b0'],
  );
  assert.equal([queue.size, queue.sizeOf('a'), queue.sizeOf('b')], [1, 1, 0]);
  assert.is(queue.pop('a')?.name, 'a0');
  assert.ok(queue.empty);
  assert.is(
    queue.largest(() => true),
    undefined,
  );
});

test.run();
