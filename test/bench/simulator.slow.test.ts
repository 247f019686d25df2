import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { TrustSet } from '../../bench/data/trust-set.js';
import { majority } from '../../bench/quality/classics.js';
import { standingBans } from '../../bench/quality/life/judgement.js';
import { simulateLife } from '../../bench/quality/life/simulator.js';
import { poisson, randomFrom, sample, weightedIndex, weightedSample } from '../../bench/quality/random.js';
import { evidenceColumns } from '../../bench/quality/readout.js';
import { inject, type KindName, kindNames, kindsOf, simulate } from '../../bench/quality/simulator.js';
import { quality } from '../../bench/statistics.js';
import { attackReference, referenceGroups, referenceSize, type Spread } from './attack-reference.js';

const size = { peers: 10, players: 1000 };
const referenceKinds = kindsOf(['basic', 'new']).filter((kind) => kind !== 'collude3of8');

function mean(count: number, draw: () => number): number {
  let sum = 0;
  for (let i = 0; i < count; i++) sum += draw();
  return sum / count;
}

test('the same seed gives the same numbers, another seed others', () => {
  const draw = (seed: number) => Array.from({ length: 5 }, randomFrom(seed));
  assert.equal(draw(7), draw(7));
  assert.not.equal(draw(7), draw(8));
});

test('a Poisson count has its mean', () => {
  const random = randomFrom('poisson');
  // Standard error of 20,000 draws of mean .8: sqrt(.8 / 20000) = .0063; five of them.
  assert.ok(Math.abs(mean(20_000, () => poisson(random, 0.8)) - 0.8) < 0.032);
});

test('a weighted index comes up as often as its part of the weights', () => {
  const random = randomFrom('weights');
  // Part 3/4, standard error of 20,000 draws .0031; five of them.
  assert.ok(Math.abs(mean(20_000, () => weightedIndex([1, 0, 3], random) / 2) - 0.75) < 0.016);
});

test('samples hold different items', () => {
  const random = randomFrom('samples');
  assert.is(new Set(sample([1, 2, 3, 4, 5], 5, random)).size, 5);
  assert.equal(weightedSample([1, 5, 0, 2], 3, random).sort(), [0, 1, 3]);
});

test('the same kind, seed and size give the same group', () => {
  for (const kind of kindNames) assert.equal(simulate(kind, 3, size), simulate(kind, 3, size), kind);
});

test('every group is complete: indexes in range, every player reported, targets with known truth', () => {
  for (const kind of kindNames) {
    const set = simulate(kind, 5, size);
    const reported = new Set(set.observations.map(({ player }) => player));
    assert.is(reported.size, set.players.length, kind);
    assert.ok(
      set.observations.every(({ peer, severity }) => peer < set.peers.length && severity > 0 && severity <= 1),
      kind,
    );
    assert.ok(
      set.targets.every((player) => set.truth.has(player)),
      kind,
    );
    assert.ok(
      set.preTrusted.every((peer) => !set.adversaries.includes(peer)),
      kind,
    );
  }
});

test('Sybils at 60 % are 15 beside 10 honest peers', () => {
  const set = simulate('sybil60_pre3', 1, size);
  assert.equal([set.peers.length, set.adversaries.length, set.preTrusted.length], [25, 15, 3]);
});

test('colluders invent subjects without a known truth', () => {
  const set = simulate('collude2', 1, size);
  const unknown = set.players.filter((_, player) => !set.truth.has(player));
  assert.is(unknown.length, 1500);
});

test('a report-only group sends nothing that raises trust, except from its liar', () => {
  const raising = ({ observations, adversaries }: TrustSet) =>
    observations.filter(({ polarity, peer }) => polarity > 0 && !adversaries.includes(peer)).length;
  assert.is(raising(simulate('reportonly', 1, size)), 0);
  assert.is(raising(simulate('reportonly_flood1', 1, size)), 0);
});

test('injected attackers leave every real vote and truth as it was', () => {
  const real = simulate('none', 9, size);
  const attacked = inject(real, 'collude3', 2);
  assert.equal(attacked.observations.slice(0, real.observations.length), real.observations);
  assert.equal(attacked.adversaries, [10, 11, 12]);
  assert.equal([...attacked.truth], [...real.truth]);
});

test('no kind is in two sets, and every kind is in one', () => {
  const sets = (['basic', 'new', 'more', 'attempts'] as const).map((set) => kindsOf([set]));
  assert.equal(sets.flat().sort(), [...kindNames].sort());
});

/** Players of a set whom a peer lowers more than it raises them. */
function loweredBy({ observations, players }: TrustSet, peer: number): Set<string> {
  const sums = new Map<string, number>();
  for (const seen of observations.filter((one) => one.peer === peer)) {
    const player = players[seen.player]!;
    sums.set(player, (sums.get(player) ?? 0) + seen.polarity * seen.severity);
  }
  return new Set([...sums].filter(([, sum]) => sum < 0).map(([player]) => player));
}

test('importers lower nearly all players of one honest peer, and are not known adversaries', () => {
  const set = simulate('copied3', 4, size);
  const lists = set.peers.map((_, peer) => loweredBy(set, peer));
  const imported = new Set([10, 11, 12].flatMap((peer) => [...lists[peer]!]));
  const sources = lists.slice(0, 10).filter((list) => [...imported].every((player) => list.has(player)));
  assert.is(sources.length, 1);
  for (const peer of [10, 11, 12]) assert.ok(lists[peer]!.size > 0.8 * sources[0]!.size);
  assert.equal(set.adversaries, []);
});

