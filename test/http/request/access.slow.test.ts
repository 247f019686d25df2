/** States of callers and forms of ids; who may ask what is the table of `authorization.slow.test.ts`. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startTestNode } from '../../support/node.js';
import { type Answer, ask, askRaw } from '../exchange.js';
import { startFace } from '../face.js';
import { newPlayer, registerPeer, setStatus } from '../peer-client.js';

/** A node with two active peers and one each that is suspended and revoked. */
async function callers(variables: Record<string, string> = {}) {
  const node = await startTestNode(variables);
  const peer = (name: string) => registerPeer(node.url, name);
  const [active, second, suspended, revoked] = [await peer('A'), await peer('B'), await peer('C'), await peer('D')];
  await setStatus(node, suspended.peerId, 'suspended');
  await setStatus(node, revoked.peerId, 'revoked');
  return { node, active, second, suspended, revoked, [Symbol.asyncDispose]: () => node.close() };
}

test('suspension can be lifted, and a rotated key dies at once', async () => {
  await using group = await callers();
  const { node, active, suspended } = group;
  await setStatus(node, suspended.peerId, 'active');
  assert.is((await suspended.submit()).status, 201);
  const rotated = await node.group.rotateKey(active.peerId, 0, 'test');
  assert.is((await active.submit()).body.code, 'invalid_api_key');
  const key = rotated.ok ? rotated.value.apiKey : '';
  assert.is((await ask(node.url, '/api/v1/events', { key, json: active.event() })).status, 201);
});

test('with authentication off the body names the acting peer, also of each item of a batch', async () => {
  await using group = await callers({ PEER_AUTH_ENABLED: 'false' });
  const { node, active, second, suspended, revoked } = group;
  const player_id = newPlayer();
  const own = active.event({ player_id });
  const events = [
    own,
    second.event({ player_id }),
    active.event({ peer_id: 'nobody' }),
    suspended.event(),
    revoked.event(),
  ];
  const { body } = await ask(node.url, '/api/v1/events/batch', { json: { events } });
  const codes = body.results.map((one: Answer['body']) => one.code ?? one.status);
  assert.equal(codes, [201, 201, 'unknown_peer', 'peer_not_active', 'peer_not_active']);
  const alone: unknown[] = [];
  for (const json of [active.event(), ...events.slice(2)]) {
    const answer = await ask(node.url, '/api/v1/events', { json });
    alone.push(answer.body.code ?? answer.status);
  }
  assert.equal(alone, [201, 'unknown_peer', 'peer_not_active', 'peer_not_active']);
  const { body: withdrawn } = await ask(node.url, `/api/v1/events/${own.event_id}`, { method: 'DELETE' });
  assert.is(withdrawn.event_id, own.event_id);
});

test('in high-security mode only subject hashes pass in bodies', async () => {
  await using node = await startTestNode({ IDENTITY_MODE: 'high-security' });
  const peer = await registerPeer(node.url);
  assert.is((await ask(node.url, '/api/v1/peers')).body.group.identity_mode, 'high-security');
  const refused = await peer.submit({ player_id: 'passport-1' });
  assert.equal([refused.status, refused.body.code], [422, 'subject_hash_required']);
  const player_id = 'AB'.repeat(32);
  assert.is((await peer.submit({ player_id })).status, 201);
  assert.is((await ask(node.url, `/api/v1/players/${player_id.toLowerCase()}/trust-score`)).body.event_count, 1);
});

test('a group with kinds accepts only canonical ids and hashes, and its refusal never contains the id', async () => {
  await using node = await startTestNode({ PLAYER_ID_KINDS: 'steam,minecraft' });
  const peer = await registerPeer(node.url);
  const canonical = '76561202255225729';
  const odd = 'STEAM_0:1:2147480000';
  assert.equal((await ask(node.url, '/api/v1/peers')).body.group.player_id_kinds, ['steam', 'minecraft']);
  const item = (player_id: string) => peer.event({ player_id });
  const ids = [canonical, odd, 'BOT', '0a0b0c0d-1111-4222-8333-444455556601', 'AB'.repeat(32)];
  const json = { events: ids.map(item) };
  const { body: batch } = await ask(node.url, '/api/v1/events/batch', { key: peer.key, json });
  const statuses = batch.results.map(({ status }: Answer['body']) => status);
  assert.equal(statuses, [201, 422, 422, 201, 201]);
  const asked = encodeURIComponent(odd);
  const refusals = [batch.results[1], (await peer.submit({ player_id: odd })).body];
  for (const path of [`players/${asked}/trust-score`, `players/${asked}/verdict`, `players/${asked}/events`]) {
    assert.is((await ask(node.url, `/api/v1/${path.replace(asked, canonical)}`)).status, 200);
    refusals.push((await ask(node.url, `/api/v1/${path}`)).body);
  }
  const match = (last: string) => ask(node.url, `/api/v1/trust-scores?ids=${canonical},${last}`);
  assert.is((await match('ab'.repeat(32))).status, 200);
  refusals.push((await match(asked)).body);
  const canonical_forms = [
    { kind: 'steam', form: 'the decimal SteamID64 of 17 digits' },
    { kind: 'minecraft', form: 'the UUID of version 4 in lower case with dashes' },
  ];
  for (const { code, details, error } of refusals) {
    assert.equal([code, details], ['player_id_not_canonical', { canonical_forms }]);
    assert.match(error, 'SteamID64');
    assert.not.match(error, '2147480000');
  }
});

test('an expectation other than 100-continue is 417, and its body is not waited for', async () => {
  await using face = await startFace();
  for (const [head, status] of [
    ['GET /api/v1/players/x/trust-score HTTP/1.1\r\nExpect: 200-ok\r\n', 417],
    ['GET /api/v1/peers HTTP/1.1\r\nExpect: something, 100-continue\r\n', 417],
    ['POST /api/v1/events HTTP/1.1\r\nExpect: x\r\nContent-Length: 100\r\n', 417],
    ['DELETE /api/v1/events/x HTTP/1.1\r\nExpect: x\r\nContent-Length: 100\r\n', 417],
    ['GET /api/v1/peers HTTP/1.1\r\nExpect: 100-Continue\r\nConnection: close\r\n', 200],
    ['GET /api/v1/peers HTTP/1.0\r\nExpect: x\r\n', 200],
  ] as const) {
    const [method, path] = head.split(' ');
    const [answer] = await askRaw(face.port, [`${head}Host: x\r\n\r\n`], {
      method: method!,
      path: path!,
      until: (text) => text.includes('}'),
    });
    assert.is(answer?.status, status, head);
    if (status === 417) assert.is(JSON.parse(answer?.text ?? '').code, 'expectation_failed');
  }
});

test.run();
