/** `npm run sim -- --seed N --operations N`: simulated lives of a group, with faults, against an oracle. */
import './lib/require-node.mjs';
import { runBuilt } from './lib/run-built.mjs';

runBuilt('test/sim/main.js');
