/** POST /api/v1/events and DELETE /api/v1/events/{event_id}: what is stored, what is refused, in which order. */
import { hash } from 'node:crypto';
import { connect } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { refused } from '../../../src/errors.js';
import { filesUnder, found } from '../../security/needles.js';
import { startTestNode, type TestNode } from '../../support/node.js';
import { ask } from '../exchange.js';
import { startFace } from '../face.js';
import { activeKey } from '../group-double.js';
import { newPlayer, type PeerClient, registerPeer, setStatus } from '../peer-client.js';
import { eventBody } from '../samples.js';

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

test('every event type is taken, and both ends of severity', async () => {
  const types = [
    'report_cheating',
    'report_toxicity',
    'report_spam',
    'friendly_fire',
    'ban_applied',
    'session_anomaly',
    'matchmaking_fraud',
    'commendation',
    'session_clean',
    'ban_lifted',
  ] as const;
  for (const event_type of types) assert.is((await peer.submit({ event_type })).status, 201, event_type);
  for (const severity of [0, 1]) assert.is((await peer.submit({ severity })).body.severity, severity);
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

test('a stored event id is 409 with the time of its arrival, even if the content differs', async () => {
  const first = await peer.submit({ event_id: 'twice' });
  for (const more of [{}, { severity: 1, game_id: 'second', player_id: 'someone else' }]) {
    const { status, body } = await peer.submit({ event_id: 'twice', ...more });
    assert.is(status, 409);
    assert.equal(body.details, { event_id: 'twice', originally_received_at: first.body.received_at });
  }
});

test('the event id of another peer is a 409 that reveals nothing more', async () => {
  await peer.submit({ event_id: 'mine' });
  const { status, body } = await other.submit({ event_id: 'mine' });
  assert.is(status, 409);
  assert.equal(body.details, { event_id: 'mine', owner: 'other' });
});

test('exactly one of many simultaneous events with one id is stored', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => peer.submit({ event_id: 'raced' })));
  const statuses = answers.map(({ status }) => status).sort();
  assert.equal(statuses, [201, ...Array(19).fill(409)]);
});

test('an event id has 1 to 128 of letters, digits and . _ : -', async () => {
  for (const event_id of ['a', `A9._:-${'x'.repeat(122)}`, 'constructor', '__proto__']) {
    assert.is((await peer.submit({ event_id })).status, 201, event_id);
  }
  for (const event_id of ['', 'x'.repeat(129), 'a b', 'a/b', 'ä']) {
    assert.is((await peer.submit({ event_id })).body.code, 'schema_validation_failed', event_id);
  }
});

test('a schema version of major 0 or 1 is taken, another major is 422', async () => {
  for (const schema_version of ['0.1.0', '1.0.0', '1.99.3-rc.1+build']) {
    assert.is((await peer.submit({ schema_version })).status, 201, schema_version);
  }
  for (const schema_version of ['2.0.0', '10.0.0']) {
    const { status, body } = await peer.submit({ schema_version });
    assert.equal([status, body.code], [422, 'unsupported_schema_version']);
  }
});

