/** How far this client has read the log, from the heads of the answers, which hide the last digits of large numbers. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bounds } from '../../../src/client/bounds.js';
import { appliedSeqOf, ReadFloor } from '../../../src/client/transport/read-floor.js';
import { VirtualRuntime } from '../virtual-runtime.js';

test('an answer names the least and the most record that its node may have applied', () => {
  const of = (value: string | undefined) =>
    appliedSeqOf({ header: () => value } as unknown as Parameters<typeof appliedSeqOf>[0]);
  const rows: readonly [string, number, number][] = [
    ['0', 0, 0],
    ['7', 7, 7],
    ['99', 99, 99],
    ['120', 120, 129],
    ['12000', 12_000, 12_999],
  ];
  for (const [value, least, most] of rows) assert.equal(of(value), { least, most });
  for (const value of [undefined, '', '-1', '1.5', '1'.repeat(16)]) assert.is(of(value), undefined);
});

test('an older answer is admitted once the floor has expired, and then is the floor', async () => {
  const runtime = new VirtualRuntime();
  const floor = new ReadFloor(runtime);
  assert.ok(floor.admits(0));
  floor.note(5);
  floor.note(4);
  assert.equal([floor.admits(4), floor.admits(5)], [false, true]);
  await runtime.advance(bounds.readFloorMs - 1);
  floor.note(5);
  await runtime.advance(bounds.readFloorMs - 1);
  assert.not(floor.admits(4), 'an equal answer holds the floor');
  await runtime.advance(1);
  assert.ok(floor.admits(4));
  floor.note(3);
  assert.equal([floor.admits(2), floor.admits(3)], [false, true]);
});

test.run();
