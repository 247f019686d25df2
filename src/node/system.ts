/** The world as a group needs it, from Node itself: the time of day, timers and chance. */
import { randomBytes, randomUUID } from 'node:crypto';
import { uptime } from 'node:os';
import type { Clock, Timers } from '../group/ports/clock.js';
import type { RandomSource } from '../group/ports/random.js';

export const clock: Clock = { now: () => Date.now() };

/** How far `performance.now` lies behind the time since boot. `uptime` counts whole seconds. */
const bootedBeforeMs = uptime() * 1000 - performance.now();

/** Like `timers.elapsed`, with the time in which the machine was suspended. */
export const sinceBoot: Pick<Timers, 'elapsed'> = {
  elapsed: () => Math.max(performance.now(), uptime() * 1000 - bootedBeforeMs),
};

export const timers: Timers = {
  elapsed: () => performance.now(),
  soon: (act) => setImmediate(act),
  later: (act, ms) => {
    // Node counts whole ms from the one that has begun, and leaves parts of one out: by `elapsed` it would act up to
    // two too soon.
    const timer = setTimeout(act, Math.ceil(ms) + 1).unref();
    // Referenced first: of a timer that is not, Node keeps the empty list of its duration for as long as that is.
    return () => clearTimeout(timer.ref());
  },
};

export const random: RandomSource = { bytes: (count) => randomBytes(count), uuid: () => randomUUID() };
