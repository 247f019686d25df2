/** Rules of the whole computation on small groups. Expected values follow by hand from the scoring page. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readOut } from '../../../bench/quality/readout.js';
import { peerTrustOf } from '../../../src/core/trust/peer-trust.js';
import { referenceConstants, trustConstants } from '../../../src/core/trust-constants.js';
import { bad, type Entry, evidenceOf, factsOf, good, honestGroup, seeded } from './small-groups.js';

function trustOf(
  peers: number,
  rows: readonly (readonly Entry[])[],
  preTrusted: number[] = [],
  excluded: number[] = [],
) {
  return peerTrustOf(evidenceOf(peers, rows), factsOf(peers, preTrusted, excluded));
}

const firstOf = (values: Float64Array, count: number) => [...values.subarray(0, count)];

test('two peers without pre-trust keep an open gate, even where they differ on everyone', () => {
  const trust = trustOf(2, new Array<Entry[]>(20).fill([bad(0), good(1)]));
  assert.equal([...trust.tau], [1, 1]);
});

test('a lone peer keeps the prior: A = B = 1.4, weight .7', () => {
  const trust = trustOf(1, [[bad(0)]]);
  assert.is(trust.tau[0], 1);
  assert.ok(Math.abs(trust.a[0]! - 1.4) < 1e-12);
  assert.ok(Math.abs(trust.b[0]! - 1.4) < 1e-12);
  assert.ok(Math.abs(trust.weight[0]! - 0.7) < 1e-12);
  // What nobody else saw says nothing of the share of bad players, which keeps its prior.
  assert.ok(Math.abs(trust.pi - 0.2) < 1e-12);
});

test('a group without peers, and one without players, has the prior share of bad players', () => {
  const none = trustOf(0, []);
  assert.equal([none.tau.length, none.weight.length, none.pairs.length], [0, 0, 0]);
  assert.ok(Math.abs(none.pi - 0.2) < 1e-15);
  const idle = trustOf(3, []);
  assert.equal([...idle.tau], [1, 1, 1]);
  assert.ok(Math.abs(idle.pi - 0.2) < 1e-15);
});

test('where all peers are excluded nothing is left of them', () => {
  const trust = trustOf(3, honestGroup(3, 30).rows, [], [0, 1, 2]);
  for (const column of [trust.tau, trust.a, trust.b, trust.weight]) assert.equal([...column], [0, 0, 0]);
  assert.equal(trust.pairs, []);
  assert.ok(Math.abs(trust.pi - 0.2) < 1e-15);
});

test('an excluded peer counts as if it had never sent anything', () => {
  const { rows } = honestGroup(5, 100);
  const attacked = rows.map((row, i) => [...row, i % 5 === 0 ? good(5) : bad(5)]);
  const alone = trustOf(5, rows);
  const beside = trustOf(6, attacked, [], [5]);
  for (const column of ['tau', 'a', 'b', 'weight'] as const) {
    assert.equal(firstOf(beside[column], 5), [...alone[column]], column);
    assert.is(beside[column][5], 0);
  }
  assert.is(beside.pi, alone.pi);
});

test('an excluded peer is not pre-trusted', () => {
  const { rows } = honestGroup(5, 100);
  const without = trustOf(
    5,
    rows.map((row) => row.filter(([peer]) => peer !== 0)),
  );
  const revoked = trustOf(5, rows, [0], [0]);
  assert.equal([...revoked.tau.subarray(1)], [...without.tau.subarray(1)]);
});

test('idle peers move nothing, few or thousands', () => {
  const { rows } = honestGroup(6, 150);
  const alone = trustOf(6, rows);
  const manyPeers = trustConstants.densePeersMax + 1;
  for (const peers of [16, manyPeers]) {
    const beside = trustOf(peers, rows);
    for (const column of ['tau', 'a', 'b', 'weight'] as const) {
      assert.equal(firstOf(beside[column], 6), [...alone[column]], `${column} beside ${peers - 6} idle peers`);
    }
    assert.is(beside.pi, alone.pi);
  }
});

test('sums kept dense and sums kept sparse give the same bits', () => {
  const { rows } = honestGroup(12, 200, 7);
  const lied = rows.map((row, i) => (i % 3 === 0 ? [bad(13), ...row, bad(12)] : row));
  const dense = trustOf(trustConstants.densePeersMax, lied);
  const sparse = trustOf(trustConstants.densePeersMax + 1, lied);
  assert.equal(firstOf(sparse.tau, 14), firstOf(dense.tau, 14));
  assert.equal(sparse.pairs, dense.pairs);
});

test('ten peers with one invented player each do not move the gates of the rest', () => {
  const { rows } = honestGroup(5, 100);
  const invented = Array.from({ length: 10 }, (_, i) => [bad(5 + i)]);
  const alone = trustOf(5, rows);
  const beside = trustOf(15, [...rows, ...invented]);
  assert.equal(firstOf(beside.tau, 5), [...alone.tau]);
});

/** By how much the weights of the first peers differ at most. */
function mostMoved(count: number, from: ReturnType<typeof trustOf>, to: ReturnType<typeof trustOf>): number {
  const moved = (['tau', 'a', 'b'] as const).flatMap((column) =>
    firstOf(from[column], count).map((value, j) => Math.abs(value - to[column][j]!)),
  );
  return Math.max(...moved);
}

