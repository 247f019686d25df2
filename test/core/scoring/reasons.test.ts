/** Why a player has its verdict, in words. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { asOfTime } from '../../../src/core/evidence/decay.js';
import { decidePreTrust } from '../../../src/core/rules/decide-peer.js';
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

test('the explanation of a group that only reports says how many peers are needed, and what would say more', () => {
  const [first, second] = reasonsAfter(reporting(), (given) => report(given, 3));
  assert.is(first, 'Known to 3 independent peers.');
  assert.is(second, 'Reports alone: about five independent peers are needed; bans and good sessions would say more.');
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

function ban(given: Given, ...peers: readonly number[]): void {
  for (const peer of peers) given.event(peer, 'p', { eventType: 'ban_applied' });
}

test('the explanation counts independent bans, and says if one more makes a player untrusted', () => {
  const bansOf = (given: Given, ...peers: readonly number[]) =>
    reasonsAfter(given, () => ban(given, ...peers)).slice(1);
  assert.equal(bansOf(reporting(), 0, 1), ['Banned by 2 independent servers; one more would make it untrusted.']);
  assert.equal(bansOf(reporting(), 0, 1, 2), ['Banned by 3 independent servers.']);
  const witness = [0, 0, 2, 3, 4, 5, 6, 7];
  assert.equal(bansOf(new Given().peers(8).weigh({ witness }), 0, 1, 2), [
    '3 peers banned it, 2 of them after others had: they count as 2; one more would make it untrusted.',
  ]);
});

test('the explanation says that bans which repeat others do not count', () => {
  const given = new Given().peers(8).weigh({ finds: [1, 0, 0], m: [3.4, 0, 0] });
  assert.equal(reasonsAfter(given, () => ban(given, 0, 1, 2)).slice(1), [
    '3 peers banned it, 2 of them after others had: they count as 1.',
    'Their evidence together is not enough for a verdict.',
  ]);
});

test('a ban that its peer lifted is not counted, though its peer still reports the player', () => {
  const given = reporting();
  ban(given, 0, 1);
  const counts = () => {
    const { banned, bannedAfterOthers } = explanationOf(given.state, given.row('p'), asOfTime(given.state, t0));
    return { banned, bannedAfterOthers };
  };
  assert.equal(counts(), { banned: 2, bannedAfterOthers: 1 });
  given.event(1, 'p', { eventType: 'ban_lifted' });
  given.event(1, 'p');
  assert.equal(counts(), { banned: 1, bannedAfterOthers: 0 });
});

test('of two peers the explanation does not say which one banned', () => {
  const given = reporting();
  const reasons = reasonsAfter(given, () => {
    ban(given, 0);
    given.event(1, 'p');
  });
  assert.not.match(reasons.join(' '), /ban/i);
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

test('the explanation of a trusted player says how many peers know it, and nothing more', () => {
  const reasons = reasonsAfter(twoSided(), (given) => {
    for (let peer = 0; peer < 6; peer++)
      for (let i = 0; i < 4; i++) given.event(peer, 'p', { eventType: 'commendation' });
    for (let peer = 0; peer < 6; peer++) given.event(peer, 'p', { severity: 0.1 });
  });
  assert.equal(reasons, ['Known to 6 independent peers.']);
});

test('the explanation of a player on the allow list says that nothing else counts', () => {
  const given = twoSided();
  report(given, 4);
  const explanation = explanationOf(given.state, given.row('p'), asOfTime(given.state, t0));
  assert.equal(reasonsOf('neutral', { ...explanation, allowed: true }), [
    'The player is on the allow list of the group and reads as neutral, whatever its peers reported.',
  ]);
});

test('an explanation says whether pre-trusted peers are among those whose evidence counts', () => {
  const given = twoSided();
  given.done(decidePreTrust(given.state, { change: 'add', peerId: 'peer-1', by: 'test' }, t0));
  given.event(0, 'p');
  const isPreTrusted = () => explanationOf(given.state, given.row('p'), asOfTime(given.state, t0)).preTrusted;
  assert.is(isPreTrusted(), false);
  given.event(1, 'p');
  assert.is(isPreTrusted(), true);
});

test.run();
