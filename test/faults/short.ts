/** The short form of a fault as a test: fewer rounds, the same rules. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Fault, Rounds } from './fault.js';

/** Registers the test; the caller runs it. */
export function testShort(fault: Fault, rounds: number, seed = 1): void {
  test(`${rounds} rounds of ${fault.name} break no rule`, async () => {
    const all = new Rounds(rounds, seed);
    await fault.run(all);
    const { figures, broken } = all.tally.findings();
    assert.equal(broken, [], JSON.stringify(figures));
  });
}
