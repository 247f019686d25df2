/**
 * Loaded into a node before everything else (`--import`): its wall clock is that of the machine and as many ms as the
 * file named by `HARNESS_CLOCK` says, read again at SIGUSR2. The machine's own clock is never touched.
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
