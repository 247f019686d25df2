/** A key that bans nearly everybody: its bans count for nothing, and those of all others as before. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readVotes } from '../../../bench/quality/evidence-columns.js';
import { FOLLOWS } from '../../../src/core/evidence/evidence.js';
import { trustConstants } from '../../../src/core/evidence/trust-constants.js';
import { floodingWitness, followedOnlyFlood } from '../../../src/core/trust/flood.js';
import { VoteSums } from '../../../src/core/trust/sums/vote-sums.js';
import { Scratch } from '../../../src/core/trust/votes/scratch.js';
import { Witnesses } from '../../../src/core/trust/witnesses.js';
import type { PeerRelation } from '../../../src/core/vocabulary.js';
import { Given } from '../../support/given.js';
import { bad, banned, type Entry, evidenceOf, factsOf } from './small-groups.js';

const ban = { eventType: 'ban_applied' } as const;

/**
 * Five peers ban twenty players each, of whom some are shared; with `floods`, a sixth bans all of 500 players before.
 */
function group(floods: boolean): Given {
  const given = new Given().peers(6);
  if (floods) for (let i = 0; i < 500; i++) given.event(5, `p${i}`, ban);
  for (let peer = 0; peer < 5; peer++) for (let i = 0; i < 20; i++) given.event(peer, `p${peer * 12 + i}`, ban);
  given.compute();
  return given;
}

test('a key that bans everybody has no weight by it, and one honest ban beside its own stays neutral', () => {
  const given = group(true);
  const { measures } = given.state.weights;
  assert.is(measures!.finds[5], 0);
  assert.is(measures!.m[5], 0);
  assert.is(given.trust('p3').verdict, 'neutral');
});

test('two honest bans beside it make a player suspicious', () => {
  assert.is(group(true).trust('p12').verdict, group(false).trust('p12').verdict);
});

test('the first peer that imports its list floods nothing', () => {
  const given = new Given().peers(6);
  for (let i = 0; i < 500; i++) given.event(5, `p${i}`, ban);
  given.compute();
  assert.ok(given.state.weights.measures!.finds[5]! > 0.9);
});

function floodingIn(peers: number, rows: readonly (readonly Entry[])[], relations: PeerRelation[] = []): number {
  const scratch = new Scratch();
  const sums = new VoteSums(peers, trustConstants, scratch);
  sums.add(readVotes(evidenceOf(peers, rows), factsOf(peers), scratch));
  return floodingWitness(sums, new Witnesses(peers, relations), trustConstants);
}

/** True if peer 1 floods: it bans so many players, among them some of those that each of the `others` bans. */
function floods(players: number, others: readonly { readonly bans: number; readonly shared: number }[]): boolean {
  const rows: Entry[][] = others.flatMap(({ bans, shared }, i) => {
    const other = i === 0 ? 0 : i + 1;
    return Array.from({ length: bans }, (_, n) => (n < shared ? [banned(1), banned(other)] : [banned(other)]));
  });
  const shared = others.reduce((sum, other) => sum + other.shared, 0);
  for (let i = shared; i < players; i++) rows.push([banned(1)]);
  const flooding = floodingIn(others.length + 1, rows);
  assert.ok(flooding === 1 || flooding === -1);
  return flooding === 1;
}

const peersWith = (count: number, bans: number, shared: number) => new Array(count).fill({ bans, shared });

test('a peer floods from 100 players on, if these are three times the bans of all others', () => {
  assert.equal([floods(100, peersWith(3, 10, 10)), floods(99, peersWith(3, 10, 10))], [true, false]);
  assert.equal([floods(120, peersWith(4, 10, 10)), floods(119, peersWith(4, 10, 10))], [true, false]);
});

test('a peer floods if it holds seven tenths of the bans of three others that ban eight or more', () => {
  const withThird = (bans: number, shared: number) => floods(200, [...peersWith(2, 10, 7), { bans, shared }]);
  assert.equal(
    [withThird(10, 7), withThird(10, 6), withThird(8, 8), withThird(7, 7), floods(200, peersWith(2, 10, 10))],
    [true, false, true, false, false],
  );
});

test('a peer floods if it does so for half of the others that ban eight or more', () => {
  const beside = (...others: { bans: number; shared: number }[]) =>
    floods(300, [...peersWith(3, 8, 8), ...peersWith(3, 8, 0), ...others]);
  assert.equal([beside(), beside({ bans: 7, shared: 0 }), beside({ bans: 8, shared: 0 })], [true, true, false]);
});

test('others that share their bans with one another alone are flooded by nobody', () => {
  const apart = Array.from({ length: 120 }, () => [banned(0)]);
  const together = Array.from({ length: 10 }, () => [1, 2, 3, 4].map((peer) => banned(peer)));
  assert.is(floodingIn(5, [...apart, ...together]), -1);
});

test('a witness group floods by the bans of its busiest peer', () => {
  const shared = [2, 3, 4].flatMap((peer) => Array.from({ length: 10 }, () => [banned(0), banned(1), banned(peer)]));
  const flooded = (bans: number) => {
    const rows = [...shared, ...Array.from({ length: bans - 30 }, () => [banned(1)])];
    return floodingIn(5, rows, [{ first: 0, second: 1, relation: 'same' }]);
  };
  assert.equal([flooded(100), flooded(99)], [0, -1]);
});

test('bans that followed the flooding peer alone are own ones, and no others', () => {
  const scratch = new Scratch();
  const followed = banned(0, FOLLOWS);
  const rows = [
    [banned(1), followed],
    [banned(1), followed, bad(2)],
    [banned(1), followed, banned(2)],
    [banned(1), banned(0)],
    [followed, bad(2)],
  ];
  const votes = readVotes(evidenceOf(4, rows), factsOf(4), scratch);
  assert.equal([...followedOnlyFlood(votes, new Witnesses(4), 1, () => undefined)], [3 / 5, 0, 0, 0]);
});

test.run();
