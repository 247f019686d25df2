/** The service's computation of peer weights, against the oracle's: drawn groups in any order of players and peers. */

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { eventTypes } from '../../src/core/evidence/event-types.js';
import { trustConstants } from '../../src/core/evidence/trust-constants.js';
import type { LogRecord } from '../../src/core/records/records.js';
import { GroupState } from '../../src/core/state.js';
import { computeGroupTrust } from '../../src/core/trust/peer-trust.js';
import { Scratch } from '../../src/core/trust/votes/scratch.js';
import type { PeerRelation } from '../../src/core/vocabulary.js';
import { dayMs, formedRecord, salt, subjectOf, t0 } from '../support/given.js';
import { Random } from '../support/random.js';
import { columns, type FittedGroup, massOf } from './fit-votes.js';
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
  const wrongs = random.pick([4, 4, 20]);
  const pairs = new Map<number, Weighed>();
  const bit = () => random.below(4) === 0;
  for (let event = 0; event < events; event++) {
    const [player, peer] = [Math.floor(players * random.next() ** 2), random.below(peers)];
    const mass = random.pick(masses) * (decays ? 2 ** -(random.pick([0.01, 1, 13]) * random.next()) : 1);
    // A third of the players is bad, and peers are right most often.
    const lowers = (player % 3 === 0) === random.below(wrongs) > 0;
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

/** A group in which some peers carry two origins: peers, origins and carriers have numbers of one sequence. */
function groupOf(random: Random, peers: number, carried: number, relations: readonly PeerRelation[]): FittedGroup {
  const origins = carried === 0 ? [] : [peers, peers + 1];
  const carriers = Array.from({ length: carried }, (_, i) => {
    return { number: peers + 2 + i, peer: Math.floor(i / 2), origin: peers + (i % 2) };
  });
  const some = (oneIn: number) => (random.below(oneIn) === 0 ? [random.below(peers)] : []);
  const gone = new Set(some(6));
  const preTrusted = new Set([...some(3), ...some(6)].filter((peer) => !gone.has(peer)));
  const theirs = carriers.filter(({ peer }) => gone.has(peer)).map(({ number }) => number);
  const revoked = new Set([...gone, ...theirs]);
  const numbers = peers + origins.length + carried;
  return { peers: numbers, preTrusted, revoked, relations, origins: new Set(origins), carriers };
}

/** The state of a service that holds the evidence, one record for each sum; nothing decays. */
function stateOf(evidence: readonly Weighed[], group: FittedGroup): GroupState {
  const formed = { ...formedRecord(0), scoring: 3, ban_half_life_days: 0 };
  const state = new GroupState(formed, salt);
  const { audit } = formed;
  const apply = (record: LogRecord) => state.apply(record, t0);
  const { origins = new Set(), carriers = [], preTrusted, revoked, relations = [] } = group;
  const peers = Array.from({ length: group.peers - origins.size - carriers.length }, (_, peer) => peer);
  for (const peer of peers) {
    const named = { peer, peer_id: `peer-${peer}`, peer_name: '', game_ids: ['game'], contact_email: null };
    apply({ type: 'peer_registered', ...named, key_digest: String(peer), audit });
  }
  for (const origin of origins) apply({ type: 'origin_declared', origin, name: String(origin), audit });
  for (const { number: carrier, peer, origin } of carriers) apply({ type: 'origin_carried', carrier, peer, origin });
  for (const relation of relations) apply({ type: 'peers_related', ...relation, audit });
  apply({ type: 'pre_trust_set', peers: [...preTrusted], configured: null, audit });
  let id = 0;
  const add = (one: Weighed, type: keyof typeof eventTypes, mass: number, follows: boolean | undefined) => {
    const event_type = eventTypes[type].id;
    const event_id = String(id++);
    const id_tag = state.idTags.of(event_id);
    const key = { subject: subjectOf(String(one.player)), event_id, id_tag, event_type, mass };
    const event = { peer: one.peer, game: 0, schema_version: '1.0.0', severity: 1, timestamp: t0, prev: 0 };
    if (mass !== 0) apply({ type: 'event_accepted', ...key, ...event, ...(follows ? { follows } : {}) });
  };
  for (const one of evidence) {
    add(one, 'report_cheating', -one.lowering, one.followsClaim);
    add(one, 'commendation', one.raising, false);
    add(one, 'ban_applied', -(one.measure ?? 0), one.follows);
  }
  for (const peer of peers) {
    if (revoked.has(peer)) apply({ type: 'peer_status_changed', peer, status: 'revoked', audit });
  }
  return state;
}

/** A drawn group, with the weights that the service computes for it. */
function computed(random: Random, { peers, ...size }: Size, copies = false) {
  const carried = random.below(3) === 0 ? 1 + random.below(Math.min(peers, 4)) : 0;
  const playerVotes = { ...size, peers: peers + carried };
  const said = copies ? withRepeats(random, playerVotes, drawn(random, playerVotes)) : drawn(random, playerVotes);
  // The votes behind those of the peers are those of carriers, whose numbers come after those of the origins.
  const evidence = said.map((one) => (one.peer < peers ? one : { ...one, peer: one.peer + 2 }));
  const group = groupOf(random, peers, carried, copies ? relationsOf(random, peers) : []);
  const state = stateOf(shuffled(random, evidence), group);
  const weights = computeGroupTrust(state, t0 + 30 * dayMs, trustConstants, new Scratch(), state.relations);
  for (const { reason } of weights.witnessPairs) joined.add(reason);
  return { evidence, group, weights: { ...weights, ...weights.measures } };
}

/** Throws where the two fits differ. */
function compare(random: Random, size: Size, copies = false): string {
  const { evidence, group, weights } = computed(random, size, copies);
  return compareFit(evidence, group, weights);
}

/** How many groups of each kind are compared; `seed` draws them. */
export interface FitSample {
  readonly seed: number;
  readonly small: number;
  readonly large: number;
  readonly copied: number;
}

export function testServiceFit({ seed, small, large, copied }: FitSample): void {
  test('weights that are off by a thousand millionth in any value, or of unlike groups, do not pass', () => {
    const { evidence, group, weights } = computed(new Random(seed), { peers: 6, players: 20, events: 100 });
    const firstOff = (name: (typeof columns)[number]) =>
      Array.from(weights[name], (value, peer) => (peer === 0 ? value + 1e-9 : value));
    for (const other of [
      ...columns.map((name) => ({ [name]: firstOff(name) })),
      ...[weights.pi + 1e-9, Number.NaN].map((pi) => ({ pi })),
      { tau: weights.tau.slice(1) },
      { witness: weights.witness.map(() => 0) },
    ]) {
      assert.throws(() => compareFit(evidence, group, { ...weights, ...other }), /off by/, Object.keys(other)[0]);
    }
  });

  test('small groups, in which votes tie, get the same weights from both', () => {
    const random = new Random(seed);
    const found = new Map<string, number>();
    for (let group = 0; group < small; group++) {
      const size = {
        peers: 1 + random.below(12),
        players: random.pick([3, 6, 20, 60]),
        events: random.pick([5, 20, 60, 200]),
      };
      const how = compare(random, size);
      found.set(how, (found.get(how) ?? 0) + 1);
    }
    assert.ok(found.get('compared')! >= 0.98 * small, [...found].join());
  });

  test('groups in which peers have hundreds of votes get the same weights from both', () => {
    const random = new Random(seed + 1);
    for (let group = 0; group < large; group++) compare(random, { peers: 6 + 5 * group, players: 500, events: 6_000 });
  });

  test('groups in which peers copy one another get the same witness groups from both', () => {
    const random = new Random(seed + 2);
    joined.clear();
    for (let group = 0; group < copied; group++) {
      const size = {
        peers: 3 + random.below(10),
        players: random.pick([60, 200, 400]),
        events: random.pick([600, 1_500]),
      };
      compare(random, size, true);
    }
    assert.equal([...joined].sort(), ['allied', 'clones', 'copied_list', 'declared']);
  });
}
