/** Keys and the refusals of callers; who may ask what is the table of `authorization.slow.test.ts`. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startTestNode, type TestNode } from '../../support/node.js';
import { type Answer, ask, askRaw } from '../exchange.js';
import { startFace } from '../face.js';
import { activeKey } from '../group-double.js';
import { newPlayer, type PeerClient, registerPeer, setStatus } from '../peer-client.js';

interface Callers {
  readonly node: TestNode;
  readonly active: PeerClient;
  readonly suspended: PeerClient;
  readonly revoked: PeerClient;
}

async function callers(variables: Record<string, string>): Promise<Callers> {
  const node = await startTestNode(variables);
  const active = await registerPeer(node.url, 'Active');
  const suspended = await registerPeer(node.url, 'Suspended');
  const revoked = await registerPeer(node.url, 'Revoked');
  await setStatus(node, suspended.peerId, 'suspended');
  await setStatus(node, revoked.peerId, 'revoked');
  return { node, active, suspended, revoked };
}

test('the refusals of a key say what is wrong with it', async () => {
  const { node, active, suspended } = await callers({});
  assert.is((await ask(node.url, '/api/v1/events', { json: active.event() })).body.error, 'missing api key');
  assert.is((await ask(node.url, '/api/v1/events', { json: active.event(), key: 'x' })).body.error, 'invalid api key');
  assert.is((await suspended.submit()).body.error, 'peer not active');
  await node.close();
});

test('suspension can be lifted, and a rotated key dies at once', async () => {
  const { node, active, suspended } = await callers({});
  await setStatus(node, suspended.peerId, 'active');
  assert.is((await suspended.submit()).status, 201);
  const rotated = await node.group.rotateKey(active.peerId, 0, 'test');
  assert.is((await active.submit()).body.code, 'invalid_api_key');
  const key = rotated.ok ? rotated.value.apiKey : '';
  assert.is((await ask(node.url, '/api/v1/events', { key, json: active.event() })).status, 201);
  await node.close();
});

test('with authentication off, the body names the acting peer', async () => {
  const { node, active, suspended, revoked } = await callers({ PEER_AUTH_ENABLED: 'false' });
  const send = (json: unknown): Promise<Answer> => ask(node.url, '/api/v1/events', { json });
  assert.is((await send(active.event())).status, 201);
  const unknown = await send(active.event({ peer_id: 'nobody' }));
  assert.equal([unknown.status, unknown.body.code], [422, 'unknown_peer']);
  for (const peer of [suspended, revoked]) {
    const { status, body } = await send(peer.event());
    assert.equal([status, body.code], [403, 'peer_not_active']);
  }
  await node.close();
});

test('with authentication off, the items of a batch may name different peers', async () => {
  const { node, active, suspended } = await callers({ PEER_AUTH_ENABLED: 'false' });
  const second = await registerPeer(node.url, 'Second');
  const player_id = newPlayer();
  const events = [
    active.event({ player_id }),
    second.event({ player_id }),
    suspended.event(),
    active.event({ peer_id: 'x' }),
  ];
  const { body } = await ask(node.url, '/api/v1/events/batch', { json: { events } });
  assert.equal(
    body.results.map((one: { status: number }) => one.status),
    [201, 201, 403, 422],
  );
  const { body: withdrawn } = await ask(node.url, `/api/v1/events/${events[0]?.event_id}`, { method: 'DELETE' });
  assert.is(withdrawn.event_id, events[0]?.event_id);
  await node.close();
});

test('in high-security mode only subject hashes pass, in bodies, too', async () => {
  await using node = await startTestNode({ IDENTITY_MODE: 'high-security' });
  const peer = await registerPeer(node.url);
  assert.is((await ask(node.url, '/api/v1/peers')).body.group.identity_mode, 'high-security');
  const refused = await peer.submit({ player_id: 'passport-1' });
  assert.equal([refused.status, refused.body.code], [422, 'subject_hash_required']);
  const player_id = 'AB'.repeat(32);
  assert.is((await peer.submit({ player_id })).status, 201);
  assert.is((await ask(node.url, `/api/v1/players/${player_id.toLowerCase()}/trust-score`)).body.event_count, 1);
  for (const what of ['trust-score', 'verdict', 'events']) {
    assert.is((await ask(node.url, `/api/v1/players/passport-1/${what}`)).body.code, 'subject_hash_required');
  }
});

test('a group with kinds accepts only canonical ids and hashes, and its refusal never contains the id', async () => {
  await using node = await startTestNode({ PLAYER_ID_KINDS: 'steam,minecraft' });
  const peer = await registerPeer(node.url);
  const canonical = '76561202255225729';
  const odd = 'STEAM_0:1:2147480000';
  assert.equal((await ask(node.url, '/api/v1/peers')).body.group.player_id_kinds, ['steam', 'minecraft']);
  const isRefusal = ({ code, details, error }: { code: string; details: unknown; error: string }) => {
    assert.is(code, 'player_id_not_canonical');
    assert.equal(details, {
      canonical_forms: [
        { kind: 'steam', form: 'the decimal SteamID64 of 17 digits' },
        { kind: 'minecraft', form: 'the UUID of version 4 in lower case with dashes' },
      ],
    });
    assert.match(error, 'SteamID64');
    assert.not.match(error, '2147480000');
  };
  const refused = await peer.submit({ player_id: odd });
  assert.is(refused.status, 422);
  isRefusal(refused.body);
  assert.is((await peer.submit({ player_id: '0a0b0c0d-1111-4222-8333-444455556601' })).status, 201);
  assert.is((await peer.submit({ player_id: 'AB'.repeat(32) })).status, 201);
  const item = (player_id: string) => peer.event({ player_id });
  const json = { events: [item(canonical), item(odd), item('BOT')] };
  const { body: batch } = await ask(node.url, '/api/v1/events/batch', { key: peer.key, json });
  assert.equal([batch.accepted, batch.rejected], [1, 2]);
  assert.equal(
    batch.results.map((one: { status: number }) => one.status),
    [201, 422, 422],
  );
  isRefusal(batch.results[1]);
  for (const what of ['trust-score', 'verdict', 'events']) {
    assert.is((await ask(node.url, `/api/v1/players/${canonical}/${what}`)).status, 200);
    const read = await ask(node.url, `/api/v1/players/${encodeURIComponent(odd)}/${what}`);
    assert.is(read.status, 422);
    isRefusal(read.body);
  }
  const match = (...ids: string[]) => ask(node.url, `/api/v1/trust-scores?ids=${ids.map(encodeURIComponent).join()}`);
  assert.is((await match(canonical, 'ab'.repeat(32))).status, 200);
  isRefusal((await match(canonical, odd)).body);
});

test('the refusal of a key sent as a bearer token names the right header', async () => {
  await using face = await startFace();
  const headers = { Authorization: `Bearer ${activeKey}` };
  const refused = await ask(face.url, '/api/v1/audit', { headers });
  assert.equal([refused.status, refused.body.error, refused.body.code], [401, 'missing api key', 'missing_api_key']);
  assert.is(refused.body.details.expected_header, 'X-Peer-API-Key');
  assert.match(refused.body.details.hint, /X-Peer-API-Key/);
  assert.match(refused.headers['www-authenticate'] ?? '', /header="X-Peer-API-Key"/);
  assert.is((await ask(face.url, '/api/v1/audit')).body.details, undefined);
});

test('the root lists addresses that answer, and redirects browsers to the description', async () => {
  await using face = await startFace();
  const { body } = await ask(face.url, '/');
  for (const path of [body.docs, body.openapi, body.health, body.peers]) {
    assert.is((await ask(face.url, `/${path}`)).status, 200, path);
  }
  const browser = await ask(face.url, '/', { headers: { Accept: 'text/html,*/*;q=0.8' } });
  assert.equal([browser.status, browser.headers.location], [302, 'docs']);
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
