import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { PacedWork } from '../../src/http/paced-work.js';
import { limits } from '../../src/limits.js';

/** Until `done` has `wanted`; `between` runs in each turn of the event loop before. The most that one turn did. */
async function mostInATurn(done: readonly number[], wanted: number, between: () => void = () => {}): Promise<number> {
  let most = 0;
  while (done.length < wanted) {
    const before = done.length;
    between();
    await turn();
    most = Math.max(most, done.length - before);
  }
  return most;
}

test('work is done in order, a few pieces at a time with turns of others between, also what is added meanwhile', async () => {
  const paced = new PacedWork();
  const wanted = 5 * limits.connectionsEndedPerMs + 1;
  const done: number[] = [];
  for (let i = 0; i < wanted; i++) paced.add(() => done.push(i));
  assert.equal(done, []);
  let added = wanted;
  let turns = 0;
  const most = await mostInATurn(done, wanted + 3, () => {
    turns += 1;
    if (done.length > 0 && added < wanted + 3) {
      const number = added;
      added += 1;
      paced.add(() => done.push(number));
    }
  });
  assert.is(most, limits.connectionsEndedPerMs);
  // The loop rested between.
  assert.ok(turns > (3 * (wanted + 3)) / limits.connectionsEndedPerMs, `${turns} turns`);
  assert.equal(
    done,
    Array.from({ length: wanted + 3 }, (_, i) => i),
  );
});

test('where very many wait, more are done at a time', async () => {
  const paced = new PacedWork();
  const done: number[] = [];
  const wanted = 10 * limits.connectionsEndedTurns;
  for (let i = 0; i < wanted; i++) paced.add(() => done.push(i));
  assert.is(await mostInATurn(done, wanted), 10);
});

test.run();
