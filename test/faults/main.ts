/**
 * The faults program: one subcommand per kind of fault, each with a number of rounds and a seed, and a table at its
 * end.
 */
import { Command } from 'commander';
import { wholeNumber } from '../../bench/measurement.js';
import { startProgress } from '../../bench/progress.js';
import { alignColumns } from '../../bench/tables.js';
import { audit } from './audit.js';
import { cluster, eachFault, faultNames, tableFaults } from './cluster.js';
import { commit } from './commit.js';
import { disk } from './disk.js';
import { erase } from './erase.js';
import { type Fault, Rounds } from './fault.js';
import { flips } from './flips.js';
import { kill } from './kill.js';
import { power } from './power.js';
import { retire } from './retire.js';
import { stop } from './stop.js';
import { stream } from './stream.js';
import { takeover } from './takeover.js';

const faults = [kill, power, stop, commit, disk, flips, takeover, audit, erase, retire, stream, cluster];

const program = new Command('faults').description(
  'Faults on a real store and a real node; exit code 1 where a rule broke.',
);

function show(fault: Fault, rounds: Rounds, ms: number): void {
  const { figures, broken } = rounds.tally.findings();
  const rows = [
    ['fault', fault.name],
    ['rounds', rounds.done < rounds.wanted ? `${rounds.done} of ${rounds.wanted}` : String(rounds.done)],
    ['seed', String(rounds.seed)],
    ['seconds', (ms / 1000).toFixed(1)],
    ...figures.map(([name, value]) => [name, String(value)]),
  ];
  process.stdout.write(`${alignColumns(rows)}\n`);
  for (const what of broken) process.stdout.write(`BROKEN ${what}\n`);
  if (broken.length > 0) process.exitCode = 1;
}

interface Options {
  readonly rounds: number;
  readonly seed: number;
  readonly fault?: readonly string[];
  readonly times?: number;
}

/** Only the cluster has faults to choose from. */
function runOf(fault: Fault, { rounds, fault: names = [], times }: Options): [number, Fault['run']] {
  if (fault !== cluster || times === undefined) return [rounds, fault.run];
  const odd = names.find((name) => !faultNames().includes(name));
  if (odd !== undefined) throw new Error(`${odd} is none of ${faultNames().join(', ')}`);
  const kinds = names.length === 0 ? tableFaults() : names.length;
  return [kinds * times, (all) => eachFault(all, names, times)];
}

for (const fault of faults) {
  const command = program
    .command(fault.name)
    .description(fault.summary)
    .option('--rounds <n>', 'how many', wholeNumber(1), fault.rounds)
    .option('--seed <n>', 'of what is drawn', wholeNumber(1), 1);
  if (fault === cluster) {
    command
      .option('--times <n>', 'each fault of the page so many times, in place of kills and pauses', wholeNumber(1))
      .option('--fault <names...>', `with --times, only these: ${faultNames().join(', ')}`);
  }
  command.action(async (options: Options) => {
    const [wanted, run] = runOf(fault, options);
    const started = performance.now();
    const progress = startProgress(fault.name, wanted);
    const rounds = new Rounds(wanted, options.seed, true, () => progress.advance(1));
    // The table is shown for what was done so far. The signal may come twice: from the terminal, and sent on by what
    // started this.
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => rounds.end());
    await run(rounds);
    progress.stop();
    show(fault, rounds, performance.now() - started);
  });
}

await program.parseAsync();
