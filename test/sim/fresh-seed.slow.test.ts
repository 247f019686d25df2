/** Simulated lives of a group that were never lived before. The run of all tests shows the seed: it repeats them. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { simulate } from './lives.js';

const operations = 50_000;
const seed = 1_000_000 + (Date.now() % 1_000_000_000);

test('no life of seeds never drawn before differs from the oracle', async () => {
  const write = (text: string) => void process.stdout.write(text);
  write(`NOTE: fresh seed: npm run sim -- --seed ${seed} --operations ${operations}\n`);
  assert.ok(await simulate({ seed, operations, write }));
});

test.run();
