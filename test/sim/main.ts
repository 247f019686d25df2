/**
 * `npm run sim -- --seed N --operations N`: lives of simulated groups, one seed after the other, until so many
 * operations were asked. `npm run sim -- cluster --seed N --faults N`: lives of simulated clusters, until so many
 * faults have happened. A signal ends it with what was found so far.
 */
import { parseArgs } from 'node:util';
import { simulateCluster } from './cluster/simulate-cluster.js';
import { operationsPerSeed, simulate } from './simulate.js';

const usage = 'usage: npm run sim -- [--seed N] [--operations N], or: npm run sim -- cluster [--seed N] [--faults N]';
const faultsOfCluster = 10_000;

function whole(text: string, name: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  process.stderr.write(`--${name} must be a whole number\n${usage}\n`);
  process.exit(2);
}

interface Asked {
  readonly seed: number;
  readonly operations: number;
  readonly faults: number;
  readonly isCluster: boolean;
}

function asked(): Asked {
  const text = (fallback: number) => ({ type: 'string', default: String(fallback) }) as const;
  try {
    const options = { seed: text(1), operations: text(operationsPerSeed), faults: text(faultsOfCluster) };
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    const [what, ...others] = positionals;
    if (others.length > 0 || (what !== undefined && what !== 'cluster')) throw new Error(`unknown: ${positionals}`);
    return {
      seed: whole(values.seed, 'seed'),
      operations: whole(values.operations, 'operations'),
      faults: whole(values.faults, 'faults'),
      isCluster: what === 'cluster',
    };
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n${usage}\n`);
    process.exit(2);
  }
}

const ending = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => ending.abort());
const { isCluster, ...given } = asked();
const simulation = { ...given, write: (text: string) => process.stdout.write(text), signal: ending.signal };
const ok = await (isCluster ? simulateCluster(simulation) : simulate(simulation));
process.exitCode = ok ? 0 : 1;
