/**
 * The bench program: one subcommand per scenario. A new scenario is a file that exports a `Scenario`, and one entry in
 * the list below.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import { compareFiles } from './compare.js';
import { endBySignals } from './ending.js';
import { quality } from './quality/run.js';
import { replay } from './replay.js';
import { goalsTable, readResult } from './result.js';
import type { Scenario } from './scenario.js';
import { client } from './scenarios/client.js';
import { cluster } from './scenarios/cluster.js';
import { database } from './scenarios/database.js';
import { importing } from './scenarios/import.js';
import { join } from './scenarios/join.js';
import { memory } from './scenarios/memory.js';
import { mixed } from './scenarios/mixed.js';
import { neighbour } from './scenarios/neighbour.js';
import { overload } from './scenarios/overload.js';
import { peers } from './scenarios/peers.js';
import { match, read } from './scenarios/reads.js';
import { recompute } from './scenarios/recompute.js';
import { recover } from './scenarios/recover.js';
import { sidecar } from './scenarios/sidecar.js';
import { small } from './scenarios/small.js';
import { snapshot } from './scenarios/snapshot.js';
import { soak } from './scenarios/soak.js';
import { steps } from './scenarios/steps.js';
import { stream } from './scenarios/stream.js';
import { batch, ingest, repeats, signing } from './scenarios/writes.js';

const scenarios: readonly Scenario[] = [
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
  .description('list all scenarios')
  .action(() => {
    for (const scenario of scenarios) console.log(`${scenario.name.padEnd(12)}${scenario.summary}`);
  });

program
  .command('compare')
  .description('compare two results of one scenario')
  .argument('<before>', 'a result written with --json')
  .argument('<after>', 'a later result')
  .action((before: string, after: string) => console.log(compareFiles(before, after)));

program
  .command('table')
  .description('print the goals of results as a Markdown table')
  .argument('<files...>', 'results written with --json')
  .action((files: readonly string[]) => console.log(goalsTable(files.map(readResult))));

for (const scenario of scenarios) {
  scenario.define(program.command(scenario.name).description(scenario.summary));
}

endBySignals();

try {
  await program.parseAsync();
} catch (error) {
  console.error(`bench: ${error instanceof Error ? error.message : String(error)}`);
  // The exit of a server is reported a moment after the first unanswered request.
  await delay(fallHeardMs);
  // The exit handler ends whatever the scenario started and could not end.
  process.exit(1);
}
