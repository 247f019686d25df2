/**
 * `npm run sim -- --seed N --operations N`: lives of simulated groups, one seed after the other, until so many
 * operations were asked. A signal ends it with what was found so far.
 */
import { parseArgs } from 'node:util';
import { operationsPerSeed, simulate } from './simulate.js';

const usage = 'usage: npm run sim -- [--seed N] [--operations N]';

function whole(text: string, name: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  process.stderr.write(`--${name} must be a whole number\n${usage}\n`);
  process.exit(2);
}

function asked(): { readonly seed: number; readonly operations: number } {
  const text = (fallback: number) => ({ type: 'string', default: String(fallback) }) as const;
  try {
    const { values } = parseArgs({ options: { seed: text(1), operations: text(operationsPerSeed) } });
    return { seed: whole(values.seed, 'seed'), operations: whole(values.operations, 'operations') };
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n${usage}\n`);
    process.exit(2);
  }
}

const ending = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => ending.abort());
const ok = await simulate({
  ...asked(),
  write: (text) => process.stdout.write(text),
  signal: ending.signal,
});
process.exitCode = ok ? 0 : 1;