test('a peer that shares no player moves no weight of the rest, however many players it invents', () => {
  const { rows } = honestGroup(5, 200);
  const idle = trustOf(6, rows);
  for (const badOfTen of [0, 1, 5, 10]) {
    const invented = Array.from({ length: 1000 }, (_, i): Entry[] => [i % 10 < badOfTen ? bad(5) : good(5)]);
    const moved = mostMoved(5, idle, trustOf(6, [...rows, ...invented]));
    assert.ok(moved <= trustConstants.publishStep, `${moved} with ${badOfTen} bad of ten`);
  }
});

test('in a group that only reports, one that praises players of its own counts with a hundred of them', () => {
  const { rows } = honestGroup(5, 200);
  const reports = rows.map((row) => row.filter(([, lowering]) => lowering > 0));
  const beside = (count: number) => trustOf(6, [...reports, ...new Array<Entry[]>(count).fill([good(5)])]);
  const hundred = beside(100);
  assert.ok(mostMoved(5, hundred, beside(5000)) < 1e-9);
  assert.ok(Math.abs(hundred.pi - beside(5000).pi) < 1e-9);
});

test('honest peers have open gates and votes that count', () => {
  const trust = trustOf(5, honestGroup(5, 200).rows);
  assert.equal([...trust.tau], [1, 1, 1, 1, 1]);
  for (const weight of trust.weight) assert.ok(weight > 0.7, `${weight}`);
});

test('a known liar counts for nothing and is not inverted', () => {
  const { rows, isBad } = honestGroup(5, 200);
  const unknown: Entry[] = [bad(5)];
  const lied = [...rows.map((row, i) => [...row, isBad[i] ? good(5) : bad(5)]), unknown];
  const evidence = evidenceOf(6, lied);
  const facts = factsOf(6);
  const trust = peerTrustOf(evidence, facts);
  assert.is(trust.tau[5], 0);
  assert.is(trust.weight[5], 0);
  assert.ok(trust.a[5]! >= 0 && trust.b[5]! >= 0);
  // Reporting a friend does not whitewash it.
  assert.is(readOut(evidence, facts, trust).score.at(-1), 50);
});

test('two colluders with invented players lose their gates, and are named as a pair', () => {
  const { rows, isBad } = honestGroup(6, 200);
  const lied = rows.map((row, i) =>
    i % 4 === 0 ? [...row, ...[6, 7].map((j) => (isBad[i] ? good(j) : bad(j)))] : row,
  );
  const invented = Array.from({ length: 300 }, (_, i) => [6, 7].map((j) => (i % 2 === 0 ? good(j) : bad(j))));
  const trust = trustOf(8, [...lied, ...invented]);
  assert.equal(firstOf(trust.tau, 6), [1, 1, 1, 1, 1, 1]);
  assert.ok(trust.tau[6]! < 0.1 && trust.tau[7]! < 0.1, `${trust.tau[6]} ${trust.tau[7]}`);
  assert.equal(
    trust.pairs.map(({ first, second, shared }) => [first, second, shared]),
    [[6, 7, 350]],
  );
});

