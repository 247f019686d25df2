/** POST /api/v1/events/batch: each item as if it had come alone. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { limits } from '../../../src/limits.js';
import { startTestNode, type TestNode } from '../../support/node.js';
import { type Answer, ask } from '../exchange.js';
import { newPlayer, type PeerClient, registerPeer } from '../peer-client.js';

let node: TestNode;
let peer: PeerClient;
let other: PeerClient;

test.before(async () => {
  node = await startTestNode();
  peer = await registerPeer(node.url);
  other = await registerPeer(node.url, 'Other');
});

test.after(() => node.close());

function send(events: readonly unknown[], key = peer.key): Promise<Answer> {
  return ask(node.url, '/api/v1/events/batch', { key, json: { events } });
}

test('every event of a batch is of its own player, whatever is wrong with others', async () => {
  const players = Array.from({ length: 11 }, () => newPlayer());
  const events = players.map((player_id, i) => peer.event({ player_id, severity: i % 3 === 1 ? 2 : 0.5 }));
  const { body } = await send([null, ...events]);
  assert.equal([body.accepted, body.rejected], [7, 5]);
  for (const [i, player_id] of players.entries()) {
    const { status } = await ask(node.url, `/api/v1/players/${encodeURIComponent(player_id)}/trust-score`);
    assert.is(status, i % 3 === 1 ? 404 : 200, `${i}`);
  }
});

test('large batches that arrive at the same time, each in several pieces, are stored as they were sent', async () => {
  const batches = Array.from({ length: 4 }, () => Array.from({ length: limits.batchEventsMax }, () => newPlayer()));
  const answers = await Promise.all(
    batches.map((players) => send(players.map((player_id) => peer.event({ player_id })))),
  );
  for (const { body } of answers) assert.equal([body.accepted, body.rejected], [limits.batchEventsMax, 0]);
  for (const players of batches) {
    const asked = players.slice(-limits.matchIdsMax);
    const { body } = await ask(node.url, `/api/v1/trust-scores?ids=${asked.map(encodeURIComponent).join(',')}`);
    assert.equal(
      body.data.map((row: { player_id: string; event_count?: number }) => [row.player_id, row.event_count]),
      asked.map((id) => [id, 1]),
    );
  }
});

test('every item gets the result that it would have got alone, in the order sent', async () => {
  await other.submit({ event_id: 'theirs' });
  const first = await peer.submit({ event_id: 'stored' });
  const { status, body } = await send([
    peer.event({ event_id: 'new' }),
    peer.event({ event_id: 'stored' }),
    peer.event({ event_id: 'theirs' }),
    peer.event({ event_id: 'new' }),
    peer.event({ event_id: 'severe', severity: 2 }),
    { event_id: 'incomplete' },
    null,
    { event_id: 7 },
    peer.event({ event_id: 'mismatch', peer_id: other.peerId }),
    peer.event({ event_id: 'version', schema_version: '3.0.0' }),
    peer.event({ event_id: 'game', game_id: 'unknown' }),
    peer.event({ event_id: 'future', timestamp: '9999-01-01T00:00:00Z' }),
    peer.event({ event_id: 'last' }),
  ]);
  assert.is(status, 200);
  const outcomes = body.results.map((one: { event_id: unknown; status: number; code?: string }) => [
    one.event_id,
    one.status,
    one.code,
  ]);
  assert.equal(outcomes, [
    ['new', 201, undefined],
    ['stored', 409, 'duplicate_event'],
    ['theirs', 409, 'duplicate_event'],
    ['new', 409, 'duplicate_event'],
    ['severe', 400, 'schema_validation_failed'],
    ['incomplete', 400, 'schema_validation_failed'],
    [null, 400, 'schema_validation_failed'],
    [null, 400, 'schema_validation_failed'],
    ['mismatch', 422, 'peer_id_mismatch'],
    ['version', 422, 'unsupported_schema_version'],
    ['game', 422, 'game_id_not_registered'],
    ['future', 422, 'timestamp_in_future'],
    ['last', 201, undefined],
  ]);
  assert.equal([body.accepted, body.duplicates, body.rejected], [2, 3, 8]);
  assert.equal(body.results[1].details, { event_id: 'stored', originally_received_at: first.body.received_at });
  assert.equal(body.results[2].details, { event_id: 'theirs', owner: 'other' });
  assert.equal(body.results[4].details, { field: '/severity', violation: 'maximum', actual: 2, limit: 1 });
  assert.equal(body.results[6].details, { field: '', violation: 'type' });
});

test('an event that would be too large alone is too large in a batch', async () => {
  const limit = limits.eventBodyBytes;
  const ofSize = (event_id: string, bytes: number, more: object = {}) => {
    const event = { ...peer.event({ event_id }), signature: '', ...more };
    return { ...event, signature: 'x'.repeat(bytes - Buffer.byteLength(JSON.stringify(event))) };
  };
  const items = [ofSize('fits', limit), ofSize('large', limit + 1), ofSize('unknown', limit + 1, { unknown: 1 })];
  const { body } = await send([...items, peer.event({ event_id: 'small' })]);
  const statuses = body.results.map((one: { status: number }) => one.status);
  assert.equal(statuses, [201, 413, 413, 201]);
  assert.is(body.results[1].code, 'payload_too_large');
  for (const [i, json] of items.entries()) {
    const alone = await ask(node.url, '/api/v1/events', { key: peer.key, json });
    assert.is(alone.status, i === 0 ? 409 : statuses[i]);
  }
});

test('a batch body is at most 1 MiB, JSON, and needs a key', async () => {
  const path = '/api/v1/events/batch';
  const headers = { 'Content-Type': 'application/json' };
  const fits = JSON.stringify({ events: [peer.event()] }).padEnd(1024 * 1024, ' ');
  const status = async (raw: string, more: object = {}): Promise<number> =>
    (await ask(node.url, path, { method: 'POST', raw, headers, key: peer.key, ...more })).status;
  assert.is(await status(fits), 200);
  assert.is(await status(`${fits} `), 413);
  assert.is(await status('{'), 400);
  assert.is(await status(fits, { headers: { 'Content-Type': 'text/plain' } }), 415);
  assert.is(await status(fits, { key: '' }), 401);
  assert.is(await status(fits, { key: 'ptf_dev_wrong' }), 401);
});

test.run();
