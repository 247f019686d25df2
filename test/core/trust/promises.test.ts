/** The promises of scoring, on random groups: peers, players, clones, liars and pre-trusted peers are all drawn. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { peerTrustOf } from '../../../bench/quality/evidence-columns.js';
import { readOut } from '../../../bench/quality/readout.js';
import { trustConstants } from '../../../src/core/evidence/trust-constants.js';
import type { PeerRelation } from '../../../src/core/relations.js';
import { Random } from '../../support/random.js';
import { type Entry, evidenceOf, factsOf } from './small-groups.js';

interface Group {
  readonly peers: number;
  readonly rows: readonly (readonly Entry[])[];
  readonly preTrusted: readonly number[];
}

const groups = 60;

/** Peers that are right more or less often, some of which only report, on players of whom some are bad. */
function drawn(random: Random, peersMin = 3): Group {
  const peers = peersMin + random.below(9);
  const players = random.pick([40, 120, 400]);
  const kinds = Array.from({ length: peers }, () => ({
    right: random.pick([0.95, 0.9, 0.8, 0.3]),
    sees: 0.2 + 0.6 * random.next(),
    onlyReports: random.below(4) === 0,
  }));
  const rows = Array.from({ length: players }, (_, i) =>
    kinds.flatMap(({ right, sees, onlyReports }, j): Entry[] => {
      if (random.next() > sees) return [];
      const lowers = (i % 8 === 0) === random.next() < right;
      const mass = random.pick([0.3, 1, 2.5]);
      if (onlyReports && !lowers) return [];
      return [lowers ? [j, mass, 0] : [j, 0, mass]];
    }),
  ).filter((row) => row.length > 0);
  const preTrusted = random.below(3) === 0 ? [random.below(peers)] : [];
  return { peers, rows, preTrusted };
}

/** Returns the score of every row with the weights that follow from all rows except those from `judged` on. */
function read({ peers, rows, preTrusted }: Group, relations: readonly PeerRelation[] = [], judged = rows.length) {
  const facts = factsOf(peers, preTrusted);
  const trust = peerTrustOf(evidenceOf(peers, rows.slice(0, judged)), facts, trustConstants, relations);
  return { trust, ...readOut(evidenceOf(peers, rows), facts, trust) };
}

test('one event of any peer moves an unknown player by five points at most, and leaves it neutral', () => {
  const random = new Random(21);
  for (let n = 0; n < groups; n++) {
    const group = drawn(random);
    const single = Array.from({ length: group.peers }, (_, j): Entry[][] => [[[j, 1, 0]], [[j, 0, 1]]]).flat();
    const { score, verdict } = read({ ...group, rows: [...group.rows, ...single] }, [], group.rows.length);
    for (let i = group.rows.length; i < score.length; i++) {
      assert.ok(Math.abs(score[i]! - 50) <= 5 + 1e-12, `${score[i]}`);
      assert.is(verdict[i], 'neutral');
    }
  }
});

test('one peer alone never lowers a player from neutral, and a pre-trusted one only to suspicious', () => {
  const random = new Random(22);
  for (let n = 0; n < groups; n++) {
    const group = drawn(random);
    const flood = Array.from({ length: group.peers }, (_, j): Entry[] => [[j, 1_000, 0]]);
    const { verdict } = read({ ...group, rows: [...group.rows, ...flood] }, [], group.rows.length);
    for (let j = 0; j < group.peers; j++) {
      const found = verdict[group.rows.length + j];
      const isPreTrusted = group.preTrusted.includes(j);
      assert.ok(found === 'neutral' || (isPreTrusted && found === 'suspicious'), `${found} of peer ${j}`);
    }
  }
});

test('with eight peers or more a clone changes at most one in fifty of the verdicts near an edge', () => {
  const random = new Random(23);
  let compared = 0;
  const isLow = (verdict: string | undefined) => verdict === 'suspicious' || verdict === 'untrusted';
  for (let n = 0; n < groups; n++) {
    const group = drawn(random, 8);
    const original = random.below(group.peers);
    const clone = group.peers;
    const rows = group.rows.map((row) => [
      ...row,
      ...row.flatMap(([j, b, g]): Entry[] => (j === original ? [[clone, b, g]] : [])),
    ]);
    const same: PeerRelation = { first: original, second: clone, relation: 'same' };
    const before = read(group);
    const after = read({ ...group, peers: clone + 1, rows }, [same]);
    assert.is(after.trust.witness[clone], after.trust.witness[original]);
    let changed = 0;
    before.verdict.forEach((verdict, i) => {
      compared++;
      // The rates of the group are summed over one peer more, so that weights move a little, and who stood at an edge
      // may cross it.
      if (isLow(after.verdict[i]) === isLow(verdict)) return;
      changed++;
      assert.ok(Math.abs(after.score[i]! - before.score[i]!) < 6, `${before.score[i]} became ${after.score[i]}`);
    });
    assert.ok(changed <= Math.max(2, before.verdict.length / 50), `${changed} of ${before.verdict.length}`);
  }
  assert.ok(compared > 1_000);
});

test('neither names nor order of peers and players change a score', () => {
  const random = new Random(24);
  for (let n = 0; n < groups; n++) {
    const group = drawn(random);
    const { score } = read(group);
    const reversed = read({ ...group, rows: group.rows.toReversed() });
    score.forEach((value, i) => {
      assert.ok(Math.abs(value - reversed.score.at(-1 - i)!) < 1e-6, `player ${i}: ${value}`);
    });
  }
});

test('two peers that were declared independent are never one witness, however alike they are', () => {
  const random = new Random(25);
  for (let n = 0; n < groups; n++) {
    const group = drawn(random);
    const clone = group.peers;
    const rows = group.rows.map((row) => [
      ...row,
      ...row.flatMap(([j, b, g]): Entry[] => (j === 0 ? [[clone, b, g]] : [])),
    ]);
    const { trust } = read({ ...group, peers: clone + 1, rows }, [
      { first: 0, second: clone, relation: 'independent' },
    ]);
    assert.is.not(trust.witness[0], trust.witness[clone]);
  }
});

test.run();
