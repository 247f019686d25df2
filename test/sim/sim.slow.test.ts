/** Simulated lives of a group, faults and all, against the oracle: fixed seeds, the same on every machine. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { simulate } from './lives.js';
import { run } from './run.js';
import { drawPlan } from './steps.js';

test('the same seed gives the same trace, log and state; another seed another', async () => {
  const first = await run(7, drawPlan(7, 600));
  const again = await run(7, drawPlan(7, 600));
  const other = await run(8, drawPlan(8, 600));
  assert.is(first.difference, null);
  assert.is(first.digest, again.digest);
  assert.equal([...first.counts], [...again.counts]);
  assert.is.not(first.digest, other.digest);
});

test('a shorter life is the beginning of a longer one', () => {
  const short = drawPlan(3, 100).steps;
  assert.equal(drawPlan(3, 200).steps.slice(0, short.length - 1), short.slice(0, -1));
});

test('no life of the fixed seeds differs from the oracle', async () => {
  const write = (text: string) => void process.stdout.write(text);
  // Among them: a ban that was lost when another peer's entry moved, and a peer that followed itself as a carrier.
  assert.ok(await simulate({ seed: 1, operations: 50_000, write }));
  // Here a measure fades to nothing by moves of the epoch, and a snapshot holds its pair.
  assert.ok(await simulate({ seed: 1_047, operations: 2_000, write }));
  // Here a clock that jumped back by 20 years bounds the scale of claims and not that of bans.
  assert.ok(await simulate({ seed: 40_047, operations: 1_100, write }));
});

test.run();
