import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Observation, TrustSet } from '../../bench/data/trust-set.js';
import { majority } from '../../bench/quality/classics.js';
import { standingBans } from '../../bench/quality/life/judgement.js';
import { simulateLife } from '../../bench/quality/life/simulator.js';
import { randomFrom, sample, weightedSample } from '../../bench/quality/random.js';
import { evidenceColumns } from '../../bench/quality/readout.js';
import { inject, type KindName, kindNames, kindsOf, simulate } from '../../bench/quality/simulator.js';
import { quality } from '../../bench/statistics.js';
import { attackReference, referenceGroups, referenceSize } from './attack-reference.js';

const size = { peers: 10, players: 1000 };
const referenceKinds = kindsOf(['basic', 'new']).filter((kind) => kind !== 'collude3of8');

test('samples hold different items', () => {
  const random = randomFrom('samples');
  assert.is(new Set(sample([1, 2, 3, 4, 5], 5, random)).size, 5);
  assert.equal(weightedSample([1, 5, 0, 2], 3, random).sort(), [0, 1, 3]);
});

test('the same kind, seed and size give the same group, another seed another', () => {
  for (const kind of kindNames) assert.equal(simulate(kind, 3, size), simulate(kind, 3, size), kind);
  assert.not.equal(simulate('none', 4, size), simulate('none', 3, size));
});

test('every group is complete: indexes in range, every player reported, targets with known truth', () => {
  for (const kind of kindNames) {
    const { observations, peers, players, truth, targets, preTrusted, adversaries } = simulate(kind, 5, size);
    assert.is(new Set(observations.map(({ player }) => player)).size, players.length, kind);
    const isInRange = ({ peer, severity }: Observation) => peer < peers.length && severity > 0 && severity <= 1;
    assert.ok(observations.every(isInRange), kind);
    const isKnown = (player: number) => truth.has(player);
    assert.ok(targets.every(isKnown), kind);
    const isHostile = (peer: number) => adversaries.includes(peer);
    assert.not(preTrusted.some(isHostile), kind);
  }
});

test('Sybils at 60 % are 15 beside 10 honest peers, and three colluders of eight are of eight, whatever the size', () => {
  for (const [kind, peerCount, adversaryCount, preTrustedCount] of [
    ['sybil60_pre3', 25, 15, 3],
    ['collude3of8', 8, 3, 0],
  ] as const) {
    const { peers, adversaries, preTrusted } = simulate(kind, 1, size);
    const counts = [peers.length, adversaries.length, preTrusted.length];
    assert.equal(counts, [peerCount, adversaryCount, preTrustedCount], kind);
  }
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

/** Returns the mass that a peer sent about each player of a set, by the player's name. */
function massesOf({ observations, players }: TrustSet, peer: number) {
  const masses = new Map<string, { lowering: number; raising: number }>();
  for (const seen of observations.filter((one) => one.peer === peer)) {
    const player = players[seen.player]!;
    const { lowering, raising } = masses.get(player) ?? { lowering: 0, raising: 0 };
    const { polarity, severity } = seen;
    const [lowers, raises] = polarity < 0 ? [severity, 0] : [0, severity];
    masses.set(player, { lowering: lowering + lowers, raising: raising + raises });
  }
  return masses;
}

test('importers lower nearly all players of one honest peer, and are not known adversaries', () => {
  const set = simulate('copied3', 4, size);
  const lists = set.peers.map((_, peer) => {
    const lowered = [...massesOf(set, peer)].filter(([, { lowering, raising }]) => lowering > raising);
    return new Set(lowered.map(([player]) => player));
  });
  const imported = new Set([10, 11, 12].flatMap((peer) => [...lists[peer]!]));
  const sources = lists.slice(0, 10).filter((list) => [...imported].every((player) => list.has(player)));
  assert.is(sources.length, 1);
  for (const peer of [10, 11, 12]) assert.ok(lists[peer]!.size > 0.8 * sources[0]!.size);
  assert.equal(set.adversaries, []);
});

test('importers that also judge report four hundred players besides, or half of those known', () => {
  const reportedIn = (kind: KindName) => massesOf(simulate(kind, 4, size), 10).size;
  assert.ok(reportedIn('copied3') < 100);
  assert.ok(reportedIn('copied3own') > 400);
});

test('report-only groups of the new kinds have twice the players, and their liars share 300 victims', () => {
  const set = simulate('reportonly_mid_liar2', 2, size);
  assert.is(set.targets.length, 300);
  assert.ok(set.targets.every((player) => set.truth.get(player) === 0));
  const reported = (peer: number) => [...massesOf(set, peer).keys()].sort();
  assert.equal(reported(10), reported(11));
  assert.ok(set.players.length > 300 && set.players.every((name) => Number(name.slice(1)) < 2 * size.players));
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
  const votes = (peer: number) =>
    new Map(
      [...massesOf(set, peer)].map(([player, { lowering, raising }]) => [player, lowering / (lowering + raising)]),
    );
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
  assert.equal(Object.keys(attackReference).sort(), referenceKinds.toSorted());
  for (const kind of referenceKinds) {
    const [entries, deviation, auc, deviationOfAuc] = attackReference[kind]!;
    const drawn = Array.from({ length: groups }, (_, seed) => {
      const set = simulate(kind, seed, referenceSize);
      const evidence = evidenceColumns(set);
      return { entries: evidence.peer.length, auc: quality(majority(evidence), set.truth).auc };
    });
    for (const [what, values, mean, spread] of [
      ['entries', drawn.map((group) => group.entries), entries, deviation],
      ['AUC of the majority', drawn.map((group) => group.auc), auc, deviationOfAuc],
    ] as const) {
      const actual = values.reduce((sum, value) => sum + value, 0) / groups;
      // Five standard errors of the difference of two means; of a figure that does not vary, its last digit.
      const most = 5 * spread * Math.sqrt(1 / groups + 1 / referenceGroups) + 0.001;
      assert.ok(Math.abs(actual - mean) <= most, `${kind}: ${what} ${values}`);
    }
  }
});

test('one standing ban is right half of the time, three nearly always, as in the numpy groups', () => {
  const players = { all: [0, 0, 0, 0], bad: [0, 0, 0, 0] };
  for (let seed = 0; seed < 6; seed++) {
    const group = simulateLife('mixed', seed, { peers: 8, players: 4000 });
    for (const [player, bans] of standingBans(group, []).entries()) {
      players.all[bans]! += 1;
      players.bad[bans]! += group.truth.get(player)!;
    }
  }
  const [, one, , three] = players.bad.map((bad, bans) => bad / players.all[bans]!);
  assert.ok(one! > 0.35 && one! < 0.75, `${one}`);
  assert.ok(three! > 0.9, `${three}`);
});

test.run();
