/** Rules of the whole computation on small groups. Expected values follow by hand from the scoring page. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { peerTrustOf } from '../../../bench/quality/evidence-columns.js';
import { readOut } from '../../../bench/quality/readout.js';
import { trustConstants } from '../../../src/core/evidence/trust-constants.js';
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

test('a lone peer that only reports has the constants of such a peer', () => {
  const trust = trustOf(1, [[bad(0)]]);
  assert.equal([trust.tau[0], trust.a[0], trust.b[0], trust.z[0]], [1, 1.25, 0.4, 0]);
  assert.ok(Math.abs(trust.weight[0]! - 1.65 / 4) < 1e-12);
  // Players that no two-sided peer reported say nothing about the share of bad players, which keeps its prior.
  assert.is(trust.pi, 0.04);
});

test('a group without peers or players has the prior share of bad players and no weights', () => {
  const none = trustOf(0, []);
  assert.equal([none.tau.length, none.weight.length, none.pairs.length], [0, 0, 0]);
  assert.is(none.pi, 0.04);
  const idle = trustOf(3, []);
  assert.equal([...idle.tau, ...idle.weight], [0, 0, 0, 0, 0, 0]);
  assert.is(idle.pi, 0.04);
});

test('if all peers are excluded nothing is left of them', () => {
  const trust = trustOf(3, honestGroup(3, 30).rows, [], [0, 1, 2]);
  for (const column of [trust.tau, trust.a, trust.b, trust.weight]) assert.equal([...column], [0, 0, 0]);
  assert.equal(trust.pairs, []);
  assert.is(trust.pi, 0.04);
});

/** The weights of the first peers are those of a group without the others, bit for bit. */
function assertSame(beside: ReturnType<typeof trustOf>, alone: ReturnType<typeof trustOf>, what: string): void {
  for (const column of ['tau', 'a', 'b', 'z', 'weight'] as const) {
    assert.equal(firstOf(beside[column], alone.tau.length), [...alone[column]], `${column} ${what}`);
  }
  assert.equal([beside.pi, beside.pairs], [alone.pi, alone.pairs], what);
}

test('an excluded peer counts as if it had never sent anything, pre-trusted or not', () => {
  const { rows } = honestGroup(5, 100);
  const attacked = rows.map((row, i) => [...row, i % 5 === 0 ? good(5) : bad(5)]);
  for (const preTrusted of [[], [5]]) {
    const beside = trustOf(6, attacked, preTrusted, [5]);
    assertSame(beside, trustOf(5, rows), `beside one that is pre-trusted: ${preTrusted}`);
    for (const column of ['tau', 'a', 'b', 'z', 'weight'] as const) assert.is(beside[column][5], 0);
  }
});

test('idle peers move nothing, few or so many that sums are sparse', () => {
  const { rows } = honestGroup(6, 150);
  const lied = rows.map((row, i) => (i % 3 === 0 ? [...row, bad(6)] : row));
  for (const peers of [16, trustConstants.densePeersMax + 1])
    assertSame(trustOf(peers, lied), trustOf(7, lied), `beside ${peers - 7} idle peers`);
});

/** By how much the weights of the first peers differ at most. */
function mostMoved(count: number, from: ReturnType<typeof trustOf>, to: ReturnType<typeof trustOf>): number {
  const moved = (['tau', 'a', 'b'] as const).flatMap((column) =>
    firstOf(from[column], count).map((value, j) => Math.abs(value - to[column][j]!)),
  );
  return Math.max(...moved);
}

test('a peer that shares no player moves no weight of the others, however many players it invents', () => {
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

test('two colluders that say the same about all players are one witness without a gate', () => {
  const { rows, isBad } = honestGroup(6, 200);
  const lied = rows.map((row, i) =>
    i % 4 === 0 ? [...row, ...[6, 7].map((j) => (isBad[i] ? good(j) : bad(j)))] : row,
  );
  const invented = Array.from({ length: 300 }, (_, i) => [6, 7].map((j) => (i % 2 === 0 ? good(j) : bad(j))));
  const trust = trustOf(8, [...lied, ...invented]);
  assert.equal(firstOf(trust.tau, 6), [1, 1, 1, 1, 1, 1]);
  assert.ok(trust.tau[6]! < 0.1 && trust.tau[7]! < 0.1, `${trust.tau[6]} ${trust.tau[7]}`);
  assert.equal([...trust.witness], [0, 1, 2, 3, 4, 5, 6, 6]);
});

test('of many discounted pairs the hundred strongest are named', () => {
  // 40 liars agree with one another, each about six players of ten of its own, and but for a fifth of these; so they
  // are no clones.
  const { rows, isBad } = honestGroup(60, 200);
  const random = seeded(4);
  const lied = rows.map((row, i) => {
    const liars = Array.from({ length: 40 }, (_, l) => l).filter(() => random() < 0.6);
    return [...row, ...liars.map((l) => (isBad[i] === random() < 0.8 ? good(60 + l) : bad(60 + l)))];
  });
  const { pairs } = trustOf(100, lied);
  assert.is(pairs.length, trustConstants.pairsReportedMax);
  for (const { first, second, shared, agreement } of pairs) {
    assert.ok(first >= 60 && second > first);
    assert.ok(shared > 40 && agreement > 0.5, `${shared}, ${agreement}`);
  }
});

test('pre-trusted peers keep an open gate and minimum log-odds, and others earn trust by overlap', () => {
  const { rows, isBad } = honestGroup(4, 200);
  const lied = rows.map((row, i) => [...row, ...[4, 5, 6, 7, 8, 9].map((j) => (isBad[i] ? good(j) : bad(j)))]);
  const apart = [[bad(10), bad(11)]];
  const trust = trustOf(12, [...lied, ...apart], [0]);
  assert.is(trust.tau[0], 1);
  assert.ok(trust.a[0]! >= 1.4 && trust.b[0]! >= 1.4);
  for (const j of [1, 2, 3]) assert.ok(trust.tau[j]! > 0.9, `peer ${j}: ${trust.tau[j]}`);
  for (const j of [4, 5, 6, 7, 8, 9, 10, 11]) assert.is(trust.tau[j], 0);
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
    for (const value of trust.z) assert.ok(value >= 0 && value < 1);
    for (const weight of trust.weight) assert.ok(weight >= 0 && weight <= 1);
    assert.ok(trust.pi > 0 && trust.pi < 1);
  }
});

test.run();
