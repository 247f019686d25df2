/** In a very large group the gate of each peer is settled from a sample of its players: what is in it, and what comes of it. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { unit } from '../../../src/core/evidence.js';
import { HOME_BITS } from '../../../src/core/subject-index.js';
import { GateSample } from '../../../src/core/trust/gate-sample.js';
import { gatherVotes } from '../../../src/core/trust/gather.js';
import { pairOf } from '../../../src/core/trust/pair-number.js';
import { computePeerTrust } from '../../../src/core/trust/peer-trust.js';
import { Scratch } from '../../../src/core/trust/scratch.js';
import { trustConstants } from '../../../src/core/trust-constants.js';
import { drawnView, homeOf, votesOn } from './drawn-view.js';

const whole = 2 ** HOME_BITS;
const players = 120_000;
const peers = 8;
const constants = { ...trustConstants, sampledPlayers: 20_000, sampledPlayersPerPeer: 0 };
const sampling = { ...constants, gatePlayersPerPair: 1_000, gatePlayersPerPeer: 4_000 };
const unsampled = { ...constants, gatePlayersPerPair: 1e9, gatePlayersPerPeer: 1e9 };

/** Everything has mass, so that each entry but those of the revoked peer is a vote. */
const skewed = drawnView(players, peers, {
  skew: 3,
  says: (row, _, draw) => (row % 5 === 0 ? 1 : -1) * (0.1 + draw()),
});
const { excluded } = skewed.peerWeights;

function sampleOf(numbers: typeof sampling): GateSample {
  return new GateSample(skewed.subjects, excluded, numbers, () => undefined);
}

/** The peers behind each row, and its mix. */
const drawn = Array.from({ length: players }, (_, row) => ({ voters: votesOn(skewed, row), mix: homeOf(row), row }));

function forEachPair(voters: readonly number[], see: (pair: number) => void): void {
  for (const [n, k] of voters.entries()) for (const j of voters.slice(0, n)) see(pairOf(j, k));
}

test('a peer, and a pair, is looked at on about so many of its players, and on all where it has no more', () => {
  const { own, pairs } = sampleOf(sampling);
  const reported = new Float64Array(peers);
  const shared = new Float64Array(pairs.length);
  for (const { voters } of drawn) {
    for (const j of voters) reported[j]! += 1;
    forEachPair(voters, (pair) => {
      shared[pair]! += 1;
    });
  }
  let parts = 0;
  const isLookedAt = (below: number, all: number, most: number) => {
    if (all < 0.5 * most) assert.is(below, whole, `${all} in all`);
    if (all < 2 * most) return;
    parts++;
    // What is seen of it in the sixteenth block of rows differs by chance.
    assert.ok(Math.abs((below / whole) * all - most) < 0.4 * most, `${below} of ${all}, for ${most}`);
  };
  for (let k = 0; k < peers; k++) {
    if (excluded[k] === 0) isLookedAt(own[k]!, reported[k]!, sampling.gatePlayersPerPeer);
    else assert.is(own[k], 0, 'a revoked one on none');
    for (let j = 0; j < k; j++) {
      const pair = pairOf(j, k);
      if ((excluded[j]! | excluded[k]!) === 0) isLookedAt(pairs[pair]!, shared[pair]!, sampling.gatePlayersPerPair);
      else assert.is(pairs[pair], 0);
    }
  }
  assert.ok(parts > 8, `${parts}`);
  assert.ok(sampleOf(unsampled).pairs.every((below) => below === 0 || below === whole));
});

test('a player is looked at where any of its peers or pairs is', () => {
  const sample = sampleOf(sampling);
  const { subjects } = skewed;
  let looked = 0;
  for (const { voters, mix, row } of drawn) {
    let wanted = voters.some((j) => mix < sample.own[j]!);
    forEachPair(voters, (pair) => {
      wanted ||= mix < sample.pairs[pair]!;
    });
    const has = sample.has(subjects, subjects.firstEntry(row), subjects.peerCount(row), mix);
    // One that only the revoked peer reported has no votes to look at.
    if (voters.length > 0) assert.is(has, wanted, `row ${row}`);
    assert.ok(!has || mix < sample.most);
    looked += +has;
  }
  assert.ok(looked > players / 20 && looked < players / 2, `${looked}`);
});

