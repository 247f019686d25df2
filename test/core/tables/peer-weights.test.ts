/** The columns of weights after each record equal those that a snapshot computes anew. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { PeerWeights } from '../../../src/core/tables/peer-weights.js';
import { Given } from '../../support/given.js';

function assertFresh(given: Given, what: string): void {
  const fresh = new PeerWeights();
  fresh.refresh(given.state);
  for (const [name, column] of Object.entries(fresh)) {
    if (!ArrayBuffer.isView(column)) continue;
    const held = given.state.peerWeights[name as 'tau'].subarray(0, given.state.numbers);
    assert.equal(held, (column as Float64Array).subarray(0, given.state.numbers), `${name} ${what}`);
  }
}

test('a peer that registers has weights at once, before any were computed and afterwards', () => {
  const given = new Given().peers(2);
  assertFresh(given, 'before the first weights');
  given.weigh();
  assertFresh(given, 'of known peers');
  given.peers(1);
  assertFresh(given, 'after a further registration');
  // The columns begin with room for 64 peers.
  given.peers(70);
  assertFresh(given, 'after the columns grew');
});

test.run();
