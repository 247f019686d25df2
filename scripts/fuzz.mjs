/**
 * `npm run fuzz -- --requests N --seed S`: sends requests drawn from the contract to two nodes, and says what came of
 * it.
 */
import './lib/require-node.mjs';
import { runBuilt } from './lib/run-built.mjs';

runBuilt('test/fuzz/main.js');