test('votes are counted on the players of each peer, agreement on those of each pair', () => {
  const { sums } = gatherVotes(skewed, 0, sampling, new Scratch());
  const { own, pairs } = sampleOf(sampling);
  const volume = new Float64Array(peers);
  const reported = new Uint32Array(peers);
  const alone = new Uint32Array(peers);
  const agreeing = new Uint32Array(pairs.length);
  const { subjects } = skewed;
  for (const { voters, mix, row } of drawn) {
    const first = subjects.firstEntry(row);
    for (let e = first; e < first + subjects.peerCount(row); e++) {
      const j = subjects.entries.peer(e);
      if (mix >= own[j]!) continue;
      volume[j]! += unit(subjects.entries.lowering(e) + subjects.entries.raising(e));
      reported[j]! += 1;
      if (voters.length === 1) alone[j]! += 1;
    }
    forEachPair(voters, (pair) => {
      if (mix < pairs[pair]!) agreeing[pair]! += 1;
    });
  }
  const ofAll = (counts: Uint32Array) =>
    counts.map((count, j) => (count === 0 ? 0 : Math.round((count / own[j]!) * whole)));
  assert.equal(sums.volume, volume);
  assert.equal(sums.reported, ofAll(reported));
  assert.equal(sums.shared, ofAll(reported.map((count, j) => count - alone[j]!)));
  const even = { mu: 0.5, own: new Float64Array(peers).fill(0.5) };
  const { count, first, second, shared } = sums.pairs(even, new Uint8Array(peers));
  const told = new Uint32Array(pairs.length);
  for (let p = 0; p < count; p++) told[pairOf(first[p]!, second[p]!)] = shared[p]!;
  assert.equal(
    told,
    agreeing.map((n, pair) => (n === 0 ? 0 : Math.round(n / (pairs[pair]! / whole)))),
  );
});

test('gates and weights of a sample are nearly those of all votes, and what operators are told too', () => {
  const right = [0.95, 0.9, 0.9, 0.3, 0.2, 0.65, 0.9, 0.8, 0.9, 0.9, 0.9, 0.9];
  const view = drawnView(players, right.length, {
    skew: 2,
    says: (row, peer, draw) => ((row % 5 === 0) === draw() < right[peer]! ? 1 : -1) * (0.3 + draw()),
  });
  const trustOf = (constants: typeof unsampled) => {
    const votes = gatherVotes(view, 0, constants, new Scratch());
    return { sums: votes.sums, trust: computePeerTrust(votes, constants, new Scratch()) };
  };
  const all = trustOf(unsampled);
  const part = trustOf(sampling);
  assert.not.equal(part.sums.volume, all.sums.volume);
  for (const column of ['tau', 'weight'] as const) {
    for (const [j, value] of all.trust[column].entries()) {
      assert.ok(
        Math.abs(value - part.trust[column][j]!) < 0.05,
        `${column} of ${j}: ${value}, ${part.trust[column][j]}`,
      );
    }
  }
  assert.ok(all.trust.tau[3]! < 0.2 && all.trust.tau[4]! < 0.2 && all.trust.tau[1]! > 0.9, `${all.trust.tau}`);
  for (const column of ['reported', 'shared'] as const) {
    const estimated = part.sums[column];
    for (const [j, count] of all.sums[column].entries()) {
      assert.ok(Math.abs(estimated[j]! - count) <= 0.05 * count, `${column} of ${j}: ${count}, ${estimated[j]}`);
    }
  }
  const pairs = new Map(all.trust.pairs.map(({ first, second, shared }) => [`${first} ${second}`, shared]));
  for (const { first, second, shared } of part.trust.pairs) {
    const count = pairs.get(`${first} ${second}`);
    if (count !== undefined)
      assert.ok(Math.abs(shared - count) <= 0.2 * count, `${first} ${second}: ${count}, ${shared}`);
  }
  assert.ok(part.trust.pairs.length > 0);
});

test.run();
