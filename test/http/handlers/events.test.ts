/** POST /api/v1/events and DELETE /api/v1/events/{event_id}: what is stored, what is refused, in which order. */
import { hash } from 'node:crypto';
import { connect } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { eventTypeNames } from '../../../src/core/evidence/event-types.js';
import { filesUnder, found } from '../../security/needles.js';
import { startTestNode, type TestNode } from '../../support/node.js';
import { ask } from '../exchange.js';
import { newPlayer, type PeerClient, registerPeer, setStatus } from '../peer-client.js';

let node: TestNode;
let peer: PeerClient;
let other: PeerClient;

test.before(async () => {
  node = await startTestNode();
  peer = await registerPeer(node.url, 'One', ['second']);
  other = await registerPeer(node.url, 'Other');
});

test.after(() => node.close());

const dayMs = 86_400_000;
const inDays = (days: number, ms = 0): string => new Date(Date.now() + days * dayMs + ms).toISOString();

test('an accepted event comes back as stored, without its signature', async () => {
  const event = { ...peer.event({ timestamp: '2026-01-02T03:04:05.6789+00:00' }), signature: { any: ['thing'] } };
  const before = Date.now();
  const { status, body } = await ask(node.url, '/api/v1/events', { key: peer.key, json: event });
  assert.is(status, 201);
  const { signature: _left, ...rest } = event;
  const { received_at, ...stored } = body;
  assert.equal(stored, { ...rest, timestamp: '2026-01-02T03:04:05.678Z', status: 'accepted' });
  assert.ok(Date.parse(received_at) >= before && Date.parse(received_at) <= Date.now());
});

test('the signature of an event is in no file of the node', async () => {
  const [signature, reference] = ['a-signature-that-nothing-else-has', 'a-reference-that-nothing-else-has'];
  assert.is((await peer.submit({ schema_version: '1.1.0', reference, signature: { signature } })).status, 201);
  const needles = [signature, reference].map((text) => ({ what: text, text }));
  const places = found(needles, filesUnder(node.dir));
  assert.equal(
    [signature, reference].map((text) => places.some((place) => place.startsWith(text))),
    [false, true],
  );
});

test('a key that is replaced, or whose peer is suspended, while a body arrives is refused', async () => {
  const late = await registerPeer(node.url, 'Late');
  const { port } = new URL(node.url);
  const codeOf = (path: string, body: string, meanwhile: () => Promise<unknown>) =>
    new Promise<string>((resolve) => {
      const socket = connect(Number(port), '127.0.0.1');
      const fields = `Host: x\r\nConnection: close\r\nX-Peer-API-Key: ${late.key}\r\nContent-Type: application/json\r\n`;
      socket.write(`POST ${path} HTTP/1.1\r\n${fields}Content-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`);
      let text = '';
      socket.on('data', (chunk) => {
        // The head was read, with a key that was good then.
        if (text === '') void meanwhile().then(() => socket.write(body));
        text += String(chunk);
      });
      socket.on('close', () => resolve(/"code":"(\w+)"/.exec(text)?.[1] ?? text));
    });
  const event = JSON.stringify(late.event());
  for (const [path, body] of [
    ['/api/v1/events', event],
    ['/api/v1/events/batch', `{"events":[${event}]}`],
    [`/api/v1/subjects/${'ab'.repeat(32)}/disputes`, '{"text":"not so"}'],
  ] as const) {
    assert.is(await codeOf(path, body, () => setStatus(node, late.peerId, 'suspended')), 'peer_not_active', path);
    await setStatus(node, late.peerId, 'active');
  }
  const rotate = () => node.group.rotateKey(late.peerId, 0, 'test');
  assert.is(await codeOf('/api/v1/events', event, rotate), 'invalid_api_key');
});

/** The code of the refusal of an event, or its status. */
async function outcomeOf(more: object): Promise<unknown> {
  const { status, body } = await peer.submit(more);
  return body.code ?? status;
}

test('an event of each type, and each end of the range of its fields, is taken', async () => {
  const taken = [
    ...eventTypeNames.map((event_type) => ({ event_type })),
    ...[0, 1].map((severity) => ({ severity })),
    ...['a', `A9._:-${'x'.repeat(122)}`, 'constructor', '__proto__'].map((event_id) => ({ event_id })),
    ...['0.1.0', '1.0.0', '1.99.3-rc.1+build'].map((schema_version) => ({ schema_version })),
    // Up to 24 hours ahead, and as old as one likes.
    ...[inDays(1, -5_000), inDays(-3_000), '0001-01-01T00:00:00Z'].map((timestamp) => ({ timestamp })),
  ];
  for (const more of taken) assert.is(await outcomeOf(more), 201, JSON.stringify(more));
});

