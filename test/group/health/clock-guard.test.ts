import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ClockGuard, clockProblem } from '../../../src/group/health/clock-guard.js';
import { limits } from '../../../src/limits.js';
import { dayMs, t0 } from '../../support/given.js';

/** A guard of a clock that a test sets by so many ms, also while as much time passes. */
function guarded(now: number, seenAt: number) {
  let elapsed = 5;
  const changes: boolean[] = [];
  const guard = new ClockGuard({
    clock: { now: () => now },
    timers: { elapsed: () => elapsed },
    seenAt,
    onChange: (ahead) => changes.push(ahead),
  });
  const set = (ms: number) => {
    now += ms;
  };
  const pass = (ms: number) => {
    set(ms);
    elapsed += ms;
  };
  return { guard, changes, set, pass };
}

test('a clock is ahead where it gains more than a day over the time that passed, until it is right again', () => {
  const { guard, changes, set, pass } = guarded(t0, 0);
  pass(30 * dayMs);
  assert.is(guard.isAheadNow(), false, 'time that passes is no jump');
  set(limits.clockAheadMs);
  assert.is(guard.isAheadNow(), false);
  set(limits.clockAheadMs + 1);
  assert.is(guard.isAheadNow(), true);
  pass(30 * dayMs);
  assert.is(guard.isAheadNow(), true, 'a jump does not become right by time');
  assert.equal([guard.clockAhead, changes], [true, [true]]);
  set(-limits.clockAheadMs - 1);
  assert.is(guard.isAheadNow(), false);
  set(-20 * 365 * dayMs);
  assert.is(guard.isAheadNow(), false, 'a clock that is behind devalues nothing');
  assert.equal(changes, [true, false]);
});

test('turns within a second of a right clock share one reading of the time since boot', () => {
  let [now, readings] = [t0, 0];
  const elapsed = () => {
    readings++;
    return 0;
  };
  const guard = new ClockGuard({
    clock: { now: () => now },
    timers: { elapsed },
    seenAt: 0,
    onChange: () => undefined,
  });
  for (let turn = 0; turn < 2_500; turn++, now++) assert.is(guard.isAheadNow(), false);
  assert.is(readings, 3, 'at its start and after one and two seconds');
  assert.is(guard.newestAt, t0 + 2_499);
  now += limits.clockAheadMs + 500;
  assert.is(guard.isAheadNow(), true, 'a jump is seen by the next turn');
  now -= limits.clockAheadMs + 500;
  assert.is(guard.isAheadNow(), false, 'right again at the time of the last reading');
  assert.is(guard.clockAhead, false);
});

test('a clock that was behind, at the start or for a while, may be set right again', () => {
  const { guard, changes, set } = guarded(t0 - 300 * dayMs, t0);
  assert.is(guard.isAheadNow(), false);
  assert.is(guard.newestAt, t0, 'a clock that is behind does not lower the newest time that was seen');
  set(300 * dayMs + limits.clockAheadMs);
  assert.is(guard.isAheadNow(), false, 'the node began before the clock was set');
  set(-300 * dayMs);
  assert.is(guard.isAheadNow(), false);
  set(300 * dayMs);
  assert.is(guard.isAheadNow(), false, 'set back and forward again');
  set(limits.clockAheadMs + 1);
  assert.is(guard.isAheadNow(), true);
  assert.equal(changes, [true]);
});

test('a start over a day after the newest known time is refused, unless the operator accepts it', () => {
  assert.is(clockProblem(t0, 0, null), null, 'a folder that never saw a time');
  assert.is(clockProblem(t0 + limits.clockAheadMs, t0, null), null);
  const fault = clockProblem(t0 + limits.clockAheadMs + 1, t0, null);
  assert.match(fault!, new Date(t0).toISOString());
  assert.is(clockProblem(t0 + 9 * dayMs, t0, t0 + 9 * dayMs), null);
  assert.ok(clockProblem(t0 + 9 * dayMs + 1, t0, t0 + 9 * dayMs), 'beyond the day that was accepted');
});

test.run();
