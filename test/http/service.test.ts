/** Routing, peers, the audit log, erasure and the service's own pages, on a real node. */
import { hash } from 'node:crypto';
import { request } from 'undici';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startTestNode, type TestNode } from '../support/node.js';
import { type Answer, ask } from './exchange.js';
import { newPlayer, type PeerClient, registerPeer, setStatus } from './peer-client.js';

const salt = 'a salt of sixteen bytes or more';

let node: TestNode;
let peer: PeerClient;

test.before(async () => {
  node = await startTestNode({ GROUP_SALT: salt, METRICS_PORT: '0' });
  peer = await registerPeer(node.url, 'First');
});

test.after(() => node.close());

test('health and readiness state the node and its progress', async () => {
  const before = (await ask(node.url, '/api/v1/health')).body;
  assert.equal([before.status, before.environment, before.group_id], ['ok', 'dev', 'local']);
  await peer.submit();
  const after = (await ask(node.url, '/api/v1/ready')).body;
  assert.ok(after.last_seq > before.last_seq);
});

test('the uptime does not follow a wall clock that is set', async () => {
  const now = Date.now;
  Date.now = () => now() + 86_400_000;
  try {
    assert.ok((await ask(node.url, '/api/v1/health')).body.uptime_s < 3_600);
  } finally {
    Date.now = now;
  }
});

