/**
 * Ends a process that may open too few files with one sentence and exit code 2: loading the service would fail with
 * another reason.
 */
import { readFileSync } from 'node:fs';
import { openFilesFault } from './open-files.js';

function systemLimits(): string | null {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    // Only Linux has it.
    return null;
  }
}

const fault = openFilesFault(systemLimits());
if (fault !== null) {
  process.stderr.write(`peer-trust-federation ${fault}\n`);
  process.exit(2);
}
