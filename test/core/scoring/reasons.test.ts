/** Why a player has its verdict, in words. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { EventTypeName } from '../../../src/core/evidence/event-types.js';
import { decidePreTrust } from '../../../src/core/rules/decide-peer.js';
import { reasonsOf } from '../../../src/core/scoring/reasons.js';
import { Given, t0 } from '../../support/given.js';
import type { WeightColumns } from '../../support/weights.js';

type Say = (given: Given) => void;

const all = (value: number) => new Array<number>(8).fill(value);
const sure = { a: all(2), b: all(1.5), z: all(0.9) };
const weighed = (columns: WeightColumns = {}) => new Given().peers(8).weigh(columns);

/** So many peers each send so many events about the player. */
const send =
  (eventType: EventTypeName, peers: number, count = 3): Say =>
  (given) => {
    for (let peer = 0; peer < peers; peer++) for (let i = 0; i < count; i++) given.event(peer, 'p', { eventType });
  };
const report = (peers: number) => send('report_cheating', peers);
const ban = (peers: number) => send('ban_applied', peers, 1);

/** Returns the reasons of a player about whom the peers sent these events. */
function reasonsAfter(given: Given, ...say: readonly Say[]): string[] {
  for (const one of say) one(given);
  return reasonsOf(given.trust('p').verdict, given.explain('p'));
}

function says(given: Given, say: Say, ...expected: readonly string[]): void {
  assert.equal(reasonsAfter(given, say), expected);
}

test('the explanation says how many peers know a player, and what a group that only reports needs', () => {
  says(weighed(), report(1), 'Known to one peer only.');
  const needed = 'about five independent peers are needed; bans and good sessions would say more.';
  says(weighed(), report(3), 'Known to 3 independent peers.', `Reports alone: ${needed}`);
});

test('the explanation of an untrusted player names the number of witnesses', () => {
  const twoSided = 'Most of this evidence comes from peers that also report good behaviour.';
  says(weighed(sure), report(4), 'Known to 4 independent peers.', twoSided);
  const some = weighed({ ...sure, witness: [0, 0, 2, 3, 4, 5, 6, 7] });
  says(some, report(4), 'Known to 4 peers, which are 3 independent witnesses.', twoSided);
  const [one] = reasonsAfter(weighed({ ...sure, witness: all(0) }), report(4));
  assert.match(one!, /^Known to 4 peers, of which only one is an independent witness/);
});

test('the explanation says that peers have no weight, or that evidence does not count', () => {
  assert.match(reasonsAfter(new Given().peers(2), report(2))[0]!, /^No peer that knows this player has a weight/);
  const nothing = (given: Given) => void given.event(0, 'p', { severity: 0 });
  says(weighed(), nothing, 'No peer holds evidence about this player that counts.');
});

test('the explanation counts independent bans, and says if one more makes a player untrusted', () => {
  const known = (peers: number) => `Known to ${peers} independent peers.`;
  says(weighed(), ban(2), known(2), 'Banned by 2 independent servers; one more would make it untrusted.');
  says(weighed(), ban(3), known(3), 'Banned by 3 independent servers.');
  const [, joined] = reasonsAfter(weighed({ witness: [0, 0, 2, 3, 4, 5, 6, 7] }), ban(3));
  const repeated = '3 peers banned it, 2 of them after others had: they count as';
  assert.is(joined, `${repeated} 2; one more would make it untrusted.`);
  const enough = 'Their evidence together is not enough for a verdict.';
  says(weighed({ finds: [1, 0, 0], m: [3.4, 0, 0] }), ban(3), known(3), `${repeated} 1.`, enough);
});

test('a ban that its peer lifted is not counted, though its peer still reports the player', () => {
  const given = weighed();
  ban(2)(given);
  const counts = () => [given.explain('p').banned, given.explain('p').bannedAfterOthers];
  assert.equal(counts(), [2, 1]);
  given.event(1, 'p', { eventType: 'ban_lifted' });
  given.event(1, 'p');
  assert.equal(counts(), [1, 0]);
});

test('of two peers the explanation does not say which one banned', () => {
  const reasons = reasonsAfter(weighed(), ban(1), (given) => void given.event(1, 'p'));
  assert.not.match(reasons.join(' '), /ban/i);
});

test('with fewer than three peers the explanation does not reveal how they split', () => {
  for (const peers of [2, 3]) {
    const lowers = (given: Given) => void given.event(peers - 1, 'p', { severity: 0.5 });
    const [, ...reasons] = reasonsAfter(weighed(sure), lowers, send('commendation', peers - 1, 2));
    const split = peers === 3 ? ['Its peers disagree, and the good reports prevail.'] : [];
    assert.equal(reasons, [...split, 'For trusted, more good reports would be needed.'], `${peers} peers`);
  }
});

test('the explanation of a good player says which reports are missing until it is trusted', () => {
  const missing = 'For trusted, more good reports would be needed.';
  says(weighed(sure), send('commendation', 1, 1), 'Known to one peer only.', missing);
  const doubted = weighed(sure);
  for (let peer = 0; peer < 6; peer++) doubted.event(peer, 'p', { severity: 0.1 });
  says(doubted, send('commendation', 6, 4), 'Known to 6 independent peers.');
});

test('the explanation of a player on the allow list says that nothing else counts', () => {
  const given = weighed(sure);
  report(4)(given);
  assert.equal(reasonsOf('neutral', { ...given.explain('p'), allowed: true }), [
    'The player is on the allow list of the group and reads as neutral, whatever its peers reported.',
  ]);
});

test('an explanation says whether pre-trusted peers are among those whose evidence counts', () => {
  const given = weighed(sure);
  given.done(decidePreTrust(given.state, { change: 'add', peerId: 'peer-1', by: 'test' }, t0));
  given.event(0, 'p');
  assert.is(given.explain('p').preTrusted, false);
  given.event(1, 'p');
  assert.is(given.explain('p').preTrusted, true);
});

test.run();
