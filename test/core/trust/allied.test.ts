import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { trustConstants } from '../../../src/core/evidence/trust-constants.js';
import { joinAllied } from '../../../src/core/trust/alike-pairs.js';
import { BOTH_MEASURE } from '../../../src/core/trust/sums/pair-sums.js';
import type { VoteSums } from '../../../src/core/trust/sums/vote-sums.js';
import { Witnesses } from '../../../src/core/trust/witnesses.js';

const players = 10_000;

/**
 * Whether the first two of peers with 10,000 measures each are allied, who share `close` of them with each other, and
 * with each of the others what `usual` lists.
 */
function areAllied(close: number, usual: readonly number[]): boolean {
  const peers = usual.length + 2;
  const witnesses = new Witnesses(peers, []);
  const sums: Pick<VoteSums, 'measured' | 'showPairs'> = {
    measured: new Uint32Array(peers).fill(players),
    showPairs: (visitor) => {
      const sumsOf = (both: number) => new Float64Array(8).fill(both, BOTH_MEASURE);
      visitor(0, 1, sumsOf(close), 0);
      for (const [i, both] of usual.entries())
        for (const peer of [0, 1]) if (both > 0) visitor(peer, i + 2, sumsOf(both), 0);
    },
  };
  joinAllied(witnesses, sums as VoteSums, trustConstants);
  return witnesses.pairs.length > 0;
}

test('peers are allied that share so many times what is usual for either: the median of its other peers', () => {
  const { alliedTimes: times } = trustConstants;
  for (const [usual, median] of [
    [[0, 2000, 2400], 2000],
    [[0, 1600, 2400, 3000], 2000],
    [[0, 0, 3600, 3800], 1800],
    [[0, 0, 900], 0],
  ] as const) {
    const least = Math.max(times * median, trustConstants.alliedShare * players);
    assert.equal([areAllied(least - 1, usual), areAllied(least, usual)], [false, true], usual.join());
  }
});

test('a pair is compared with others: without any other peer that measured it is not allied', () => {
  assert.not.ok(areAllied(players, []));
  assert.ok(areAllied(players, [0]));
});

test.run();