test('importers that also judge report four hundred players besides, or half of those known', () => {
  const plain = simulate('copied3', 4, size);
  const judging = simulate('copied3own', 4, size);
  const playersOf = ({ observations }: TrustSet, peer: number) =>
    new Set(observations.filter((seen) => seen.peer === peer).map(({ player }) => player)).size;
  assert.ok(playersOf(plain, 10) < 100);
  assert.ok(playersOf(judging, 10) > 400);
});

test('report-only groups of the new kinds have twice the players, and their liars share 300 victims', () => {
  const set = simulate('reportonly_mid_liar2', 2, size);
  assert.is(set.targets.length, 300);
  assert.ok(set.targets.every((player) => set.truth.get(player) === 0));
  const reported = (peer: number) =>
    [...new Set(set.observations.filter((seen) => seen.peer === peer).map(({ player }) => player))].sort();
  assert.equal(reported(10), reported(11));
  assert.ok(set.players.length > 300 && set.players.every((name) => Number(name.slice(1)) < 2 * size.players));
});

test('three colluders of eight are a group of eight peers, whatever size is asked for', () => {
  const set = simulate('collude3of8', 1, size);
  assert.equal([set.peers.length, set.adversaries.length], [8, 3]);
});

test('session_clean events come on top of a report-only group that is otherwise the same', () => {
  for (const kind of ['reportonly_mid', 'reportonly_copied3own', 'reportonly_flood1'] satisfies KindName[]) {
    const named = ({ observations, players }: TrustSet) =>
      observations.map(({ peer, player, polarity, severity }) => [peer, players[player], polarity, severity]);
    const plain = named(simulate(kind, 5, size));
    const clean = named(simulate(kind, 5, size, { sessionClean: true }));
    assert.equal(clean.slice(0, plain.length), plain, kind);
    const added = clean.slice(plain.length);
    assert.ok(added.length > 500 && added.every(([, , polarity, mass]) => polarity === 1 && mass === 0.3), kind);
  }
});

test('every attempt names peers that joined, and players at whom they aim', () => {
  for (const kind of kindsOf(['attempts'])) {
    const { adversaries, targets, observations } = simulate(kind, 6, size);
    assert.ok(adversaries.length > 0 && adversaries.every((peer) => peer >= 10), kind);
    const reported = new Set(observations.filter(({ peer }) => peer >= 10).map(({ player }) => player));
    const aimedAt = targets.filter((player) => reported.has(player));
    assert.ok(aimedAt.length > 0.9 * targets.length && targets.length > 0, kind);
  }
});

test('the copier that frames an honest peer differs from it on fewer players than clones may', () => {
  const set = simulate('framedclone1', 3, size);
  const votes = (peer: number) => {
    const sums = new Map<number, { b: number; m: number }>();
    for (const seen of set.observations.filter((one) => one.peer === peer)) {
      const { b, m } = sums.get(seen.player) ?? { b: 0, m: 0 };
      sums.set(seen.player, { b: b + (seen.polarity < 0 ? seen.severity : 0), m: m + seen.severity });
    }
    return new Map([...sums].map(([player, { b, m }]) => [player, b / m] as const));
  };
  const copier = votes(10);
  const honest = set.peers.slice(0, 10).map((_, peer) => votes(peer));
  const framed = honest.reduce((largest, one) => (one.size > largest.size ? one : largest));
  const shared = [...framed].filter(([player]) => copier.has(player));
  assert.is(shared.length, framed.size);
  const squares = shared.reduce((sum, [player, x]) => sum + (x - copier.get(player)!) ** 2, 0);
  assert.ok(squares / shared.length <= 0.01 && squares > 0);
});

test('groups of every kind of the reference look like those that the reference draws', () => {
  const groups = 6;
  const isNear = (values: readonly number[], { mean: expected, deviation }: Spread) => {
    const actual = values.reduce((sum, value) => sum + value, 0) / groups;
    // Five standard errors of the difference of two means; of a figure that does not vary, its last digit.
    const most = 5 * deviation * Math.sqrt(1 / groups + 1 / referenceGroups) + 0.001;
    return Math.abs(actual - expected) <= most;
  };
  assert.equal(Object.keys(attackReference).sort(), referenceKinds.toSorted());
  for (const kind of referenceKinds) {
    const { entries, majorityAuc } = attackReference[kind]!;
    const drawn = Array.from({ length: groups }, (_, seed) => {
      const set = simulate(kind, seed, referenceSize);
      const evidence = evidenceColumns(set);
      return { entries: evidence.peer.length, auc: quality(majority(evidence), set.truth).auc };
    });
    assert.ok(
      isNear(
        drawn.map((group) => group.entries),
        entries,
      ),
      `${kind}: entries ${drawn.map((group) => group.entries)}`,
    );
    assert.ok(
      isNear(
        drawn.map(({ auc }) => auc),
        majorityAuc,
      ),
      `${kind}: AUC of the majority ${drawn.map(({ auc }) => auc)}`,
    );
  }
});

test('one standing ban is right half of the time, three nearly always, as in the numpy groups', () => {
  let [one, three] = [
    [0, 0],
    [0, 0],
  ] as [[number, number], [number, number]];
  for (let seed = 0; seed < 6; seed++) {
    const group = simulateLife('mixed', seed, { peers: 8, players: 4000 });
    for (const [player, bans] of standingBans(group, []).entries()) {
      const bad = group.truth.get(player)!;
      if (bans === 1) one = [one[0] + bad, one[1] + 1];
      if (bans === 3) three = [three[0] + bad, three[1] + 1];
    }
  }
  assert.ok(one[0] / one[1] > 0.35 && one[0] / one[1] < 0.75, `${one}`);
  assert.ok(three[0] / three[1] > 0.9, `${three}`);
});

test.run();
