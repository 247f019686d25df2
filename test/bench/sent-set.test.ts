/** How a data set becomes the events of its peers. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { makeBatches } from '../../bench/data/sent-set.js';
import { simulate } from '../../bench/quality/simulator.js';
import { readingsOf } from '../../bench/quality/through-node.js';

const set = simulate('none', 1, { peers: 4, players: 300 });
const peers = set.peers.map((name) => ({ peer_id: `id of ${name}`, api_key: `key of ${name}` }));

test('a batch contains events of the peer whose key it carries, at most 500', () => {
  const batches = makeBatches(set, 'r', peers);
  assert.is(batches.flatMap(({ events }) => events).length, set.observations.length);
  for (const { apiKey, events } of batches) {
    assert.ok(events.length <= 500);
    assert.ok(events.every(({ peer_id: id }) => id.replace('id', 'key') === apiKey));
  }
});

test('no two events of a set without times are of one time', () => {
  const events = makeBatches(set, 'r', peers).flatMap((batch) => batch.events);
  assert.is(new Set(events.map(({ timestamp }) => timestamp)).size, events.length);
  assert.is(new Set(events.map(({ event_id: id }) => id)).size, events.length);
});

test('a player that the node does not know is neutral', () => {
  const counted = { event_count: 3, updated_at: '2026-01-01T00:00:00.000Z' };
  const known = { player_id: 'p', score: 12.5, confidence: 0.4, verdict: 'untrusted', ...counted } as const;
  const { score, confidence, verdict } = readingsOf([known, { player_id: 'q', code: 'player_not_found' }]);
  assert.equal([...score], [12.5, 50]);
  assert.equal([...confidence], [0.4, 0]);
  assert.equal(verdict, ['untrusted', 'neutral']);
});

test.run();
