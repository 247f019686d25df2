/**
 * In a very large group gates are settled from samples of the players, for each peer and pair: what is in them, and
 * what comes of it.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { asOfTime } from '../../../../src/core/evidence/decay.js';
import { cappedMass } from '../../../../src/core/evidence/evidence.js';
import { trustConstants } from '../../../../src/core/evidence/trust-constants.js';
import { pairOf } from '../../../../src/core/tables/pair-number.js';
import { HOME_BITS } from '../../../../src/core/tables/subject-index.js';
import { PairList } from '../../../../src/core/trust/pair-list.js';
import { computePeerTrust } from '../../../../src/core/trust/peer-trust.js';
import { GateSample } from '../../../../src/core/trust/sums/gate-sample.js';
import { MIDDLE } from '../../../../src/core/trust/sums/pair-sums.js';
import { Scratch } from '../../../../src/core/trust/votes/scratch.js';
import { VoteColumns } from '../../../../src/core/trust/votes/votes.js';
import { Witnesses } from '../../../../src/core/trust/witnesses.js';
import { votesOf } from '../../../support/weights.js';
import { drawnView, homeOf, votesOn } from '../drawn-view.js';

const whole = 2 ** HOME_BITS;
const players = 120_000;
const peers = 8;
const constants = { ...trustConstants, sampledPlayers: 4_000, sampledPlayersPerPeer: 0 };
const sampling = { ...constants, gatePlayersPerPair: 1_000, gatePlayersPerPeer: 4_000 };
const unsampled = { ...constants, gatePlayersPerPair: 1e9, gatePlayersPerPeer: 1e9 };
/** These players are examined for all peers, for the log-odds. */
const floor = Math.ceil((constants.sampledPlayers / players) * whole);

/** One entry in five has no mass, and so is no vote. */
const skewed = drawnView(players, peers, {
  skew: 3,
  says: (row, _, draw) => (draw() < 0.2 ? 0 : (draw() < 0.65 === (row % 5 === 0) ? 1 : -1) * (0.1 + draw())),
});
const { subjects } = skewed;
const { excluded } = skewed.peerWeights;

function sampleOf(numbers: typeof sampling, scratch = new Scratch()): GateSample {
  const part = new VoteColumns(excluded, 256, scratch);
  return new GateSample(skewed, asOfTime(skewed, 0), part, floor, numbers, scratch);
}

/** The peers behind each row, and its mix. */
const drawn = Array.from({ length: players }, (_, row) => ({ voters: votesOn(skewed, row), mix: homeOf(row), row }));

function forEachPair(voters: readonly number[], see: (pair: number, j: number, k: number) => void): void {
  for (const [n, k] of voters.entries()) for (const j of voters.slice(0, n)) see(pairOf(j, k), j, k);
}

