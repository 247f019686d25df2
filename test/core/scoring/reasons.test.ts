/** Why a player has its verdict, in words. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { asOfTime } from '../../../src/core/evidence/decay.js';
import { explanationOf } from '../../../src/core/scoring/explanation.js';
import { reasonsOf } from '../../../src/core/scoring/reasons.js';
import { trustOf } from '../../../src/core/scoring/score.js';
import { Given, t0 } from '../../support/given.js';

/** Returns the reasons of a player about whom the peers sent these events. */
function reasonsAfter(given: Given, say: (given: Given) => void): string[] {
  say(given);
  const asOf = asOfTime(given.state, t0);
  const { verdict } = trustOf(given.state, given.row('p'), asOf);
  return reasonsOf(verdict, explanationOf(given.state, given.row('p'), asOf));
}

const all = (value: number) => new Array<number>(8).fill(value);
const reporting = () => new Given().peers(8).weigh();
const twoSided = () => new Given().peers(8).weigh({ a: all(2), b: all(1.5), z: all(0.9) });

function report(given: Given, peers: number, count = 3): void {
  for (let peer = 0; peer < peers; peer++) for (let i = 0; i < count; i++) given.event(peer, 'p');
}

test('the explanation says that only one peer knows a player', () => {
  assert.equal(
    reasonsAfter(reporting(), (given) => report(given, 1)),
    ['Known to one peer only.'],
  );
});

test('the explanation of a group that only reports says how many reports are needed', () => {
  const [first, second] = reasonsAfter(reporting(), (given) => report(given, 3));
  assert.is(first, 'Known to 3 independent peers.');
  assert.is(second, 'These peers send bad reports only: about five independent reports are needed.');
});

test('the explanation says that peers are one witness', () => {
  const given = new Given().peers(8).weigh({ a: all(2), b: all(1.5), z: all(0.9), witness: all(0) });
  assert.match(
    reasonsAfter(given, () => report(given, 4))[0]!,
    /^Known to 4 peers, of which only one is an independent witness/,
  );
  const some = new Given().peers(8).weigh({ a: all(2), b: all(1.5), z: all(0.9), witness: [0, 0, 2, 3, 4, 5, 6, 7] });
  assert.is(reasonsAfter(some, () => report(some, 4))[0], 'Known to 4 peers, which are 3 independent witnesses.');
});

test('the explanation says that peers have no weight, or that evidence does not count', () => {
  assert.match(
    reasonsAfter(new Given().peers(2), (given) => report(given, 2))[0]!,
    /^No peer that knows this player has a weight/,
  );
  const nothing = reasonsAfter(reporting(), (given) => given.event(0, 'p', { severity: 0 }));
  assert.equal(nothing, ['No peer holds evidence about this player that counts.']);
});

test('the explanation of an untrusted player names the number of witnesses', () => {
  assert.equal(
    reasonsAfter(twoSided(), (given) => report(given, 4)),
    ['Known to 4 independent peers.', 'Most of this evidence comes from peers that also report good behaviour.'],
  );
});

test('with fewer than three peers the explanation does not reveal how they split', () => {
  for (const peers of [2, 3]) {
    const reasons = reasonsAfter(twoSided(), (given) => {
      given.event(0, 'p');
      for (let peer = 1; peer < peers; peer++) given.event(peer, 'p', { eventType: 'commendation' });
      for (let peer = 1; peer < peers; peer++) given.event(peer, 'p', { eventType: 'commendation' });
    });
    assert.is(
      reasons.includes('Its peers disagree, and the good reports prevail.'),
      peers === 3,
      `${peers}: ${reasons}`,
    );
  }
});

test('the explanation of a good player who is not trusted yet says which reports are missing', () => {
  const praised = (peers: number) => (given: Given) => {
    for (let peer = 0; peer < peers; peer++) given.event(peer, 'p', { eventType: 'commendation', severity: 1 });
  };
  assert.equal(reasonsAfter(twoSided(), praised(1)), [
    'Known to one peer only.',
    'For trusted, more good reports would be needed.',
  ]);
});

test.run();
