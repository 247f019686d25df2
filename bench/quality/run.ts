/**
 * The quality bench: how well this service's scores tell bad players from good ones, on data sets and under attack,
 * beside the methods of the field. The computation alone is measured; `replay` goes through a node.
 */
import { type Command, InvalidArgumentError } from 'commander';
import { environment } from '../environment.js';
import { fileToWrite, refuseOneFileForBoth, type Scenario, wholeNumber } from '../scenario.js';
import { writeTold } from '../written-file.js';
import { judgeGoals } from './goals.js';
import { qualityPage } from './page.js';
import { makeRows } from './rows.js';
import { type KindName, kindNames } from './simulator.js';
import { printTables } from './tables.js';

interface QualityOptions {
  readonly data?: string;
  readonly kinds: readonly KindName[];
  readonly seed: number;
  readonly seeds: number;
  readonly peers: number;
  readonly players: number;
  readonly injected: boolean;
  readonly json?: string;
  readonly html?: string;
}

export const quality: Scenario = {
  name: 'quality',
  summary: 'trust quality on data sets and simulated attacks, beside the methods of the field',
  define(command: Command): void {
    refuseOneFileForBoth(command)
      .option('--data <folder>', 'folder of data sets; without it simulated groups only')
      .option('--kinds <names>', `attacks, of ${kindNames.join(',')}`, kindList, kindNames)
      .option('--seed <n>', 'first seed', wholeNumber(0), 1)
      .option('--seeds <n>', 'groups of each kind', wholeNumber(1), 20)
      .option('--peers <n>', 'peers of a simulated group, before Sybils', wholeNumber(4), 10)
      .option('--players <n>', 'players of a simulated group', wholeNumber(100), 2000)
      .option('--no-injected', 'leave out real votes with injected attackers')
      .option('--json <file>', 'write the figures as JSON', fileToWrite)
      .option('--html <file>', 'write a page with plots', fileToWrite)
      .action(run);
  },
};

async function run({ peers, players, json, html, ...options }: QualityOptions): Promise<void> {
  const size = { peers, players };
  const where = environment();
  const rows = await makeRows({ ...options, size });
  const goals = judgeGoals(rows, size);
  console.log(printTables(rows, goals));
  const { seed, seeds } = options;
  if (json !== undefined) {
    writeTold(json, `${JSON.stringify({ environment: where, seed, seeds, ...size, goals, rows }, null, 2)}\n`);
  }
  if (html !== undefined) {
    const title = `Seeds ${seed} to ${seed + seeds - 1}, ${peers} peers, ${players} players; commit ${where.commit}, Node ${where.node}, ${where.cpu}.`;
    writeTold(html, qualityPage(title, rows, goals));
  }
}

function kindList(names: string): KindName[] {
  return names.split(',').map((name) => {
    const kind = kindNames.find((known) => known === name);
    if (kind === undefined) throw new InvalidArgumentError(`no kind ${name}; there are ${kindNames.join(', ')}.`);
    return kind;
  });
}