test('a peer, and a pair, is sampled on a bounded number of players, or on all if there are fewer', () => {
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
    assert.ok(below >= floor && below <= whole, `${below}`);
    if (all < 0.5 * most) assert.is(below, whole, `${all} in all`);
    if (all < 2 * most) return;
    parts++;
    // The number seen in the sixteenth block of rows varies at random.
    const wanted = Math.max(most, (floor / whole) * all);
    assert.ok(Math.abs((below / whole) * all - wanted) < 0.4 * wanted, `${below} of ${all}, for ${most}`);
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

test('contents and sizes of columns of an earlier computation do not affect a sample', () => {
  const scratch = new Scratch();
  const first = sampleOf(sampling, scratch).pairs.slice();
  assert.equal(sampleOf(sampling, scratch.begin()).pairs, first);
  const part = new VoteColumns(excluded, 10_000, new Scratch());
  assert.equal(new GateSample(skewed, asOfTime(skewed, 0), part, floor, sampling, new Scratch()).pairs, first);
  assert.is(part.players, 0);
});

test('a player is sampled if any of its peers or pairs is', () => {
  const sample = sampleOf(sampling);
  let looked = 0;
  for (const { mix, row } of drawn) {
    const first = subjects.firstEntry(row);
    const count = subjects.peerCount(row);
    const behind = Array.from({ length: count }, (_, n) => subjects.entries.peer(first + n));
    let wanted = behind.some((j) => mix < sample.own[j]!) || mix < floor;
    forEachPair(behind, (pair) => {
      wanted ||= mix < sample.pairs[pair]!;
    });
    // One that only the revoked peer reported has no votes.
    if (behind.some((j) => excluded[j] === 0)) assert.is(sample.has(subjects, first, count, mix), wanted, `row ${row}`);
    looked += +wanted;
  }
  assert.ok(looked > players / 20 && looked < players / 2, `${looked}`);
});

test('votes are counted on the players of each peer, agreement on those of each pair', () => {
  const { sums } = votesOf(skewed, 0, sampling);
  const { own, pairs } = sampleOf(sampling);
  const volume = new Float64Array(peers);
  const badVolume = new Float64Array(peers);
  const reported = new Uint32Array(peers);
  const alone = new Uint32Array(peers);
  const pairSums = Array.from(pairs, () => new Float64Array(8));
  for (const { voters, mix, row } of drawn) {
    const first = subjects.firstEntry(row);
    const x = new Map<number, number>();
    for (let e = first; e < first + subjects.peerCount(row); e++) {
      const j = subjects.entries.peer(e);
      if (!voters.includes(j)) continue;
      const mass = subjects.entries.lowering(e) + subjects.entries.raising(e);
      x.set(j, subjects.entries.lowering(e) / mass);
      if (mix >= own[j]!) continue;
      volume[j]! += cappedMass(mass);
      badVolume[j]! += cappedMass(mass) * x.get(j)!;
      reported[j]! += 1;
      if (voters.length === 1) alone[j]! += 1;
    }
    forEachPair(voters, (pair, j, k) => {
      if (mix >= pairs[pair]!) return;
      const u = x.get(j)! - MIDDLE;
      const v = x.get(k)! - MIDDLE;
      for (const [n, term] of [1, u * v, u, v, u * u, v * v].entries()) pairSums[pair]![n]! += term;
    });
  }
  assert.equal(sums.volume, volume);
  assert.equal(sums.badVolume, badVolume);
  const ofAll = (count: number, j: number) => (count === 0 ? 0 : Math.round((count / own[j]!) * whole));
  assert.equal(sums.reported, reported.map(ofAll));
  const centres = { mu: 0.3, own: Float64Array.from({ length: peers }, (_, j) => 0.2 + j / 20) };
  const preTrusted = new Uint8Array(peers);
  const witnesses = new Witnesses(peers);
  const list = new PairList(centres, witnesses, preTrusted, sampling);
  const shared = reported.map((count, j) => ofAll(count - alone[j]!, j));
  for (let j = 0; j < peers; j++) {
    for (let k = j + 1; k < peers; k++) {
      const pair = pairOf(j, k);
      if (pairSums[pair]![0] === 0) continue;
      list.add(j, k, pairSums[pair]!, 0, pairs[pair]! / whole);
      const both = Math.round((pairSums[pair]![0]! / pairs[pair]!) * whole);
      shared[j] = Math.max(shared[j]!, both);
      shared[k] = Math.max(shared[k]!, both);
    }
  }
  const found = new PairList(centres, witnesses, preTrusted, sampling);
  sums.showPairs(found);
  for (const column of ['first', 'second', 'shared', 'agreement', 'weight'] as const) {
    assert.equal(found[column].slice(0, found.count), list[column].slice(0, list.count), column);
  }
  assert.ok(
    found.count > 7 && new Set(found.agreement.slice(0, found.count)).size > 5,
    `${found.agreement.slice(0, found.count)}`,
  );
  assert.equal(
    sums.shared,
    shared.map((count, j) => Math.min(count, sums.reported[j]!)),
  );
});

test('a peer of very many players that shares a hundred of them is never reported to share none', () => {
  // The first two peers share every 1,000th player; of their own each has 60,000.
  const view = drawnView(players, 3, { skew: 1, says: (row, j) => (j === row % 2 || row % 1_000 === 0 ? 1 : 0) });
  const few = { ...sampling, sampledPlayers: 100, gatePlayersPerPeer: 50 };
  const { sums } = votesOf(view, 0, few);
  const both = Array.from({ length: players }, (_, row) => votesOn(view, row)).filter((voters) => voters.length > 1);
  assert.ok(both.length > 20 && both.length < 120, `${both.length}`);
  assert.equal([...sums.shared.slice(0, 2)], [both.length, both.length]);
  assert.ok(sums.reported[0]! > 10_000);
});

test('gates, weights and signals of a sample are nearly those of all votes', () => {
  const right = [0.95, 0.9, 0.9, 0.3, 0.2, 0.65, 0.9, 0.8, 0.9, 0.9, 0.9, 0.9];
  const view = drawnView(players, right.length, {
    skew: 2,
    says: (row, peer, draw) => ((row % 5 === 0) === draw() < right[peer]! ? 1 : -1) * (0.3 + draw()),
  });
  const trustOf = (constants: typeof unsampled) => {
    const votes = votesOf(view, 0, constants);
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
