/**
 * The bench program: one subcommand per measurement. A new one is a file that exports a `Measurement`, and one entry in
 * the list below.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import { compareFiles } from './compare.js';
import { endBySignals } from './ending.js';
import type { Measurement } from './measurement.js';
import { client } from './measurements/client.js';
import { cluster } from './measurements/cluster.js';
import { database } from './measurements/database.js';
import { importing } from './measurements/import.js';
import { join } from './measurements/join.js';
import { memory } from './measurements/memory.js';
import { mixed } from './measurements/mixed.js';
import { neighbour } from './measurements/neighbour.js';
import { overload } from './measurements/overload.js';
import { peers } from './measurements/peers.js';
import { match, read } from './measurements/reads.js';
import { recompute } from './measurements/recompute.js';
import { recover } from './measurements/recover.js';
import { sidecar } from './measurements/sidecar.js';
import { small } from './measurements/small.js';
import { snapshot } from './measurements/snapshot.js';
import { soak } from './measurements/soak.js';
import { steps } from './measurements/steps.js';
import { stream } from './measurements/stream.js';
import { batch, ingest, repeats, signing } from './measurements/writes.js';
import { quality } from './quality/run.js';
import { replay } from './replay.js';
import { goalsTable, readResult } from './result.js';

const measurements: readonly Measurement[] = [
  read,
  match,
  client,
  importing,
  sidecar,
  stream,
  ingest,
  batch,
  mixed,
  memory,
  repeats,
  recover,
  snapshot,
  recompute,
  overload,
  neighbour,
  peers,
  signing,
  small,
  cluster,
  database,
  join,
  soak,
  steps,
  quality,
  replay,
];

const fallHeardMs = 300;

const program = new Command('bench').description('Measures a node of this service, and the quality of its scores.');

program
  .command('list')
  .description('list all measurements')
  .action(() => {
    for (const measurement of measurements) console.log(`${measurement.name.padEnd(12)}${measurement.summary}`);
  });

program
  .command('compare')
  .description('compare two results of one measurement')
  .argument('<before>', 'a result written with --json')
  .argument('<after>', 'a later result')
  .action((before: string, after: string) => console.log(compareFiles(before, after)));

program
  .command('table')
  .description('print the goals of results as a Markdown table')
  .argument('<files...>', 'results written with --json')
  .action((files: readonly string[]) => console.log(goalsTable(files.map(readResult))));

for (const measurement of measurements) {
  measurement.define(program.command(measurement.name).description(measurement.summary));
}

endBySignals();

try {
  await program.parseAsync();
} catch (error) {
  console.error(`bench: ${error instanceof Error ? error.message : String(error)}`);
  // The exit of a server is reported a moment after the first unanswered request.
  await delay(fallHeardMs);
  // The exit handler ends whatever the measurement started and could not end.
  process.exit(1);
}
