import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ReadTurns } from '../../../src/http/room/read-turns.js';

test('one piece runs in each turn of the loop, and a holder with many waits for no other holder twice', async () => {
  const pending: (() => void)[] = [];
  const turns = new ReadTurns((run) => void pending.push(run));
  const ran: string[] = [];
  for (const [holder, count] of [
    ['many', 5],
    ['one', 1],
    ['two', 2],
  ] as const)
    for (let i = 0; i < count; i++) void turns.next(holder).then(() => ran.push(holder));
  const lengths: number[] = [];
  while (pending.length > 0) {
    assert.is(pending.length, 1);
    pending.pop()!();
    await turnOfLoop();
    lengths.push(ran.length);
  }
  assert.equal(lengths, [1, 2, 3, 4, 5, 6, 7, 8]);
  assert.equal(ran.slice(0, 5), ['many', 'one', 'two', 'many', 'two']);
});

test.run();