test('a timestamp may be up to 24 hours ahead, and as old as one likes', async () => {
  for (const timestamp of [inDays(1, -5_000), inDays(-3_000), '0001-01-01T00:00:00Z']) {
    assert.is((await peer.submit({ timestamp })).status, 201, timestamp);
  }
  for (const timestamp of [inDays(1, 60_000), '9999-12-31T23:59:59.999Z']) {
    const { status, body } = await peer.submit({ timestamp });
    assert.equal([status, body.code], [422, 'timestamp_in_future'], timestamp);
  }
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
  const code = async (mended: object): Promise<unknown> => (await peer.submit({ ...wrong, ...mended })).body.code;
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

test('key, media type, size, JSON and schema are checked in this order', async () => {
  const path = '/api/v1/events';
  const big = ' '.repeat(17_000);
  const code = async (raw: string, headers: Record<string, string>): Promise<unknown> =>
    (await ask(node.url, path, { method: 'POST', raw, headers })).body.code;
  const text = { 'Content-Type': 'text/plain' };
  const json = { 'Content-Type': 'application/json' };
  const key = { 'X-Peer-API-Key': peer.key };
  assert.is(await code(big, text), 'missing_api_key');
  assert.is(await code(big, { ...text, 'X-Peer-API-Key': 'ptf_dev_wrong' }), 'invalid_api_key');
  assert.is(await code(big, { ...text, ...key }), 'unsupported_media_type');
  assert.is(await code(big, { ...json, ...key }), 'payload_too_large');
  assert.is(await code(' ', { ...json, ...key }), 'malformed_json');
  assert.is(await code('{}', { ...json, ...key }), 'schema_validation_failed');
});

test('an empty body is refused as empty', async () => {
  const headers = { 'Content-Type': 'application/json', 'X-Peer-API-Key': peer.key };
  for (const path of ['/api/v1/events', '/api/v1/events/batch']) {
    const { status, body } = await ask(node.url, path, { method: 'POST', raw: '', headers });
    assert.equal([status, body.code, body.error], [400, 'malformed_json', 'the body is empty; it must be JSON']);
  }
});

test("an event of a game that is not registered hears of the peer's games", async () => {
  const { status, body } = await peer.submit({ game_id: 'unknown' });
  assert.equal([status, body.code], [422, 'game_id_not_registered']);
  assert.is(body.error, 'game_id is not registered for this peer; its games are arena, second');
});

test('the media type is JSON in UTF-8, without an encoding', async () => {
  const send = async (headers: Record<string, string>): Promise<number> => {
    const raw = JSON.stringify(peer.event());
    return (await ask(node.url, '/api/v1/events', { method: 'POST', key: peer.key, raw, headers })).status;
  };
  const types = [
    'application/json',
    'APPLICATION/JSON',
    'application/json;charset=UTF-8',
    'application/json; charset="utf-8"',
  ];
  for (const type of types) assert.is(await send({ 'Content-Type': type }), 201, type);
  assert.is(await send({ 'Content-Type': 'application/json', 'Content-Encoding': 'Identity' }), 201);
  assert.is(await send({}), 415);
  for (const type of [
    '',
    'text/json',
    'application/jsonp',
    'application/json; charset=utf-16',
    'application/json; charset=',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
  ]) {
    assert.is(await send({ 'Content-Type': type }), 415, type);
  }
  for (const encoding of ['gzip', 'deflate', 'br', 'nonsense', 'identity, gzip']) {
    assert.is(await send({ 'Content-Type': 'application/json', 'Content-Encoding': encoding }), 415, encoding);
  }
});

test('a body is at most 16 KiB', async () => {
  const headers = { 'Content-Type': 'application/json' };
  const send = async (bytes: number): Promise<number> => {
    const raw = JSON.stringify(peer.event()).padEnd(bytes, ' ');
    return (await ask(node.url, '/api/v1/events', { method: 'POST', key: peer.key, raw, headers })).status;
  };
  assert.is(await send(16 * 1024), 201);
  assert.is(await send(16 * 1024 + 1), 413);
  assert.is(await send(2 * 1024 * 1024), 413);
});

test('a body that is not UTF-8 JSON is malformed, and one that is not an object fails at its root', async () => {
  const headers = { 'Content-Type': 'application/json' };
  const send = async (raw: string | Uint8Array): Promise<{ code: string; details?: { field: string } }> =>
    (await ask(node.url, '/api/v1/events', { method: 'POST', key: peer.key, raw, headers })).body;
  const text = JSON.stringify(peer.event({ player_id: 'PLAYER' }));
  const withBytes = (bytes: readonly number[]): Buffer => {
    const at = text.indexOf('PLAYER');
    return Buffer.concat([Buffer.from(text.slice(0, at)), Buffer.from(bytes), Buffer.from(text.slice(at + 6))]);
  };
  // A byte that UTF-8 never holds, a cut sequence, an overlong slash, half a surrogate pair.
  const notUtf8 = [[0xff], [0xc3], [0xc0, 0xaf], [0xed, 0xa0, 0x80]].map(withBytes);
  for (const raw of ['', ' ', '{', '{"a":1}}', "{'a':1}", '{"a":NaN}', '\u0000', 'undefined', ...notUtf8]) {
    assert.is((await send(raw)).code, 'malformed_json', String(raw));
  }
  for (const raw of ['null', '3', '"x"', 'true', '[]', `[${text}]`]) {
    const { code, details } = await send(raw);
    assert.equal([code, details?.field], ['schema_validation_failed', ''], raw);
  }
  // The replacement character itself is a character like any other.
  assert.is(
    (await ask(node.url, '/api/v1/events', { key: peer.key, json: peer.event({ player_id: '\ufffd' }) })).status,
    201,
  );
});

test('no field reaches a prototype', async () => {
  const headers = { 'Content-Type': 'application/json' };
  for (const field of ['__proto__', 'constructor', 'prototype', '\\u005f_proto__']) {
    const raw = JSON.stringify(peer.event()).replace('{', `{"${field}":{"isAdmin":true},`);
    const { body } = await ask(node.url, '/api/v1/events', { method: 'POST', key: peer.key, raw, headers });
    const name = field.replace('\\u005f', '_');
    assert.equal(body.details, { field: `/${name}`, violation: 'additionalProperties' });
  }
  assert.not('isAdmin' in {});
});

test('a player id is opaque and comes back as it was written', async () => {
  const ids = ['a b', '\u{1F600}'.repeat(128), 'x/y?z#%', 'ü,', '"', '../..', 'AB'.repeat(32)];
  for (const player_id of ids) {
    assert.is((await peer.submit({ player_id })).body.player_id, player_id);
    const read = await ask(node.url, `/api/v1/players/${encodeURIComponent(player_id)}/trust-score`);
    assert.is(read.body.player_id, player_id);
  }
  for (const player_id of ['', '\u{1F600}'.repeat(129), '\ud800']) {
    assert.is((await peer.submit({ player_id })).body.code, 'schema_validation_failed');
  }
});

test('a withdrawn event is no longer listed, and its id stays taken', async () => {
  const player_id = newPlayer();
  await peer.submit({ player_id, event_id: 'gone' });
  const path = '/api/v1/events/gone';
  const { status, body } = await ask(node.url, path, { method: 'DELETE', key: peer.key });
  assert.equal([status, body.event_id], [200, 'gone']);
  const again = await ask(node.url, path, { method: 'DELETE', key: peer.key });
  assert.equal([again.status, again.body.code], [404, 'event_not_found']);
  assert.is((await peer.submit({ event_id: 'gone' })).status, 409);
  const score = (await ask(node.url, `/api/v1/players/${player_id}/trust-score`)).body;
  assert.equal([score.score, score.confidence, score.verdict, score.event_count], [50, 0, 'neutral', 0]);
});

test('the event of another peer, an unknown one, and an invalid event id cannot be withdrawn', async () => {
  await peer.submit({ event_id: 'kept' });
  for (const id of ['kept', 'never-sent', 'a%2Fb', 'x'.repeat(500), '%C3%BC']) {
    const { status, body } = await ask(node.url, `/api/v1/events/${id}`, { method: 'DELETE', key: other.key });
    assert.equal([status, body.code], [404, 'event_not_found'], id);
  }
  const bad = await ask(node.url, '/api/v1/events/%ff', { method: 'DELETE', key: peer.key });
  assert.equal([bad.status, bad.body.code], [400, 'invalid_parameter']);
  assert.is((await ask(node.url, '/api/v1/events/kept', { method: 'DELETE', key: peer.key })).status, 200);
});

test('a body on DELETE is ignored', async () => {
  await peer.submit({ event_id: 'with-body' });
  const { status } = await ask(node.url, '/api/v1/events/with-body', {
    method: 'DELETE',
    key: peer.key,
    raw: 'not JSON',
  });
  assert.is(status, 200);
});

test('a player id that the group only accepts in another form is 422, with the forms that it accepts', async () => {
  const identity = {
    groupId: 'g',
    identityMode: 'privacy-first',
    environment: 'dev',
    playerIdKinds: ['steam'],
  } as const;
  const face = await startFace({ group: { identity, submit: async () => [refused('player_id_not_canonical')] } });
  const answer = ask(face.url, '/api/v1/events', { key: activeKey, json: eventBody() }).finally(() => face.drain());
  const { status, body } = await answer;
  assert.equal([status, body.code], [422, 'player_id_not_canonical']);
  assert.is(body.details.canonical_forms[0].kind, 'steam');
});

test.run();
