/**
 * Loaded into every thread of a node under fuzz: collects all garbage, time and again. A heap grows until its collector
 * finds it worth the while, and what it has not collected looks like a leak; what stays behind each collection is what
 * is kept. Pages that are half empty look like one, too: each collection moves what is left together. All threads
 * collect at the same moment by the clock: each at moments of its own they drift apart and together again, and memory
 * seems to come and go in waves of many minutes.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const everyMs = 5_000;

setFlagsFromString('--expose-gc');
setFlagsFromString('--compact-on-every-full-gc');
const collect = runInNewContext('gc') as () => void;

function collectAtNext(): void {
  const timer = setTimeout(
    () => {
      collect();
      collectAtNext();
    },
    everyMs - (Date.now() % everyMs),
  );
  timer.unref();
}

collectAtNext();
