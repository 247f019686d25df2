/** `npm run bench` and `npm run replay`: the bench harness. */
import { runBuilt } from './lib/run-built.mjs';

runBuilt('bench', 'main.js');
