/** `npm run bench`, `npm run replay` and `npm run soak`: the bench harness. */
import { runBuilt } from './lib/run-built.mjs';

/**
 * The load is made by one thread on a core of its own, and what it does meanwhile makes a request late. So it collects little at a time, and
 * without threads that would share the core (decision 197).
 */
const options = ['--single-threaded-gc', '--max-semi-space-size=1'];

runBuilt('bench/main.js', options);
