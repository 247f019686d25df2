/** `npm run bench`, `npm run replay` and `npm run soak`: the bench harness. */
import './lib/require-node.mjs';
import { runBuilt } from './lib/run-built.mjs';

// The load shares one core with all that V8 does beside it: one thread of its own in place of four, and no collections
// to give memory back, which throw compiled code away.
runBuilt('bench/main.js', ['--v8-pool-size=1', '--no-memory-reducer']);
