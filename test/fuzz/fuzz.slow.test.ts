/**
 * The face under fuzz, in short: 20,000 requests drawn from the contract. The long form is `npm run fuzz`. FUZZ_SEED
 * draws others; a fixed seed keeps a run of the gate repeatable.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { endAll } from '../support/process.js';
import { fuzz } from './fuzz.js';
import { modes } from './modes.js';

const seed = Number(process.env.FUZZ_SEED ?? 20_261_120);
const requests = Number(process.env.FUZZ_REQUESTS ?? 20_000);

/** Bound of a short run, in which a heap has not settled: only a flood is found. The long form allows 5 %. */
const growthMax = 1;

for (const { name, env } of modes) {
  test(`no request gets an answer outside the contract, a 5xx, or another answer by the other path: ${name}`, async () => {
    const fuzzed = await fuzz({ seed, requests: Math.ceil(requests / modes.length), env });
    assert.is(fuzzed.failure, null, fuzzed.failure ?? '');
    assert.ok(fuzzed.requests >= requests / modes.length);
    for (const status of [200, 201, 400, 404, 405]) assert.ok(fuzzed.answers.has(status), `nothing drew a ${status}`);
    for (const growth of fuzzed.growth)
      assert.ok(growth === undefined || growth.share < growthMax, `memory grew by ${growth?.share}`);
  });
}

test.after(endAll);
test.run();