test('a registration gives the key once, with its prefix and at least 256 bits', async () => {
  const json = { peer_name: 'Ärena \u{1F600}', game_ids: ['a', 'b'], contact_email: 'ops@example.com' };
  const first = (await ask(node.url, '/api/v1/peers/register', { json })).body;
  const second = (await ask(node.url, '/api/v1/peers/register', { json })).body;
  assert.equal([first.peer_name, first.game_ids, first.status], [json.peer_name, json.game_ids, 'active']);
  assert.match(first.peer_id, /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  assert.match(first.api_key, /^ptf_dev_[\w-]{43,}$/);
  assert.is.not(first.peer_id, second.peer_id);
  assert.is.not(first.api_key, second.api_key);
  const lists = [await ask(node.url, '/api/v1/peers'), await ask(node.url, '/api/v1/peers', { key: peer.key })];
  for (const { text } of lists)
    for (const secret of [first.api_key, 'ops@example.com', salt]) assert.not(text.includes(secret));
});

test('a registration that the schema refuses, and every way to send it wrongly', async () => {
  const path = '/api/v1/peers/register';
  const { body } = await ask(node.url, path, { json: { peer_name: '', game_ids: ['a'] } });
  assert.equal(body.details, { field: '/peer_name', violation: 'minLength', actual: 0, limit: 1 });
  const headers = { 'Content-Type': 'application/json' };
  const code = async (raw: string, more = headers): Promise<unknown> =>
    (await ask(node.url, path, { method: 'POST', raw, headers: more })).body.code;
  assert.is(await code('{'), 'malformed_json');
  assert.is(await code(' '.repeat(17_000)), 'payload_too_large');
  assert.is(await code('{}', { 'Content-Type': 'text/plain' }), 'unsupported_media_type');
});

test('the list of peers goes oldest first, page by page, with the mode of the group', async () => {
  for (let at = 0; at < 4; at += 1) await registerPeer(node.url, `Page ${at}`);
  const all = (await ask(node.url, '/api/v1/peers?limit=200')).body;
  assert.is(all.group.identity_mode, 'privacy-first');
  assert.is(all.data[0].peer_id, peer.peerId);
  assert.is(all.next_cursor, null);
  const seen: string[] = [];
  let query = '?limit=3';
  while (query !== '') {
    const { body } = await ask(node.url, `/api/v1/peers${query}`);
    seen.push(...body.data.map((one: { peer_id: string }) => one.peer_id));
    query = body.next_cursor === null ? '' : `?limit=3&cursor=${body.next_cursor}`;
  }
  assert.equal(
    seen,
    all.data.map((one: { peer_id: string }) => one.peer_id),
  );
  for (const bad of ['limit=0', 'limit=201', 'cursor=x', 'limit=1&limit=2']) {
    assert.is((await ask(node.url, `/api/v1/peers?${bad}`)).body.code, 'invalid_parameter', bad);
  }
});

test('the counter and the pre-trust of a peer are returned only with the key of an active peer', async () => {
  const suspended = await registerPeer(node.url, 'To be suspended');
  await setStatus(node, suspended.peerId, 'suspended');
  const fields = async (key: string): Promise<string[]> =>
    Object.keys((await ask(node.url, '/api/v1/peers', { key })).body.data[0]).slice(5);
  assert.equal(await fields(''), []);
  assert.equal(await fields('ptf_dev_wrong'), []);
  assert.equal(await fields(suspended.key), []);
  assert.equal(await fields(peer.key), ['event_count', 'pre_trusted']);
});

test('the audit log is for active peers, chained, and names no player', async () => {
  const player = newPlayer();
  await peer.submit({ player_id: player });
  const subject = hash('sha256', player + salt);
  await ask(node.url, `/api/v1/subjects/${subject}`, { method: 'DELETE', key: peer.key });
  const first = await ask(node.url, '/api/v1/audit?limit=1', { key: peer.key });
  const entries = [...first.body.data];
  let cursor = first.body.next_cursor;
  while (cursor !== null) {
    const { body } = await ask(node.url, `/api/v1/audit?cursor=${cursor}`, { key: peer.key });
    entries.push(...body.data);
    cursor = body.next_cursor;
  }
  assert.ok(entries.length > 3);
  assert.is(entries[0].seq, 1, 'from the first record on');
  for (const [at, entry] of entries.entries()) if (at > 0) assert.is(entry.prev_hash, entries[at - 1].hash);
  assert.not(JSON.stringify(entries).includes(subject));
  assert.is((await ask(node.url, '/api/v1/audit?cursor=x', { key: peer.key })).body.code, 'invalid_parameter');
  assert.is((await ask(node.url, '/api/v1/audit?limit=0', { key: peer.key })).body.code, 'invalid_parameter');
});

test('an erased subject is unknown, its hash is in lower case, and its event ids stay taken', async () => {
  const player = newPlayer();
  await peer.submit({ player_id: player, event_id: 'erased-1' });
  await peer.submit({ player_id: player, event_id: 'erased-2' });
  const subject = hash('sha256', player + salt);
  const path = `/api/v1/subjects/${subject.toUpperCase()}`;
  const { status, body } = await ask(node.url, path, { method: 'DELETE', key: peer.key });
  assert.equal([status, body.subject_hash, body.events_erased], [200, subject, 2]);
  assert.is((await ask(node.url, `/api/v1/players/${player}/trust-score`)).status, 404);
  const again = await ask(node.url, path, { method: 'DELETE', key: peer.key });
  assert.equal([again.status, again.body.code], [404, 'subject_not_found']);
  assert.is((await peer.submit({ event_id: 'erased-1' })).status, 409);
});

test('an invalid subject hash gets 400', async () => {
  for (const id of ['x', 'ab'.repeat(31), `${'ab'.repeat(31)}zz`, '%ff', 'ab'.repeat(33)]) {
    const { status, body } = await ask(node.url, `/api/v1/subjects/${id}`, { method: 'DELETE', key: peer.key });
    assert.equal([status, body.code], [400, 'invalid_parameter'], id);
  }
});

test('an unknown path is 404, and paths are exact', async () => {
  const paths = [
    '/api',
    '/api/v1',
    '/api/v1/health/',
    '/API/v1/health',
    '/api/v1//health',
    '//api/v1/health',
    '/api/v1/players//verdict',
    '/api/v1/players/a/b/verdict',
    '/api/v1/../v1/health',
    '/api/v1/health%20',
    '/docs/',
    '/docs/package.json',
    '/docs/..%2Fpackage.json',
    '/metrics',
  ];
  for (const path of paths) {
    const { status, body } = await ask(node.url, path);
    assert.equal([status, body.code], [404, 'route_not_found'], path);
  }
});

test('a wrong method is 405 with the allowed ones, and OPTIONS states the same', async () => {
  const allowed: readonly (readonly [path: string, methods: readonly string[]])[] = [
    ['/api/v1/health', ['GET', 'HEAD', 'OPTIONS']],
    ['/api/v1/peers/register', ['OPTIONS', 'POST']],
    ['/api/v1/events', ['OPTIONS', 'POST']],
    ['/api/v1/events/batch', ['DELETE', 'OPTIONS', 'POST']],
    ['/api/v1/events/an-id', ['DELETE', 'OPTIONS']],
    ['/api/v1/players/x/verdict', ['GET', 'HEAD', 'OPTIONS']],
  ];
  const sorted = ({ headers }: Answer): string[] => (headers.allow ?? '').split(', ').sort();
  for (const [path, methods] of allowed) {
    const options = await ask(node.url, path, { method: 'OPTIONS' });
    assert.equal([options.status, options.text, sorted(options)], [204, '', methods], path);
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      if (methods.includes(method)) continue;
      const answer = await ask(node.url, path, { method });
      assert.equal([answer.status, sorted(answer)], [405, methods], `${method} ${path}`);
    }
  }
  assert.is((await ask(node.url, '/nowhere', { method: 'OPTIONS' })).status, 404);
});

