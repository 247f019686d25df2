import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { arrivals, countEntries, credentials, entriesOf, lowers, peerOfEntry } from '../../bench/core/population.js';

const population = { players: 10_000, peers: 20, seed: 4 };

test('every entry of every player arrives once, and every peer reports a player known to all', () => {
  const known = { ...population, knownToAll: 1 };
  const seen = new Set<string>();
  for (const [player, entry] of arrivals(known)) {
    assert.ok(entry < entriesOf(known, player));
    seen.add(`${player} ${entry}`);
  }
  assert.is(seen.size, countEntries(known));
  assert.is(entriesOf(known, 0), population.peers);
});

test('players have 2.3 entries on average, each of another peer', () => {
  assert.ok(Math.abs(countEntries(population) / population.players - 2.3) < 0.05);
  for (let player = 0; player < 1_000; player++) {
    const count = entriesOf(population, player);
    const peers = Array.from({ length: count }, (_, entry) => peerOfEntry(population, player, entry));
    assert.is(new Set(peers).size, count);
  }
});

test('one in twenty players is bad, and 85 of 100 entries are right about it', () => {
  // 0.05 x 0.85 + 0.95 x 0.15
  const against = Array.from({ length: population.players }, (_, player) => lowers(population, player, 0));
  assert.ok(Math.abs(against.filter(Boolean).length / population.players - 0.185) < 0.015);
});

test('a population of one player and one peer has one entry', () => {
  assert.equal([...arrivals({ players: 1, peers: 1, seed: 1 })], [[0, 0]]);
});

test('keys follow from the seed', () => {
  assert.equal(credentials(population), credentials({ ...population }));
  assert.is(new Set(credentials(population).map(({ apiKey }) => apiKey)).size, 20);
  assert.is.not(credentials(population)[0]!.apiKey, credentials({ ...population, seed: 5 })[0]!.apiKey);
});

test.run();
