/**
 * Loaded into every thread of a node under fuzz: collects all garbage, time and again. A heap grows until its collector finds it worth
 * the while, and what it has not collected looks like a leak; what stays behind each collection is what is kept.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

const everyMs = 5_000;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
let collectedAt = performance.now();

function collectIfDue(): void {
  if (performance.now() - collectedAt < everyMs) return;
  collect();
  collectedAt = performance.now();
}

if (isMainThread) {
  setInterval(collectIfDue, everyMs / 5).unref();
} else {
  // A thread of the pool sleeps in it between two tasks, and its timers do as well.
  Atomics.wait = new Proxy(Atomics.wait, {
    apply(wait, self, args) {
      collectIfDue();
      return Reflect.apply(wait, self, args);
    },
  });
}