test('errors come as problem+json to those who ask for it', async () => {
  const headers = { Accept: 'application/problem+json' };
  const { headers: got, body } = await ask(node.url, '/api/v1/players/nobody/verdict', { headers });
  assert.is(got['content-type'], 'application/problem+json; charset=utf-8');
  assert.equal(
    [body.status, body.code, body.error, body.detail],
    [404, 'player_not_found', 'the player has no events', 'the player has no events'],
  );
  const refused = await ask(node.url, '/api/v1/events', { key: peer.key, json: {}, headers });
  const { field, violation } = refused.body.details;
  assert.equal([field, violation], ['/schema_version', 'required']);
  assert.match(
    (await ask(node.url, '/api/v1/health', { headers })).headers['content-type'] ?? '',
    /^application\/json/,
  );
});

test('the description is OpenAPI 3.1, and the page takes nothing from outside', async () => {
  const { body } = await ask(node.url, '/api/v1/openapi.json');
  assert.match(body.openapi, /^3\.1/);
  const page = await ask(node.url, '/docs');
  assert.not(/https?:\/\//.test(page.text));
  assert.not(/<script>|onload=/.test(page.text));
  const policy = page.headers['content-security-policy'] ?? '';
  assert.match(policy, /default-src 'none'.*script-src 'self';/);
  for (const [, file] of page.text.matchAll(/(?:src|href)="([^"]+)"/g)) {
    assert.is((await ask(node.url, `/${file}`)).status, 200, file);
  }
});

test('security headers are on every answer', async () => {
  for (const path of ['/api/v1/health', '/nowhere', '/docs']) {
    const { headers } = await ask(node.url, path);
    assert.is(headers['x-frame-options'], 'DENY', path);
    assert.is(headers['referrer-policy'], 'no-referrer', path);
    assert.match(headers['content-security-policy'] ?? '', /frame-ancestors 'none'/, path);
  }
});

test('metrics are on a separate port and count requests', async () => {
  const { body } = await request(`${node.metricsUrl}/metrics`);
  const text = await body.text();
  assert.match(text, /^ptf_ready 1$/m);
  assert.match(text, /^ptf_http_requests_total\{route="\/api\/v1\/events",method="POST",status="201",code=""\} \d+$/m);
  assert.match(text, /^ptf_events_decided_total\{event_type="report_cheating",outcome="accepted"\} \d+$/m);
});

test.run();
