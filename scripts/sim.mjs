/** `npm run sim -- [cluster] --seed N`: simulated lives of a group, or of a cluster, with faults. */
import './lib/require-node.mjs';
import { runBuilt } from './lib/run-built.mjs';

runBuilt('test/sim/main.js');
