/** The short form of a fault as a test: fewer rounds, the same rules. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Fault, Rounds } from './fault.js';

/** Registers the test; the caller runs it. */
export function testShort(fault: Fault, rounds: number, seed = 1): void {
  test(`${rounds} rounds of ${fault.name} break no rule`, async () => {
    const { figures, broken } = await fault.run(new Rounds(rounds, seed));
    assert.equal(broken, [], JSON.stringify(figures));
  });
}