test('of many discounted pairs the hundred strongest are named, the strongest first', () => {
  // 40 colluders among themselves are 780 pairs; peer j lies about the first 100 + j players.
  const { rows, isBad } = honestGroup(60, 200);
  const lied = rows.map((row, i) => {
    const liars = Array.from({ length: 40 }, (_, l) => l).filter((l) => i < 100 + l);
    return [...row, ...liars.map((l) => (isBad[i] ? good(60 + l) : bad(60 + l)))];
  });
  const { pairs } = trustOf(100, lied);
  assert.is(pairs.length, trustConstants.pairsReportedMax);
  // All gates are shut and all weights full: strength follows n / (n + 3), the least number of lies of the two.
  assert.equal([pairs[0]!.first, pairs[0]!.second, pairs[0]!.shared], [98, 99, 138]);
  for (let p = 1; p < pairs.length; p++) assert.ok(pairs[p]!.shared <= pairs[p - 1]!.shared);
});

test('pre-trusted peers keep an open gate and the floor of log-odds; trust is earned through overlap with them', () => {
  const { rows, isBad } = honestGroup(4, 200);
  const lied = rows.map((row, i) => [...row, ...[4, 5, 6, 7, 8, 9].map((j) => (isBad[i] ? good(j) : bad(j)))]);
  const apart = [[bad(10), bad(11)]];
  const trust = trustOf(12, [...lied, ...apart], [0]);
  assert.is(trust.tau[0], 1);
  assert.ok(trust.a[0]! >= 1.4 && trust.b[0]! >= 1.4);
  for (const j of [1, 2, 3]) assert.ok(trust.tau[j]! > 0.9, `peer ${j}: ${trust.tau[j]}`);
  for (const j of [4, 5, 6, 7, 8, 9, 10, 11]) assert.is(trust.tau[j], 0);
});

test('a peer that hardly agrees with the pre-trusted one vouches for nobody', () => {
  // Peers 0 and 1 agree on 21 of 40 players: r = 2/40, a = .05 (40/60) / .2 = .17, rho = 10 a / 16 = .10, less than half
  // of the least reference, .3. Peer 2 agrees with peer 1 on 40 others, and shares none with the pre-trusted peer.
  const shared = (count: number, row: Entry[]) => new Array<Entry[]>(count).fill(row);
  const rows = [
    ...shared(11, [bad(0), bad(1)]),
    ...shared(10, [good(0), good(1)]),
    ...shared(10, [bad(0), good(1)]),
    ...shared(9, [good(0), bad(1)]),
    ...shared(20, [bad(1), bad(2)]),
    ...shared(20, [good(1), good(2)]),
  ];
  const { tau } = trustOf(3, rows, [0]);
  assert.is(tau[0], 1);
  assert.ok(tau[1]! > 0.3 && tau[1]! < 0.5, `${tau[1]}`);
  assert.is(tau[2], 0);
  // Peers 0 and 1 agreeing on 30 of 40 open the gates of both.
  const agreeing = [
    ...rows.slice(0, 21),
    ...shared(9, [bad(0), bad(1)]),
    ...shared(10, [bad(0), good(1)]),
    ...rows.slice(40),
  ];
  assert.equal([...trustOf(3, agreeing, [0]).tau], [1, 1, 1]);
});

