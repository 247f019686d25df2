/**
 * The oracle's fit of peer weights, and its reads, against the reference in numpy, group by group, so that they are
 * right for reasons of their own. Needs the data folder in PTF_SHARED_DATA (with `reference/v3/golden.json.gz` two
 * levels above); without it this file says so.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type ReferenceGroup, referenceGroups } from '../support/reference-groups.js';
import { type Fitted, fit } from './fit.js';
import { numbers } from './fit-numbers.js';
import { type Columns, columns, type Reported } from './fit-votes.js';
import { judged } from './scores.js';

function reportedOf(group: ReferenceGroup): Reported[] {
  return group.I.map((player, e) => ({
    player,
    peer: group.J[e]!,
    lowering: group.lowers[e]!,
    raising: group.raises[e]!,
    measure: group.measures[e]!,
    follows: group.follows[e] === 1,
    followsClaim: group.follows_claim[e] === 1,
  }));
}

/** A few votes for the numbers that no data file is needed for. */
const votes = (peer: number, kinds: readonly ('bad' | 'good' | null)[]): Reported[] =>
  kinds.flatMap((kind, player) =>
    kind === null ? [] : [{ player, peer, lowering: kind === 'bad' ? 1 : 0, raising: kind === 'good' ? 1 : 0 }],
  );

function fitOf(reported: readonly Reported[], peers: number): Fitted {
  return fit(reported, { peers, preTrusted: new Set(), revoked: new Set() }, numbers);
}

test('a lone peer that only reports has the constant of such a peer, and two peers an open gate', () => {
  const alone = fitOf(votes(0, ['bad']), 1);
  assert.equal([alone.tau, alone.a, alone.b], [[1], [1.25], [0.4]]);
  assert.equal(fitOf([...votes(0, ['bad', 'bad']), ...votes(1, ['good', 'good'])], 2).tau, [1, 1]);
});

test('a carrier without evidence does not take the place of one with the least', () => {
  const group = {
    peers: 5,
    preTrusted: new Set([0]),
    revoked: new Set<number>(),
    origins: new Set([2]),
    carriers: [
      { number: 3, peer: 1, origin: 2 },
      { number: 4, peer: 0, origin: 2 },
    ],
  };
  // A player that peer 0 and the origin praise; so little that it is 0 in single precision.
  const little = 5e-74;
  const reported = [0, 3, 4].map((peer) => ({ player: 0, peer, lowering: 0, raising: peer === 3 ? 0 : little }));
  const without = reported.filter(({ peer }) => peer !== 3);
  assert.equal(fit(reported, group, numbers), fit(without, group, numbers));
});

for (const group of referenceGroups()) {
  const preTrusted = new Set(group.pretrusted);
  test(`${group.name}, ${preTrusted.size} pre-trusted: all is as in the reference, to 1e-9`, () => {
    const near = (found: readonly number[], wanted: readonly number[], what: string) => {
      const off = Math.max(...wanted.map((value, i) => Math.abs(found[i]! - value)));
      assert.ok(off <= 1e-9, `${what}: off by ${off}`);
    };
    const reported = reportedOf(group);
    const fitted = fit(reported, { peers: group.peers, preTrusted, revoked: new Set() }, numbers);
    assert.equal(fitted.witness, group.witness);
    near([fitted.pi], [group.prevalence], 'prevalence');
    const names = { tau: 'tau', a: 'A', b: 'B', m: 'M', z: 'z', finds: 'finds', findsClaim: 'finds_claim' } as const;
    for (const [own, name] of Object.entries(names)) near(fitted[own as keyof typeof names], group[name], name);
    const weightsOf = (j: number) => {
      const values = Object.fromEntries(columns.map((name) => [name, fitted[name][j]!])) as Columns<number>;
      return { ...values, witness: fitted.witness[j]! };
    };
    const reads = Array.from({ length: group.players }, (_, player) => {
      const about = reported.filter((one) => one.player === player).sort((p, q) => p.peer - q.peer);
      const words = about.map(({ peer, lowering, raising, measure = 0 }) => {
        const who = { peer, sender: peer, isCarried: false, isPreTrusted: preTrusted.has(peer) };
        return { ...weightsOf(peer), ...who, lowering, raising, measure };
      });
      return judged(words, fitted.pi);
    });
    for (const what of ['score', 'confidence'] as const) {
      const found = reads.map((read) => read[what]);
      near(found, group[what], what);
    }
    const verdicts = reads.map(({ verdict }) => verdict);
    assert.equal(verdicts, group.verdict);
  });
}

test.run();
