/** Routing, peers, the audit log, erasure and the service's own pages, on a real node. */
import { hash } from 'node:crypto';
import { request } from 'undici';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startTestNode, type TestNode } from '../support/node.js';
import { type Answer, ask } from './exchange.js';
import { newPlayer, type PeerClient, registerPeer } from './peer-client.js';

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

/** All rows of a listing, page by page. */
async function pages(path: string, limit: number, key = ''): Promise<Answer['body'][]> {
  const rows: Answer['body'][] = [];
  for (let query: string | null = ''; query !== null; ) {
    const { body }: Answer = await ask(node.url, `${path}?limit=${limit}${query}`, { key });
    rows.push(...body.data);
    query = body.next_cursor && `&cursor=${body.next_cursor}`;
  }
  return rows;
}

test('the list of peers goes oldest first, page by page, and shows counters to the key of an active peer', async () => {
  for (let at = 0; at < 4; at += 1) await registerPeer(node.url, `Page ${at}`);
  const all = (await ask(node.url, '/api/v1/peers?limit=200')).body;
  assert.equal([all.group.identity_mode, all.next_cursor], ['privacy-first', null]);
  assert.is(all.data[0].peer_id, peer.peerId);
  assert.equal(await pages('/api/v1/peers', 3), all.data);
  for (const bad of ['limit=0', 'limit=201', 'cursor=x', 'limit=1&limit=2']) {
    assert.is((await ask(node.url, `/api/v1/peers?${bad}`)).body.code, 'invalid_parameter', bad);
  }
  const own = (await ask(node.url, '/api/v1/peers', { key: peer.key })).body.data[0];
  const more = Object.keys(own).filter((name) => !(name in all.data[0]));
  assert.equal(more, ['event_count', 'pre_trusted']);
});

test('the audit log is for active peers, chained, and names no player', async () => {
  const player = newPlayer();
  await peer.submit({ player_id: player });
  const subject = hash('sha256', player + salt);
  await ask(node.url, `/api/v1/subjects/${subject}`, { method: 'DELETE', key: peer.key });
  const entries = await pages('/api/v1/audit', 3, peer.key);
  assert.ok(entries.length > 3);
  assert.is(entries[0].seq, 1, 'from the first record on');
  for (const [at, entry] of entries.entries()) if (at > 0) assert.is(entry.prev_hash, entries[at - 1].hash);
  assert.not(JSON.stringify(entries).includes(subject));
  for (const bad of ['cursor=x', 'limit=0'])
    assert.is((await ask(node.url, `/api/v1/audit?${bad}`, { key: peer.key })).body.code, 'invalid_parameter', bad);
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
  const invalid = await ask(node.url, '/api/v1/subjects/xyz', { method: 'DELETE', key: peer.key });
  assert.equal([invalid.status, invalid.body.code], [400, 'invalid_parameter']);
  assert.is((await peer.submit({ event_id: 'erased-1' })).status, 409);
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

test('the root lists addresses that answer, and the page of the description takes nothing from outside', async () => {
  const { body } = await ask(node.url, '/');
  for (const path of [body.docs, body.openapi, body.health, body.peers]) {
    assert.is((await ask(node.url, `/${path}`)).status, 200, path);
  }
  const page = await ask(node.url, '/docs');
  assert.not(/https?:\/\/|<script>|onload=/.test(page.text));
  assert.match(page.headers['content-security-policy'] ?? '', /default-src 'none'.*script-src 'self';/);
  for (const [, file] of page.text.matchAll(/(?:src|href)="([^"]+)"/g)) {
    assert.is((await ask(node.url, `/${file}`)).status, 200, file);
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
