/** `npm run demo`: a node, its dashboard and twelve simulated game servers, compared with a plain count of bans. */
import './lib/require-node.mjs';
import { runBuilt } from './lib/run-built.mjs';

runBuilt('bench/demo/main.js');
