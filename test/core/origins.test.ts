/** Declared origins: what several peers pass on of one source counts once, for no more than the best of them. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { trustConstants } from '../../src/core/evidence/trust-constants.js';
import { dayMs, Given, hourMs, t0 } from '../support/given.js';
import { Random } from '../support/random.js';

const labelled = (origin: string) => ({ schemaVersion: '1.1.0', origin });

/** A list that is right about most of its players, and what honest two-sided peers say of them and of others. */
const list = Array.from({ length: 60 }, (_, i) => `listed-${i}`);

/**
 * A group of honest peers, and importers of the list behind them. `own`: whether importers also report players of their
 * own, which others report, too.
 */
function group(importers: number, origin: string | null, own = false): Given {
  const given = new Given().peers(5 + importers);
  if (origin !== null) given.origin(origin);
  const random = new Random(7);
  const honest = [0, 1, 2, 3, 4];
  for (const [i, player] of list.entries()) {
    const isBad = i % 6 !== 0;
    for (const peer of honest) {
      if (random.next() < 0.5) continue;
      const isRight = random.next() < 0.9;
      given.event(peer, player, { eventType: isBad === isRight ? 'report_cheating' : 'commendation' });
    }
  }
  for (let i = 0; i < 40; i++) {
    for (const peer of own ? [...honest, 5] : honest) {
      if (random.next() < 0.6)
        given.event(peer, `other-${i}`, { eventType: i % 4 ? 'commendation' : 'report_cheating' });
    }
  }
  for (let importer = 5; importer < 5 + importers; importer++) {
    for (const player of list) given.event(importer, player, origin === null ? {} : labelled(origin));
  }
  return given;
}

const everyPlayer = [...list, ...Array.from({ length: 40 }, (_, i) => `other-${i}`)];

function reads(given: Given, at = t0) {
  return everyPlayer
    .filter((player) => given.row(player) >= 0)
    .map((player) => {
      const { score, confidence, verdict } = given.trust(player, at);
      return { player, score, confidence, verdict };
    });
}

for (const own of [false, true]) {
  const what = own ? 'also report players of their own' : 'have nothing else';
  test(`three carriers of one list weigh and score as one does, if they ${what}`, () => {
    const one = group(1, 'list', own);
    const three = group(3, 'list', own);
    const [alone, together] = [one.compute(), three.compute()];
    assert.equal([...together.weight.slice(0, 6)], [...alone.weight.slice(0, 6)]);
    const originOf = ({ state }: Given) => state.origins.named('list')!.index;
    assert.is(together.weight[originOf(three)], alone.weight[originOf(one)]);
    assert.ok(alone.weight[originOf(one)]! > 0.05, 'the list has a weight');
    assert.equal(reads(three), reads(one));
    assert.is(three.trust(list[0]!).eventCount, one.trust(list[0]!).eventCount + 2, 'each event is held');
  });
}

test('the peers that carry a list count as three where it is unlabelled', () => {
  // Ten players only: too few to be found out as copies.
  const short = (importers: number, origin?: string) => {
    const given = new Given().peers(2 + importers);
    if (origin !== undefined) given.origin(origin);
    for (let i = 0; i < 10; i++) {
      for (let importer = 2; importer < 2 + importers; importer++) {
        given.event(importer, `p-${i}`, origin === undefined ? {} : labelled(origin));
      }
    }
    given.compute();
    return given.trust('p-0').score;
  };
  assert.ok(short(3) < short(1) - 3, 'three witnesses');
  assert.is(short(3, 'list'), short(1, 'list'));
});

test('events that peers carry change the weight of no peer', () => {
  const without = group(0, 'list').compute();
  const with3 = group(3, 'list').compute();
  for (const column of ['tau', 'a', 'b', 'z'] as const) {
    assert.equal([...with3[column].slice(0, 5)], [...without[column].slice(0, 5)], column);
  }
});

