/** `npm run demo`: a node, its dashboard and twelve simulated game servers, with a table of what becomes of a liar. */
import './lib/require-node.mjs';
import { runBuilt } from './lib/run-built.mjs';

runBuilt('bench/demo/main.js');
