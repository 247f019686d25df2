/** `npm run faults -- NAME`: damages, kills and starves a store and a node, and says what came of it. */
import './lib/require-node.mjs';
import { runBuilt } from './lib/run-built.mjs';

runBuilt('test/faults/main.js');