test('the weight of an origin never exceeds that of the best peer that carries it', () => {
  for (const own of [false, true]) {
    const given = group(3, 'list', own);
    const { weight } = given.compute();
    const { list: origins, carriers } = given.state.origins;
    const best = Math.max(...carriers.map(({ peer }) => weight[peer]!));
    assert.ok(weight[origins[0]!.index]! <= best, `${weight[origins[0]!.index]} of ${best}`);
    for (const { index, peer } of carriers) assert.ok(weight[index]! <= weight[peer]!, `carrier ${index}`);
  }
});

test('a carrier without weight gives an origin no weight about a player that only it names', () => {
  const given = group(2, 'list', true);
  // A peer that contradicts everybody, and puts a victim to the list.
  given.peers(1);
  const liar = given.state.numbers - 1;
  for (const [i, player] of list.entries()) {
    given.event(liar, player, { eventType: i % 6 === 0 ? 'report_cheating' : 'commendation' });
  }
  given.event(liar, 'victim', labelled('list'));
  given.compute();
  assert.ok(given.trust('victim').score > 49, `${given.trust('victim').score}`);
});

test('a fresh key under an origin changes neither the weight of the origin nor any verdict', () => {
  const at = t0 + 30 * dayMs;
  const given = group(2, 'list', true);
  const origin = given.state.origins.named('list')!.index;
  const before = given.compute(at).weight[origin]!;
  const verdicts = reads(given, at);
  given.peers(1, at - hourMs);
  const fresh = given.state.peers.list.at(-1)!.index;
  for (let i = 0; i < 300; i++) {
    const player = everyPlayer[i % 120] ?? `fresh-${i}`;
    given.event(fresh, player, { ...labelled('list'), eventType: 'commendation', timestamp: at - i }, at);
  }
  const after = given.compute(at).weight[origin]!;
  assert.ok(before > 0.05 && Math.abs(after - before) < 1e-9, `${before} became ${after}`);
  for (const { player, verdict } of verdicts) assert.is(given.trust(player, at).verdict, verdict, player);
});

test('a peer is one witness about a player, however many origins it uses', () => {
  const given = new Given().peers(3);
  for (const name of ['a', 'b', 'c']) given.origin(name);
  for (let i = 0; i < 20; i++) for (const peer of [0, 1, 2]) given.event(peer, `p-${i}`);
  given.event(0, 'alone');
  given.event(0, 'victim');
  for (const origin of ['a', 'b', 'c']) given.event(0, 'victim', labelled(origin));
  given.compute();
  assert.is(given.trust('victim').score, given.trust('alone').score);
  assert.is(given.trust('victim').confidence, given.trust('alone').confidence);
  const { witnesses, peers } = given.explain('victim');
  assert.equal([witnesses, peers], [1, 1]);
});

test('an explanation counts the heaviest evidence of the carriers of an origin, both sides together', () => {
  const given = new Given().peers(4).origin('list');
  for (const peer of [0, 1, 2]) given.event(peer, 'p', labelled('list'));
  given.event(1, 'p', { ...labelled('list'), eventType: 'commendation' });
  given.event(3, 'p', { severity: 0.5 });
  given.event(3, 'p', { eventType: 'commendation', severity: 0.25 });
  const { lowering, raising, peers } = given.explain('p');
  assert.equal([lowering, raising, peers], [1.5, 1.25, 4]);
});

test('an almost worthless vote of its own does not reduce the evidence that a peer carries', () => {
  const given = group(3, 'list', true);
  given.event(5, 'carried', labelled('list'));
  given.event(5, 'both', labelled('list'));
  given.event(5, 'both', { severity: 1e-9 });
  given.compute();
  const { confidence } = given.trust('both');
  assert.ok(confidence > 0.01, `${confidence}`);
  assert.ok(Math.abs(confidence - given.trust('carried').confidence) < 1e-6, `${confidence}`);
});

test('a withdrawal by one carrier leaves the evidence of the others', () => {
  const given = group(3, 'list');
  const last = given.event(6, 'late', labelled('list'));
  given.event(7, 'late', labelled('list'));
  given.compute();
  const before = given.trust('late');
  assert.ok(last.ok && given.withdraw(6, last.value) === 'ok');
  const { eventCount, score, verdict } = given.trust('late');
  assert.equal([eventCount, score, verdict], [before.eventCount - 1, before.score, before.verdict]);
});

