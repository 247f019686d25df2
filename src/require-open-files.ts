/**
 * Ends a process that may open too few files with one sentence and exit code 2: loading the service would fail with
 * another reason.
 */
import { readFileSync } from 'node:fs';
import { openFilesProblem } from './open-files.js';

function systemLimits(): string | null {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    // Only Linux has this file.
    return null;
  }
}

const problem = openFilesProblem(systemLimits());
if (problem !== null) {
  process.stderr.write(`peer-trust-federation ${problem}\n`);
  process.exit(2);
}
