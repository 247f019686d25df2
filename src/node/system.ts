/** Implements the group's ports with Node: the time of day, timers and random bytes. */
import { randomBytes, randomUUID } from 'node:crypto';
import { uptime } from 'node:os';
import type { Clock, RandomSource, Timers } from '../group/ports/clock.js';

export const clock: Clock = { now: () => Date.now() };

/** Offset of `performance.now` from the time since boot. `uptime` counts whole seconds. */
const bootedBeforeMs = uptime() * 1000 - performance.now();

/** Like `timers.elapsed`, including the time in which the machine was suspended. */
export const sinceBoot: Pick<Timers, 'elapsed'> = {
  elapsed: () => Math.max(performance.now(), uptime() * 1000 - bootedBeforeMs),
};

export const timers: Timers = {
  elapsed: () => performance.now(),
  soon: (act) => setImmediate(act),
  later: (act, ms) => {
    // Node rounds timers to whole ms from the present one: by `elapsed`, a timer would act up to 2 ms too soon.
    const timer = setTimeout(act, Math.ceil(ms) + 1).unref();
    // The timer is referenced before it is cleared: for an unreferenced timer, Node keeps the empty list of its
    // duration until that time.
    return () => clearTimeout(timer.ref());
  },
};

export const random: RandomSource = { bytes: (count) => randomBytes(count), uuid: () => randomUUID() };