test('another peer cannot withdraw an event that a carrier sent', () => {
  const given = group(2, 'list');
  const sent = given.event(5, 'late', labelled('list'));
  assert.ok(sent.ok);
  const carrier = given.state.origins.carrierOf(5, given.state.origins.named('list')!.index)!.index;
  for (const caller of [6, carrier]) assert.is(given.withdraw(caller, sent.value), 'event_not_found');
});

test('events that a revoked peer carries count for nothing', () => {
  const given = new Given().peers(3).origin('list');
  for (let i = 0; i < 20; i++) for (const peer of [1, 2]) given.event(peer, `p-${i}`);
  given.event(0, 'victim', labelled('list'));
  given.compute();
  assert.ok(given.trust('victim').score < 50);
  given.setStatus('peer-0', 'revoked');
  assert.is(given.trust('victim').score, 50);
  assert.is(given.trust('victim').confidence, 0);
});

test('an undeclared origin is refused, but a stored event is a duplicate whatever became of its origin', () => {
  const given = new Given().peers(1).origin('list');
  const refusal = (origin: string, eventId: string) => {
    const outcome = given.event(0, 'p', { ...labelled(origin), eventId });
    return outcome.ok ? 'accepted' : outcome.code;
  };
  assert.is(refusal('list', 'x'), 'accepted');
  assert.is(refusal('another', 'y'), 'unknown_origin');
  assert.is(refusal('list', 'x'), 'duplicate_event');
  given.origin('list', 'remove');
  assert.is(refusal('list', 'x'), 'duplicate_event');
  assert.is(refusal('list', 'y'), 'unknown_origin');
  assert.is(given.trust('p').eventCount, 1, 'what is held stays');
  const numbers = given.state.numbers;
  given.origin('list');
  assert.is(refusal('list', 'z'), 'accepted');
  assert.is(given.state.numbers, numbers, 'an origin that is declared again is the same');
});

test('a lifting under an origin cancels what the peer carried of it, and none of its own events', () => {
  const given = new Given().peers(2).origin('list');
  given.event(0, 'p');
  given.event(0, 'p', labelled('list'));
  given.event(0, 'p', { ...labelled('list'), eventType: 'ban_lifted' });
  const { entries } = given.state.subjects;
  const row = given.row('p');
  const sums = [0, 1].map((i) => entries.lowering(given.state.subjects.firstEntry(row) + i));
  assert.equal(sums, [1, 0]);
});

test('numbers of origins and carriers are unique, and peers keep theirs', () => {
  const given = new Given().peers(2).origin('list').peers(1);
  given.event(0, 'p', labelled('list'));
  given.peers(1);
  const { peers, origins, numbers } = given.state;
  const pages = [peers.list, peers.page(1, 2), peers.page(4, 5), peers.page(6, 5)];
  const indexes = pages.map((page) => page.map(({ index }) => index).join());
  assert.equal(indexes, ['0,1,3,5', '1,3', '5', '']);
  assert.equal([origins.list[0]!.index, origins.carriers[0]!.index, numbers], [2, 4, 6]);
  // The first peer is not number 0, and its own number is its place in the list plus one.
  const [first] = new Given().origin('list').peers(2).state.peers.page(1, 1);
  assert.is(first?.index, 1);
  assert.throws(() => peers.at(2), /no peer number 2/);
});

test('in a sampled group carriers are sampled like their origin', () => {
  const sampled = { ...trustConstants, sampledPlayers: 40, sampledPlayersPerPeer: 1, gatePlayersPerPair: 20 };
  assert.ok(sampled.sampledPlayers < everyPlayer.length);
  const given = [1, 3].map((importers) => group(importers, 'list', true));
  const [one, three] = given.map((of) => of.compute(t0, sampled));
  assert.equal([...three!.weight.slice(0, 6)], [...one!.weight.slice(0, 6)]);
});

test.run();