test('a newcomer in an established group has the prior of a newcomer anywhere', () => {
  // Peer 5 has one vote on a player that nobody else knows: z = 0, so that A = logit ppv - logit pi = 1.4 nearly.
  const { rows } = honestGroup(5, 300);
  const trust = trustOf(7, [...rows, [bad(5)]]);
  assert.ok(Math.abs(trust.a[6]! - 1.4) < 1e-9 && Math.abs(trust.b[6]! - 1.4) < 1e-9, 'a peer without votes');
  assert.ok(Math.abs(trust.a[5]! - 1.4) < 0.1, `${trust.a[5]}`);
  assert.ok(Math.abs(trust.b[5]! - 1.4) < 1e-9, `${trust.b[5]}`);
});

test('the prior of a peer that votes both ways leans towards what its group is like', () => {
  const random = seeded(5);
  // Peers 0 to 4 are right in nine of ten; or in 65 of 100. Peer 5 votes bad on 3 players and good on 9, as they do.
  const oddsAmong = (right: number) => {
    const rows = Array.from({ length: 400 }, (_, i): Entry[] => {
      const votes = [0, 1, 2, 3, 4].map((j) => ((i % 4 === 0) === random() < right ? bad(j) : good(j)));
      return i < 12 ? [...votes, i % 4 === 0 ? bad(5) : good(5)] : votes;
    });
    return trustOf(6, rows).a[5]!;
  };
  assert.ok(oddsAmong(0.9) > oddsAmong(0.65));
});

test('one peer with very many votes does not set the prior of its group', () => {
  const { rows } = honestGroup(5, 200);
  const small: Entry[][] = Array.from({ length: 12 }, (_, i) => [i % 3 === 0 ? bad(6) : good(6), good(0)]);
  const flood = Array.from({ length: 20_000 }, (_, i): Entry[] => [i % 2 === 0 ? bad(5) : good(5)]);
  const alone = trustOf(7, [...rows, ...small]);
  const beside = trustOf(7, [...rows, ...small, ...flood]);
  assert.ok(Math.abs(beside.a[6]! - alone.a[6]!) < 0.5, `${alone.a[6]}, ${beside.a[6]}`);
});

test("the reference's numbers differ from a node's own only where a decision says so", () => {
  const differing = Object.keys(trustConstants).filter(
    (name) =>
      referenceConstants[name as keyof typeof trustConstants] !== trustConstants[name as keyof typeof trustConstants],
  );
  assert.equal(differing.sort(), [
    'agreementPrior',
    'badShareAlone',
    'badVoteGain',
    'correlationPrior',
    'corroborationFloor',
    'gateReferenceMinPreTrusted',
    'groupPriorPart',
    'groupVotesMax',
    'priorVotes',
    'repeatsFrom',
    'sharedMax',
    'vouchesFrom',
  ]);
});

test('the same input twice gives the same bits', () => {
  const { rows } = honestGroup(9, 300, 3);
  assert.equal(trustOf(9, rows, [2]), trustOf(9, rows, [2]));
});

test('another order of players and entries gives the same values to rounding', () => {
  const { rows } = honestGroup(9, 300, 3);
  const forth = trustOf(9, rows);
  const back = trustOf(9, rows.map((row) => row.toReversed()).reverse());
  for (const column of ['tau', 'a', 'b', 'weight'] as const) {
    for (let j = 0; j < 9; j++) {
      assert.ok(Math.abs(forth[column][j]! - back[column][j]!) < 1e-9, `${column} of ${j}`);
    }
  }
});

test('values stay in their ranges where evidence is tiny, huge or one-sided', () => {
  const rows = Array.from({ length: 60 }, (_, i): Entry[] => [
    [0, 1e-300, 0],
    [1, 1e12, i],
    [2, 0, 5e-324],
    [3, i, 60 - i],
  ]);
  for (const preTrusted of [[], [1]]) {
    const trust = trustOf(4, rows, preTrusted);
    for (const t of trust.tau) assert.ok(t >= 0 && t <= 1);
    for (const value of [...trust.a, ...trust.b]) assert.ok(value >= 0 && value <= 3.5);
    for (const weight of trust.weight) assert.ok(weight >= 0 && weight <= 1);
    assert.ok(trust.pi > 0 && trust.pi < 1);
  }
});

test.run();
