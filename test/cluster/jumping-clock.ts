/**
 * Shifts the wall clock of a node that loads this file first (`--import`) by the ms in the file `HARNESS_CLOCK`.
 * SIGUSR2 makes the node read the file again. The clock of the machine is not changed.
 */
import { readFileSync } from 'node:fs';

const file = process.env.HARNESS_CLOCK;
if (file !== undefined) {
  let aheadMs = 0;
  const read = () => {
    aheadMs = Number(readFileSync(file, 'utf8'));
  };
  read();
  process.on('SIGUSR2', read);
  const now = Date.now.bind(Date);
  Date.now = () => now() + aheadMs;
}