test('an event of another major version or too far ahead is 422, and one with an invalid field 400', async () => {
  for (const schema_version of ['2.0.0', '10.0.0'])
    assert.is(await outcomeOf({ schema_version }), 'unsupported_schema_version', schema_version);
  for (const timestamp of [inDays(1, 60_000), '9999-12-31T23:59:59.999Z'])
    assert.is(await outcomeOf({ timestamp }), 'timestamp_in_future', timestamp);
  for (const more of [{ event_id: 'a/b' }, { player_id: '' }, { player_id: '\ud800' }, { severity: 2 }])
    assert.is(await outcomeOf(more), 'schema_validation_failed', JSON.stringify(more));
});

test('a second event with the same type and timestamp, however spelt, is stored and adds no evidence', async () => {
  const player = hash('sha256', newPlayer(), 'hex');
  const lowering = () => node.group.explain(Buffer.from(player, 'hex'))!.lowering;
  const say = (timestamp: string) => peer.submit({ player_id: player, severity: 0.1, timestamp });
  await say('2026-01-02T03:04:05.600Z');
  const before = lowering();
  assert.ok(before > 0);
  for (const timestamp of ['2026-01-02T03:04:05.6+00:00', '2026-01-02T03:04:05.6009Z']) {
    assert.is((await say(timestamp)).status, 201);
  }
  const batch = [0.9, 1].map((severity) =>
    peer.event({ player_id: player, severity, timestamp: '2026-01-02T03:04:05.6Z', event_id: `again-${severity}` }),
  );
  const { body } = await ask(node.url, '/api/v1/events/batch', { key: peer.key, json: { events: batch } });
  assert.is(body.accepted, 2);
  assert.ok(Math.abs(lowering() / before - 1) < 1e-3);
  const { body: read } = await ask(node.url, `/api/v1/players/${player}/trust-score`);
  assert.is(read.event_count, 5);
});

test('an event of severity 0, or older than 20 half-lives of its kind, is answered with counts: false', async () => {
  const countsOf = async (more: object) => {
    const { status, body } = await peer.submit({ player_id: newPlayer(), ...more });
    assert.is(status, 201);
    return 'counts' in body ? body.counts : 'absent';
  };
  const threeYears = { timestamp: inDays(-3 * 365) };
  assert.is(await countsOf({}), 'absent');
  assert.is(await countsOf({ severity: 0 }), false);
  assert.is(await countsOf(threeYears), false);
  assert.is(await countsOf({ ...threeYears, event_type: 'ban_applied' }), 'absent', 'bans have a longer half-life');
  assert.is(await countsOf({ timestamp: inDays(-10 * 365), event_type: 'ban_applied' }), false);
  assert.is(await countsOf({ ...threeYears, event_type: 'ban_lifted' }), 'absent');
  const twice = { player_id: newPlayer(), ...threeYears };
  assert.equal([await countsOf(twice), await countsOf(twice)], [false, false], 'nor does its repeat');
});

test('exactly one of many simultaneous events with one id is stored', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => peer.submit({ event_id: 'raced' })));
  const statuses = answers.map(({ status }) => status).sort();
  assert.equal(statuses, [201, ...Array(19).fill(409)]);
});

test('the checks come in the order of the contract', async () => {
  const wrong = {
    schema_version: '2.0.0',
    peer_id: other.peerId,
    game_id: 'unknown',
    timestamp: inDays(2),
    event_id: 'order',
  };
  await peer.submit({ event_id: 'order' });
  const code = (mended: object) => outcomeOf({ ...wrong, ...mended });
  assert.is(await code({ severity: 2 }), 'schema_validation_failed');
  assert.is(await code({}), 'unsupported_schema_version');
  const version = { schema_version: '1.0.0' };
  assert.is(await code(version), 'peer_id_mismatch');
  const own = { ...version, peer_id: peer.peerId };
  assert.is(await code(own), 'game_id_not_registered');
  const game = { ...own, game_id: 'arena' };
  assert.is(await code(game), 'timestamp_in_future');
  assert.is(await code({ ...game, timestamp: inDays(0) }), 'duplicate_event');
});

test("an event of a game that is not registered hears of the peer's games", async () => {
  const { status, body } = await peer.submit({ game_id: 'unknown' });
  assert.equal([status, body.code], [422, 'game_id_not_registered']);
  assert.is(body.error, 'game_id is not registered for this peer; its games are arena, second');
});

const ofJson = { 'Content-Type': 'application/json' };

const post = (raw: string | Uint8Array, headers: Record<string, string> = ofJson, path = '/api/v1/events') =>
  ask(node.url, path, { method: 'POST', key: peer.key, raw, headers });

