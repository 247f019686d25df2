/** `npm run bench`, `npm run replay` and `npm run soak`: the bench harness. */
import { runBuilt } from './lib/run-built.mjs';

runBuilt('bench', 'main.js');
