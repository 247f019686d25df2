/** The circuit breaker of one node: when it opens, for how long, and which request tests it. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bounds } from '../../../src/client/bounds.js';
import { Breaker, Round } from '../../../src/client/transport/node-choice.js';
import type { Transport } from '../../../src/client/transport/transport.js';
import { TrustError } from '../../../src/client/trust-error.js';
import { VirtualRuntime } from '../virtual-runtime.js';

const { breakerFailures, breakerOpenMs, breakerOpenMaxMs, backoffBaseMs } = bounds;

/** A breaker that stays open for the whole of its window. */
function newBreaker() {
  const runtime = new VirtualRuntime();
  runtime.dice = 1;
  const breaker = new Breaker(runtime);
  const fail = (times: number) => {
    for (let i = 0; i < times; i++) breaker.failed();
  };
  return { runtime, breaker, fail };
}

test('a circuit opens with the last of several failures in a row', () => {
  const { breaker, fail } = newBreaker();
  fail(breakerFailures - 1);
  breaker.succeeded();
  fail(breakerFailures - 1);
  assert.is(breaker.admit(), 0);
  fail(1);
  assert.is(breaker.admit(), breakerOpenMs);
});

test('one request tests an open circuit, and a failure doubles the window up to a bound', async () => {
  const { runtime, breaker, fail } = newBreaker();
  fail(breakerFailures);
  let windowMs: number = breakerOpenMs;
  for (let isLast = false; !isLast; windowMs = Math.min(breakerOpenMaxMs, 2 * windowMs)) {
    isLast = windowMs === breakerOpenMaxMs;
    fail(1);
    assert.is(breaker.admit(), windowMs, 'a failure of an earlier request adds nothing');
    await runtime.advance(windowMs);
    assert.equal([breaker.admit(), breaker.admit()], [0, backoffBaseMs]);
    fail(1);
  }
  assert.is(breaker.waitMs, breakerOpenMaxMs);
});

test('a request that the caller aborted opens no circuit, and lets another one test an open circuit', async () => {
  const { runtime, breaker, fail } = newBreaker();
  breaker.abandoned();
  fail(breakerFailures - 1);
  assert.is(breaker.admit(), 0);
  fail(1);
  await runtime.advance(breakerOpenMs);
  assert.is(breaker.admit(), 0);
  breaker.abandoned();
  assert.is(breaker.admit(), 0);
  breaker.succeeded();
  fail(breakerFailures);
  assert.is(breaker.waitMs, breakerOpenMs, 'a success forgets how often the circuit opened');
});

test('a round over several nodes ends with the pause of the soonest one, over a single node with its own', () => {
  const runtime = new VirtualRuntime();
  const newNode = () => ({ transport: {} as Transport, breaker: new Breaker(runtime) });
  const asked = new TrustError('overloaded', 'full', { retryAfterMs: 9_000 });
  const [one, two] = [newNode(), newNode()];
  const both = new Round([one, two], runtime);
  both.skipFor(one, 5_000);
  both.skipFor(two, 2_000);
  assert.is(both.end(asked, true).retryAfterMs, 2_000);
  assert.is(both.end(asked, false), asked, 'the fault is not that of a node');
  assert.is(new Round([one], runtime).end(asked, true), asked);
});

test.run();
