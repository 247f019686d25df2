/** Counts the entries that reads visit: repeats are computed once, and a long match is computed in pieces. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { copyKey, KEY_WORDS } from '../../src/core/columns/packed-keys.js';
import type { TrustView } from '../../src/core/scoring/score.js';
import { keyColumns } from '../../src/core/tables/event-columns.js';
import { createGroup, type GroupDeps } from '../../src/group/group.js';
import { limits } from '../../src/limits.js';
import { Given, subjectKeyOf, subjectOf, t0 } from '../support/given.js';

const peers = limits.readEntriesAtOnce + 1;
const players = ['known', 'known too', 'known as well'];

/** A group of which every peer reported each of the players; counts the entries that its reads visit. */
function given() {
  const { state } = players.reduce((made, player) => {
    for (let peer = 0; peer < peers; peer++) made.event(peer, player);
    return made;
  }, new Given().peers(peers));
  const { entries } = state.subjects;
  const count = entries.count.bind(entries);
  const visits = { count: 0 };
  entries.count = (entry) => {
    visits.count++;
    return count(entry);
  };
  const deps = { current: { loop: { state } }, clock: { now: () => t0 } };
  return { visits, group: createGroup(deps as unknown as GroupDeps) };
}

function columnsOf(names: readonly string[]) {
  const columns = keyColumns(names.length);
  columns.count = names.length;
  for (const [i, name] of names.entries()) {
    const { words, at } = subjectKeyOf(name);
    copyKey(words, at, columns.keys, i * KEY_WORDS);
  }
  return columns;
}

test('a player that a match names 128 times is computed once', () => {
  const { group, visits } = given();
  const trusts: (TrustView | undefined)[] = [];
  group.trusts(columnsOf(new Array<string>(limits.matchIdsMax).fill('known')), trusts);
  assert.is(trusts.length, limits.matchIdsMax);
  for (const trust of trusts) assert.is(trust, trusts[0]);
  assert.is(trusts[0]?.eventCount, peers);
  assert.is(visits.count, peers);
});

test('a match visits no further player once it has visited as many entries as it may at once', () => {
  const { group, visits } = given();
  const columns = columnsOf(['nobody', ...players, 'nobody else', 'known']);
  const trusts: (TrustView | undefined)[] = [];
  const pieces: number[] = [];
  while (trusts.length < columns.count) {
    const before = visits.count;
    group.trusts(columns, trusts);
    assert.ok(visits.count - before <= peers);
    pieces.push(trusts.length);
  }
  assert.equal(pieces, [2, 3, 6]);
  assert.equal(
    trusts.map((trust) => trust?.eventCount),
    [undefined, peers, peers, peers, undefined, peers],
  );
});

test('only a read of more entries than one may visit at once is long', () => {
  const { group } = given();
  assert.is(group.isLongRead(subjectOf('known')), true);
  assert.is(group.isLongRead(subjectOf('nobody')), false);
});

test.run();
