import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Spread } from '../../../src/http/verdict-stream/readers.js';
import type { ChangeFrames, StreamReader } from '../../../src/http/verdict-stream/stream-reader.js';

const frames = (position: number): ChangeFrames => ({ position, changeFor: () => Buffer.alloc(0), rows: 1 });

/** Readers that note what they are told; each takes so many ms for it. */
function readersOf(count: number, ms: number) {
  const heard: number[][] = Array.from({ length: count }, () => []);
  const readers = heard.map((positions) => ({
    send({ position }: ChangeFrames) {
      const until = performance.now() + ms;
      while (performance.now() < until);
      positions.push(position);
    },
  }));
  // Only what it is told by matters here.
  return { heard, readers: readers as unknown as StreamReader[] };
}

test('every reader gets all changes in order, and the thread yields in between', async () => {
  const { heard, readers } = readersOf(60, 1);
  const spread = new Spread();
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await Promise.all([1, 2, 3].map((position) => spread.send(frames(position), readers)));
  isOver = true;
  for (const positions of heard) assert.equal(positions, [1, 2, 3]);
  // 180 ms of work in slices of 4 ms.
  assert.ok(turns > 10, `${turns} turns`);
});

test('pending frames are sent at once on a flush', async () => {
  const { heard, readers } = readersOf(100, 0);
  const spread = new Spread();
  const sends = [spread.send(frames(1), readers), spread.send(frames(2), readers)];
  spread.flush();
  for (const positions of heard) assert.equal(positions, [1, 2]);
  await Promise.all(sends);
});

test('a reader that leaves during a send delays no other', async () => {
  const { heard, readers } = readersOf(50, 1);
  const open = new Set(readers);
  const spread = new Spread();
  const sends = spread.send(frames(1), open);
  setImmediate(() => open.delete(readers[49]!));
  await sends;
  assert.ok(heard.slice(0, 49).every((positions) => positions.length === 1));
});

test.run();
