/** Ends the process with one sentence and exit code 2 if its Node is too old. Every entry imports this file first. */
import { nodeVersionProblem } from './node-version.js';

const problem = nodeVersionProblem(process.versions.node);
if (problem !== null) {
  process.stderr.write(`peer-trust-federation ${problem}\n`);
  process.exit(2);
}
