/** Ends the process with exit code 2 if it may open too few files: loading would fail with another reason. */
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
