/** `npm run build`: compiles `src` into `dist`. With `--if-stale` only where a source differs from what was built. */
import './lib/require-node.mjs';
import { compile, projects } from './lib/compile.mjs';

if (!compile(projects.main, { ifStale: process.argv.includes('--if-stale') })) process.exitCode = 1;