test('the media type is JSON in UTF-8, without an encoding', async () => {
  const statusOf = async (headers: Record<string, string>) =>
    (await post(JSON.stringify(peer.event()), headers)).status;
  const [mime, coding] = ['Content-Type', 'Content-Encoding'];
  for (const type of [
    'application/json',
    'APPLICATION/JSON',
    'application/json;charset=UTF-8',
    'application/json; charset="utf-8"',
  ])
    assert.is(await statusOf({ [mime]: type }), 201, type);
  assert.is(await statusOf({ ...ofJson, [coding]: 'Identity' }), 201);
  assert.is(await statusOf({}), 415);
  for (const type of [
    '',
    'text/json',
    'application/jsonp',
    'application/json; charset=utf-16',
    'application/json; charset=',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
  ])
    assert.is(await statusOf({ [mime]: type }), 415, type);
  for (const encoding of ['gzip', 'deflate', 'br', 'nonsense', 'identity, gzip'])
    assert.is(await statusOf({ ...ofJson, [coding]: encoding }), 415, encoding);
});

test('a body is at most 16 KiB', async () => {
  const statusOf = async (bytes: number) => (await post(JSON.stringify(peer.event()).padEnd(bytes))).status;
  const sizes = [16 * 1024, 16 * 1024 + 1, 2 * 1024 * 1024];
  assert.equal([await statusOf(sizes[0]!), await statusOf(sizes[1]!), await statusOf(sizes[2]!)], [201, 413, 413]);
});

test('a body that is not UTF-8 JSON is malformed, and one that is not an object fails at its root', async () => {
  const text = JSON.stringify(peer.event({ player_id: 'PLAYER' }));
  const [before, behind] = text.split('PLAYER').map((part) => Buffer.from(part)) as [Buffer, Buffer];
  // A byte that UTF-8 never holds, a cut sequence, an overlong slash, half a surrogate pair.
  const notUtf8 = [[0xff], [0xc3], [0xc0, 0xaf], [0xed, 0xa0, 0x80]].map((bytes) =>
    Buffer.concat([before, Buffer.from(bytes), behind]),
  );
  for (const raw of [' ', '{', '{"a":1}}', "{'a':1}", '{"a":NaN}', '\u0000', 'undefined', ...notUtf8])
    assert.is((await post(raw)).body.code, 'malformed_json', String(raw));
  for (const path of ['/api/v1/events', '/api/v1/events/batch'])
    assert.is((await post('', ofJson, path)).body.error, 'the body is empty; it must be JSON');
  for (const raw of ['null', '3', '"x"', 'true', '[]', `[${text}]`]) {
    const { code, details } = (await post(raw)).body;
    assert.equal([code, details.field], ['schema_validation_failed', ''], raw);
  }
});

test('a player id is opaque and comes back as it was written', async () => {
  // The replacement character, which stands for invalid UTF-8 elsewhere, is a character like any other.
  const ids = ['a b', '\u{1F600}'.repeat(128), 'x/y?z#%', 'a%2Fb', 'ü,', '"', '../..', 'AB'.repeat(32), '\ufffd'];
  for (const player_id of ids) {
    assert.is((await peer.submit({ player_id })).body.player_id, player_id);
    const read = await ask(node.url, `/api/v1/players/${encodeURIComponent(player_id)}/trust-score`);
    assert.is(read.body.player_id, player_id);
  }
});

const withdraw = (id: string, { key } = peer, how = {}) =>
  ask(node.url, `/api/v1/events/${id}`, { method: 'DELETE', key, ...how });

test('a withdrawn event is no longer listed, its id stays taken, and a body of the request is ignored', async () => {
  const player_id = newPlayer();
  await peer.submit({ player_id, event_id: 'gone' });
  const { status, body } = await withdraw('gone', peer, { raw: 'not JSON' });
  assert.equal([status, body.event_id], [200, 'gone']);
  const again = await withdraw('gone');
  assert.equal([again.status, again.body.code], [404, 'event_not_found']);
  assert.is(await outcomeOf({ event_id: 'gone' }), 'duplicate_event');
  const score = (await ask(node.url, `/api/v1/players/${player_id}/trust-score`)).body;
  assert.equal([score.score, score.confidence, score.verdict, score.event_count], [50, 0, 'neutral', 0]);
});

test('the event of another peer, an unknown one, and an invalid event id cannot be withdrawn', async () => {
  await peer.submit({ event_id: 'kept' });
  for (const id of ['kept', 'never-sent', 'a%2Fb', 'x'.repeat(500), '%C3%BC']) {
    const { status, body } = await withdraw(id, other);
    assert.equal([status, body.code], [404, 'event_not_found'], id);
  }
  const bad = await withdraw('%ff');
  assert.equal([bad.status, bad.body.code], [400, 'invalid_parameter']);
  assert.is((await withdraw('kept')).status, 200);
});

test.run();
