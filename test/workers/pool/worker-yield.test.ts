/** A long computation lets the main thread have the core, if there is only one. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { workerYield } from '../../../src/workers/pool/worker-yield.js';

/** Runs `pieces` of 0.01 ms each with a yield after each; returns when it slept, in ms. */
function sleepsOf(cores: number, pieces: number): number[] {
  let ms = 0;
  const sleeps: number[] = [];
  const yieldCore = workerYield(cores, {
    now: () => ms,
    sleep(asked) {
      sleeps.push(ms);
      ms += asked;
    },
  });
  for (let piece = 0; piece < pieces; piece++) {
    ms += 0.01;
    yieldCore();
  }
  return sleeps;
}

test('on a single core a computation sleeps after each tenth of a millisecond of work', () => {
  const sleeps = sleepsOf(1, 1_000);
  assert.ok(sleeps.length >= 90 && sleeps.length <= 100, `${sleeps.length} sleeps in 10 ms of work`);
});

test('with a core to spare a computation never sleeps', () => assert.equal(sleepsOf(2, 1_000), []));

test('the yield of the system returns', () => {
  const yieldCore = workerYield(1);
  const started = performance.now();
  while (performance.now() - started < 5) yieldCore();
  assert.ok(performance.now() - started >= 5);
});

test.run();
