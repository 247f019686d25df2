import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { FewAtATime } from '../../src/http/few-at-a-time.js';
import { limits } from '../../src/limits.js';

test('work is done in order, a few pieces a turn, also what is added meanwhile', async () => {
  const few = new FewAtATime();
  const wanted = 3 * limits.connectionsEndedPerTurn + 1;
  const done: number[] = [];
  for (let i = 0; i < wanted; i++) few.add(() => done.push(i));
  assert.equal(done, []);
  let most = 0;
  for (let turns = 0; done.length < wanted && turns < wanted; turns++) {
    const before = done.length;
    await turn();
    most = Math.max(most, done.length - before);
    if (turns === 0) few.add(() => done.push(wanted));
  }
  await turn();
  assert.is(most, limits.connectionsEndedPerTurn);
  assert.equal(
    done,
    Array.from({ length: wanted + 1 }, (_, i) => i),
  );
});

test.run();
