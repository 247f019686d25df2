/** `npm run fuzz -- --requests N --seed S`: the long form of `fuzz.slow.test.ts`. Exits with 1 at the first failure. */
import { Command, Option } from 'commander';
import { wholeNumber } from '../../bench/measurement.js';
import { fuzz, type Growth } from './fuzz.js';
import { modes } from './modes.js';

const growthMax = 0.05;
/** A shorter run has little or nothing behind its warm-up, and only tells its growth. */
const growthAsked = 300_000;
const progressMs = 10_000;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function growthText(growth: Growth | undefined): string {
  if (growth === undefined) return 'unknown';
  const [from, to, state] = [growth.fromMiB, growth.toMiB, growth.stateMiB].map((one) => one.toFixed(1));
  return `${from} to ${to} MiB, ${state} of it by design; the rest is ${(growth.share * 100).toFixed(1)} %`;
}

interface Options {
  readonly requests: number;
  readonly seed: number;
  readonly mode?: string;
  readonly path?: string;
}

async function run({ requests, seed, mode, path }: Options): Promise<boolean> {
  let holds = true;
  const chosen = modes.filter((one) => mode === undefined || one.name === mode);
  for (const { name, env } of chosen) {
    say(`${name}: ${requests} requests to each of two nodes, seed ${seed}`);
    let toldAt = performance.now();
    const fuzzed = await fuzz({
      seed,
      requests,
      env,
      ...(path === undefined ? {} : { path }),
      onProgress: (sent, memory) => {
        if (performance.now() - toldAt < progressMs) return;
        toldAt = performance.now();
        say(`  ${sent} sent, resident MiB ${memory.map((one) => one?.residentMiB.toFixed(1) ?? '?').join(' and ')}`);
      },
    });
    const statuses = [...fuzzed.answers].sort(([a], [b]) => a - b).map(([status, times]) => `${status}: ${times}`);
    say(`  ${fuzzed.requests} sent; answers of the first node by status: ${statuses.join(', ')}`);
    say(`  ${fuzzed.races} conversations differed while others ran, and not alone`);
    for (const growth of fuzzed.growth) say(`  resident memory of its own after warm-up: ${growthText(growth)}`);
    if (fuzzed.failure !== null) say(`FAILED, mode ${name}: ${fuzzed.failure}`);
    const grew = fuzzed.requests >= growthAsked && !fuzzed.growth.every((one) => one && one.share <= growthMax);
    if (grew) say(`FAILED, mode ${name}: memory grew by more than ${growthMax * 100} %, or its growth is unknown`);
    holds &&= fuzzed.failure === null && !grew;
  }
  return holds;
}

const program = new Command('fuzz')
  .description('Sends requests drawn from the contract to two nodes that differ by the fast path only.')
  .option('--requests <n>', 'about how many, to each node in each mode', wholeNumber(0), 20_000)
  .option('--seed <n>', 'what is drawn', wholeNumber(0), Math.floor(Math.random() * 2 ** 31))
  .addOption(new Option('--mode <name>', 'one instead of all').choices(modes.map(({ name }) => name)))
  .option('--path <path>', "of a failure's report: goes to it at once; with its --seed and --mode")
  .action(async (options: Options) => {
    process.exitCode = (await run(options)) ? 0 : 1;
  });
await program.parseAsync();
