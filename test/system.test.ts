/** What the node takes of Node itself leaves nothing behind. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { timers } from '../src/system.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

test('timers that are called off hold no memory, whatever their durations', () => {
  const count = 200_000;
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let i = 0; i < count; i++) timers.later(() => undefined, 3_000_000 + i)();
  collect();
  const bytesEach = (process.memoryUsage().heapUsed - before) / count;
  assert.ok(bytesEach < 10, `${bytesEach} bytes for each`);
});

test('a timer acts after its time, unless it was called off', async () => {
  const acted: string[] = [];
  await new Promise<void>((resolve) => {
    timers.later(() => acted.push('called off'), 1)();
    timers.later(() => acted.push('first'), 5);
    // A later one keeps no process alive, so this one does.
    setTimeout(resolve, 20);
  });
  assert.equal(acted, ['first']);
});

test.run();
