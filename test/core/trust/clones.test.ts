import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { trustConstants } from '../../../src/core/evidence/trust-constants.js';
import { joinClones } from '../../../src/core/trust/alike-pairs.js';
import type { VoteSums } from '../../../src/core/trust/sums/vote-sums.js';
import { Witnesses } from '../../../src/core/trust/witnesses.js';

/**
 * Whether two peers are clones that share so many players of the smaller one's, vote 1 on `ups` of them and 0 on the
 * others, and vote the opposite on some.
 */
function areClones(shared: number, of: number, ups: number, opposite = 0): boolean {
  const witnesses = new Witnesses(2, []);
  const [u, uu] = [ups - shared / 2, shared / 4];
  const sums = Float64Array.of(shared, uu - opposite / 2, u, u, uu, uu);
  const votes: Pick<VoteSums, 'reported' | 'showPairs'> = {
    reported: Uint32Array.of(of, 1_000),
    showPairs: (visitor) => visitor(0, 1, sums, 0),
  };
  joinClones(witnesses, votes as VoteSums, trustConstants);
  return witnesses.pairs.length > 0;
}

test('peers that vote alike are clones from 0.7 of the smaller one on, and from 0.9 if every vote is the same', () => {
  assert.equal([areClones(69, 100, 30), areClones(70, 100, 30)], [false, true]);
  assert.equal([areClones(89, 100, 89), areClones(90, 100, 90)], [false, true]);
});

test('clones share thirty players, and differ in at most one vote of a hundred', () => {
  assert.equal([areClones(29, 29, 10), areClones(30, 30, 10)], [false, true]);
  assert.equal([areClones(400, 400, 200, 4), areClones(400, 400, 200, 5)], [true, false]);
});

test.run();
