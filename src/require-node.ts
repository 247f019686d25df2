/**
 * Ends a process whose Node is too old with one sentence and exit code 2. Imported first by every entry of the service.
 */
import { nodeVersionProblem } from './node-version.js';

const problem = nodeVersionProblem(process.versions.node);
if (problem !== null) {
  process.stderr.write(`peer-trust-federation ${problem}\n`);
  process.exit(2);
}
