/**
 * `npm run sim -- --seed N --operations N`: lives of simulated groups, one seed after the other, until so many
 * operations were asked. `npm run sim -- cluster --seed N --faults N`: lives of simulated clusters, until so many
 * faults have happened. A signal ends it with what was found so far.
 */
import { Command } from 'commander';
import { wholeNumber } from '../../bench/measurement.js';
import { operationsPerSeed, simulate, simulateClusters } from './lives.js';

const ending = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => ending.abort());
const common = { write: (text: string) => process.stdout.write(text), signal: ending.signal };

const program = new Command('sim').description('Simulated lives against an oracle; exit code 1 where one differs.');
program
  .command('group', { isDefault: true })
  .option('--seed <n>', 'of the first life', wholeNumber(0), 1)
  .option('--operations <n>', 'of all lives', wholeNumber(0), operationsPerSeed)
  .action(async (options: { readonly seed: number; readonly operations: number }) => {
    process.exitCode = (await simulate({ ...common, ...options })) ? 0 : 1;
  });
program
  .command('cluster')
  .option('--seed <n>', 'of the first life', wholeNumber(0), 1)
  .option('--faults <n>', 'of all lives', wholeNumber(0), 10_000)
  .action(async (options: { readonly seed: number; readonly faults: number }) => {
    process.exitCode = (await simulateClusters({ ...common, ...options })) ? 0 : 1;
  });
await program.parseAsync();
