import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { SharedSlots } from '../../../src/http/room/shared-slots.js';

test('so many tasks run at a time, the others in turn by holder, and a task that fails frees its slot', async () => {
  const slots = new SharedSlots(2);
  const began: string[] = [];
  const ends: (() => void)[] = [];
  const outcomes: Promise<string>[] = [];
  for (const [holder, count] of [
    ['many', 6],
    ['one', 1],
    ['two', 2],
  ] as const) {
    for (let i = 0; i < count; i++) {
      const task = async () => {
        began.push(holder);
        await new Promise<void>((end) => ends.push(end));
        if (i === 1) throw new Error(holder);
        return holder;
      };
      outcomes.push(slots.run(holder, task).catch((error: Error) => `failed ${error.message}`));
    }
  }
  const counts: number[] = [];
  while (ends.length > 0) {
    ends.shift()!();
    await turnOfLoop();
    counts.push(ends.length);
  }
  assert.equal(began, ['many', 'many', 'many', 'one', 'two', 'many', 'two', 'many', 'many']);
  assert.equal(counts, [2, 2, 2, 2, 2, 2, 2, 1, 0]);
  assert.equal(
    (await Promise.all(outcomes)).filter((outcome) => outcome.startsWith('failed')),
    ['failed many', 'failed two'],
  );
  assert.is(await slots.run('later', () => 'at once'), 'at once');
});

test.run();
