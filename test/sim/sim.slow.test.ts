/** Simulated lives of a group, faults and all, against the oracle: fixed seeds, the same on every machine. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { run } from './run.js';
import { simulate } from './simulate.js';
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
  assert.ok(await simulate({ seed: 1, operations: 50_000, write }));
  // Here a peer's evidence fades so far that a withdrawal takes all of one side of it, and the fit moves by a
  // thousandth.
  assert.ok(await simulate({ seed: 60_000_411, operations: 2_000, write }));
  // Here a clock that was set back by 20 years meets evidence of no severity, whose worth is still none.
  assert.ok(await simulate({ seed: 80_000_627, operations: 2_000, write }));
  // Here the half-life is changed while the clock is 20 years behind, further than a factor reaches.
  assert.ok(await simulate({ seed: 500_077, operations: 2_000, write }));
  // Here two peers are alike but for the last digit of what others say of them, and thirty rounds of the gate drive
  // them apart.
  assert.ok(await simulate({ seed: 500_196, operations: 2_000, write }));
  // Here the half-life changes twice while the clock is 20 years behind, and a sum grows beyond what a double holds.
  assert.ok(await simulate({ seed: 500_000_929, operations: 2_000, write }));
});

test.run();
