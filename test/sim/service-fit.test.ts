/** The service's computation of peer weights, against the oracle's: drawn groups in any order of players and peers. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { peerTrustOf } from '../../bench/quality/evidence-columns.js';
import { FOLLOWS, FOLLOWS_CLAIM } from '../../src/core/evidence/evidence.js';
import { trustConstants } from '../../src/core/evidence/trust-constants.js';
import type { PeerRelation } from '../../src/core/relations.js';
import { evidenceOf, factsOf } from '../core/trust/small-groups.js';
import { Random } from '../support/random.js';
import { massOf } from './fit.js';
import { compareFit, type Weighed } from './trust.js';

interface Size {
  readonly peers: number;
  readonly players: number;
  readonly events: number;
}

/** Masses of an event, and whether the evidence decays: without decay, masses repeat themselves and votes tie. */
const masses = [1, 1, 0.5, 0.25, 0.7, 0.3, 1e-3];

function drawn(random: Random, { peers, players, events }: Size): Weighed[] {
  const decays = random.below(2) === 0;
  const measures = random.pick([0, 0, 0.2, 0.6]);
  const pairs = new Map<number, Weighed>();
  const bit = () => random.below(4) === 0;
  for (let event = 0; event < events; event++) {
    const [player, peer] = [Math.floor(players * random.next() ** 2), random.below(peers)];
    const mass = random.pick(masses) * (decays ? 2 ** -(random.pick([0.01, 1, 13]) * random.next()) : 1);
    // A third of the players is bad, and peers are right in three of four.
    const lowers = (player % 3 === 0) === random.below(4) < 3;
    const none = { player, peer, lowering: 0, raising: 0, measure: 0, follows: bit(), followsClaim: bit() };
    const one = pairs.get(player * peers + peer) ?? none;
    const sum = !lowers ? 'raising' : random.next() < measures ? 'measure' : 'lowering';
    const sums = { ...one, [sum]: (one[sum] ?? 0) + mass };
    pairs.set(player * peers + peer, { ...sums, error: 1e-12 * massOf(sums) });
  }
  return [...pairs.values()];
}

/** Why peers were found to be one witness. */
const joined = new Set<string>();

function shuffled<T>(random: Random, values: Iterable<T>): T[] {
  const keyed = [...values].map((value) => ({ value, key: random.next() }));
  return keyed.sort((p, q) => p.key - q.key).map(({ value }) => value);
}

function byPlayer(evidence: readonly Weighed[]): Weighed[][] {
  const rows = new Map<number, Weighed[]>();
  for (const one of evidence) rows.set(one.player, [...(rows.get(one.player) ?? []), one]);
  return [...rows.values()];
}

const lowersMore = ({ lowering, raising, measure = 0 }: Weighed) => lowering + measure > raising;

/** With what some peers copy of others: all of it or what lowers, or most of that, beside what they say themselves. */
function withRepeats(random: Random, { peers }: Size, evidence: readonly Weighed[]): Weighed[] {
  const all = new Map(evidence.map((one) => [`${one.player} ${one.peer}`, one]));
  for (let copy = 0; copy < 3; copy++) {
    const [from, to] = [random.below(peers), random.below(peers)];
    const [part, isList, keepsOwn] = [random.pick([0.6, 0.9, 1]), random.below(2) === 0, random.below(2) === 0];
    if (!keepsOwn) for (const [key, { peer }] of all) if (peer === to) all.delete(key);
    for (const one of [...all.values()]) {
      if (one.peer !== from || random.next() > part || (isList && !lowersMore(one))) continue;
      all.set(`${one.player} ${to}`, { ...one, peer: to });
    }
  }
  return [...all.values()];
}

function relationsOf(random: Random, peers: number): PeerRelation[] {
  if (random.below(3) > 0 || peers < 3) return [];
  const [first, second] = [random.below(peers - 1), peers - 1];
  return [{ first, second, relation: random.pick(['same', 'independent'] as const) }];
}

/** Throws where the two fits differ. */
function compare(random: Random, size: Size, copies = false): string {
  const evidence = copies ? withRepeats(random, size, drawn(random, size)) : drawn(random, size);
  const relations = copies ? relationsOf(random, size.peers) : [];
  const rows = shuffled(random, byPlayer(shuffled(random, evidence)));
  const entries = rows.flatMap((row) => row.sort((p, q) => p.peer - q.peer));
  const bitsOf = ({ follows, followsClaim }: Weighed) => (follows ? FOLLOWS : 0) | (followsClaim ? FOLLOWS_CLAIM : 0);
  const columns = {
    ...evidenceOf(
      size.peers,
      rows.map((row) => row.map(({ peer, lowering, raising }) => [peer, lowering, raising])),
    ),
    measure: Float64Array.from(entries, ({ measure = 0 }) => measure),
    follows: Uint8Array.from(entries, bitsOf),
  };
  const some = (oneIn: number) => new Set(random.below(oneIn) === 0 ? [random.below(size.peers)] : []);
  const revoked = some(6);
  const preTrusted = new Set([...some(3), ...some(6)].filter((peer) => !revoked.has(peer)));
  const facts = factsOf(size.peers, [...preTrusted], [...revoked]);
  const computed = peerTrustOf(columns, facts, trustConstants, relations);
  for (const { reason } of computed.witnessPairs) joined.add(reason);
  const weights = { ...computed, ...computed.measures };
  return compareFit(evidence, { peers: size.peers, preTrusted, revoked, relations }, weights);
}

test('small groups, in which votes tie, get the same weights from both', () => {
  const random = new Random(1);
  const found = new Map<string, number>();
  for (let group = 0; group < 1_000; group++) {
    const size = {
      peers: 1 + random.below(12),
      players: random.pick([3, 6, 20, 60]),
      events: random.pick([5, 20, 60, 200]),
    };
    const how = compare(random, size);
    found.set(how, (found.get(how) ?? 0) + 1);
  }
  assert.ok(found.get('compared')! >= 990, [...found].join());
});

test('groups in which peers have hundreds of votes get the same weights from both', () => {
  const random = new Random(2);
  for (let group = 0; group < 5; group++) compare(random, { peers: 6 + 5 * group, players: 500, events: 6_000 });
});

test('groups in which peers copy one another get the same witness groups from both', () => {
  const random = new Random(3);
  joined.clear();
  for (let group = 0; group < 200; group++) {
    const size = {
      peers: 3 + random.below(10),
      players: random.pick([60, 200, 400]),
      events: random.pick([600, 1_500]),
    };
    compare(random, size, true);
  }
  assert.equal([...joined].sort(), ['allied', 'clones', 'copied_list', 'declared']);
});

test.run();
