/**
 * Ends a process whose Node is too old with one sentence and exit code 2. Imported first by every entry of the service.
 */
import { nodeVersionFault } from './node-version.js';

const fault = nodeVersionFault(process.versions.node);
if (fault !== null) {
  process.stderr.write(`peer-trust-federation ${fault}\n`);
  process.exit(2);
}
