/** Live objects leave the young generation before a window begins, so that none of them is copied during it. */
import { getHeapSpaceStatistics } from 'node:v8';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { promoteYoung } from '../../bench/windows.js';

const usedBytes = (name: string): number =>
  getHeapSpaceStatistics().find((space) => space.space_name === name)!.space_used_size;

test('live objects are promoted, so that the next young collection has nothing to copy', () => {
  promoteYoung();
  const before = usedBytes('old_space');
  const alive = Array.from({ length: 5_000 }, (_, i) => ({ of: i, text: `${i} of a window` }));
  assert.ok(usedBytes('new_space') > 200_000, 'it begins as young as anything');
  promoteYoung();
  const oldBytes = usedBytes('old_space') - before;
  assert.ok(usedBytes('new_space') < 100_000, `${usedBytes('new_space')} bytes are still young`);
  assert.ok(oldBytes > 200_000, `${oldBytes} bytes were promoted`);
  assert.is(alive.length, 5_000);
});

test.run();
