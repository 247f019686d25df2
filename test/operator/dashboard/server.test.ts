/** The dashboard's server: who may pass its door, what a session is worth, and what reaches the group. */
import { decodeJwt } from 'jose';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { registrationSchema } from '../../../src/contract/request-bodies.js';
import { granted, refused } from '../../../src/errors.js';
import { limits } from '../../../src/limits.js';
import { operations } from '../../../src/operations/table.js';
import { validatorOf } from '../../../src/validation/validator.js';
import { explanation, trust } from '../recorded-group.js';
import { type Call, cookieOf, password, startTestDashboard, type TestDashboard } from './dashboard.js';

let dashboard: TestDashboard;
test.before.each(async () => {
  dashboard = await startTestDashboard({
    trust: () => trust,
    explain: () => ({ ...explanation, peers: 2, preTrusted: false }),
    playerEvents: async () =>
      granted({ total: 4, summarised: 4, summary: [{ eventType: 'other', count: 4 }], own: [], next: null }),
  });
});
test.after.each(() => dashboard.close());

/** Everything behind the door. */
const behind: readonly (readonly [string, Call])[] = [
  ['/session', {}],
  ['/overview', {}],
  ['/history', {}],
  ['/peers/peer-0/history', {}],
  ['/commands/player', { json: { player_id: 'a' } }],
  ['/audit-check', { json: {} }],
  ['/sign-out', { form: {} }],
  ...[...Object.keys(operations), 'unknown'].map((name) => [`/commands/${name}`, { json: {} }] as const),
  ['/nothing/here', {}],
  ['/', { json: {} }],
];

test('without a session every route is 401, and the page itself leads to the form', async () => {
  const forged = ['', 'service_session=', 'service_session=a.b.c', `service_session=${'a'.repeat(5000)}`];
  for (const cookie of forged) {
    for (const [path, how] of behind) {
      const { status, body } = await dashboard.call(path, { ...how, cookie });
      assert.equal([status, body.code], [401, 'invalid_session'], `${path} with ${cookie.slice(0, 30)}`);
    }
    const { status, headers } = await dashboard.call('/', { cookie });
    assert.equal([status, headers.location], [303, 'sign-in']);
  }
  assert.equal(dashboard.calls, []);
});

test('only the form and files without anything of the group are open', async () => {
  const files = ['style.css', 'main.js', 'icon.svg', 'preact.min.umd.js', 'htm.umd.js', 'uPlot.iife.min.js'];
  const served = [...files, 'uPlot.min.css'].map((name) => `/assets/${name}`);
  for (const path of ['/sign-in', ...served]) assert.is((await dashboard.call(path)).status, 200, path);
  for (const name of ['', '../server.js', '%2e%2e/server.js', 'main.ts', 'package.json']) {
    assert.not.equal((await dashboard.call(`/assets/${name}`)).status, 200, name);
  }
});

test('the right password opens a session, in a cookie that scripts and other sites never get', async () => {
  const { status, headers } = await dashboard.call('/sign-in', { form: { operator: '', password } });
  assert.equal([status, headers.location], [303, './']);
  assert.match(
    String(headers['set-cookie']),
    /^service_session=[\w.-]+; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/,
  );
  assert.is((await dashboard.call('/session', { cookie: cookieOf(headers) })).status, 200);
  assert.is((await dashboard.call('/', { cookie: cookieOf(headers) })).status, 200);
});

test('over TLS the cookie is Secure, whichever proxy ends TLS', async () => {
  const signIn = (headers: Record<string, string>) => dashboard.call('/sign-in', { form: { password }, headers });
  for (const headers of [{ origin: 'https://ops.example.com' }, { 'x-forwarded-proto': 'https' }]) {
    assert.match(String((await signIn(headers)).headers['set-cookie']), /; Secure$/);
  }
});

test('the token contains the claims that the public port requires, and nothing about the operator', async () => {
  const claims = decodeJwt((await dashboard.signIn('alice')).replace('service_session=', ''));
  assert.is(claims.aud, 'ptf-dev');
  assert.is((claims.exp ?? 0) - (claims.iat ?? 0), limits.sessionMs / 1000);
  assert.equal(Object.keys(claims).sort(), ['aud', 'exp', 'iat', 'iss', 'jti']);
});

test('a wrong password is 401, and the answer differs if no password is set', async () => {
  const wrong = await dashboard.call('/sign-in', { form: { password: 'not the password' } });
  assert.is(wrong.status, 401);
  assert.match(wrong.text, /role="alert">The password is wrong/);
  assert.is(wrong.headers['set-cookie'], undefined);
  dashboard.setPasswordHash(null);
  const unset = await dashboard.call('/sign-in', { form: { password } });
  assert.is(unset.status, 503);
  assert.match(unset.text, /ptf dashboard set-password/);
});

test('a refused sign-in shows the name as it was typed', async () => {
  const refused = async (form: Record<string, string>) => (await dashboard.call('/sign-in', { form })).text;
  assert.match(await refused({ operator: 'alice', password: 'wrong' }), 'name="operator" type="text" value="alice"');
  const hostile = await refused({ operator: '"><script>', password: 'wrong' });
  assert.match(hostile, 'value="&#34;&#62;&#60;script&#62;"');
  const long = 'a'.repeat(limits.operatorNameLength + 1);
  assert.match(await refused({ operator: long, password }), `value="${long}"`);
});

test('after ten failures from one address even the right password has to wait, from there alone', async () => {
  const from = (address: string, word: string) =>
    dashboard.call('/sign-in', { form: { password: word }, headers: { 'x-forwarded-for': `1.2.3.4, ${address}` } });
  // A success gives an address its failures back.
  for (const word of ['wrong', password]) await from('10.0.0.1', word);
  for (let i = 0; i < limits.signInFailuresPerAddress; i++) assert.is((await from('10.0.0.1', 'wrong')).status, 401);
  const late = await from('10.0.0.1', password);
  assert.is(late.status, 429);
  assert.match(String(late.headers['retry-after']), /^\d+$/);
  assert.match(late.text, 'ptf dashboard unlock');
  // However often it tries: what it was not let to try counts for nobody else.
  for (let i = 0; i < limits.signInFailuresTotal; i++) assert.is((await from('10.0.0.1', 'wrong')).status, 429);
  assert.is((await from('10.0.0.2', password)).status, 303);
  dashboard.unlock();
  assert.is((await from('10.0.0.1', password)).status, 303);
});

test('a page under a foreign name gets nothing, not even the form', async () => {
  const cookie = await dashboard.signIn();
  for (const path of ['/', '/sign-in', '/session', '/assets/main.js']) {
    const { status, body } = await dashboard.call(path, { cookie, headers: { host: 'evil.example:8081' } });
    assert.equal([status, body.code], [403, 'cross_site'], path);
  }
  assert.is((await dashboard.call('/session', { cookie, headers: { host: 'ops.example.com' } })).status, 200);
});

test('a session ends with its sign-out, also for a copied cookie', async () => {
  const cookie = await dashboard.signIn();
  const other = await dashboard.signIn();
  const { status, headers } = await dashboard.call('/sign-out', { form: {}, cookie });
  assert.equal([status, headers.location], [303, 'sign-in']);
  assert.match(String(headers['set-cookie']), /^service_session=; Path=\/; Max-Age=0/);
  assert.is((await dashboard.call('/session', { cookie })).status, 401);
  assert.is((await dashboard.call('/session', { cookie: other })).status, 200);
  const { iss, jti } = decodeJwt(cookie.replace('service_session=', ''));
  assert.is(dashboard.sessions.holds({ iss, jti }), false);
});

test('a request from outside the page changes nothing', async () => {
  const cookie = await dashboard.signIn();
  const json = { peer_id: 'peer-0', status: 'suspended' };
  const host = new URL(dashboard.url).host;
  const tries: readonly (readonly [Record<string, string>, number])[] = [
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'same-site', origin: `http://${host}` }, 403],
    [{ 'sec-fetch-site': 'none' }, 403],
    [{ 'sec-fetch-site': 'same-origin' }, 200],
  ];
  for (const [headers, expected] of tries) {
    const { status, body } = await dashboard.call('/commands/peers-status', { json, cookie, headers });
    assert.is(status, expected, JSON.stringify(headers));
    if (expected === 403) assert.is(body.code, 'cross_site');
  }
  assert.is(dashboard.calls.filter(([name]) => name === 'changePeer').length, 1);
  const signIn = await dashboard.call('/sign-in', { form: { password }, headers: { 'sec-fetch-site': 'cross-site' } });
  assert.is(signIn.status, 403);
  assert.is(signIn.headers['set-cookie'], undefined);
});

test('a change is recorded under the name of the sign-in, whatever the body contains', async () => {
  const json = { peer_id: 'peer-0', status: 'suspended', by: 'mallory' };
  for (const [operator, by] of [
    ['', 'operator:dashboard'],
    ['alice', 'operator:alice (dashboard)'],
  ] as const) {
    await dashboard.call('/commands/peers-status', { json, cookie: await dashboard.signIn(operator) });
    assert.equal(dashboard.calls.at(-1), ['changePeer', 'peer_status', 'peer-0', { status: 'suspended' }, by]);
  }
});

test('a name that the audit log could not show is refused', async () => {
  // Among them an invisible letter, alone and within a name, and a control that reverses what follows.
  const hidden = ['\u3164', 'al\u3164ice', 'a\u202Eecil', 'alice\u200B', '\u2800'];
  for (const operator of [...hidden, 'a\u0007b', 'a'.repeat(limits.operatorNameLength + 1)]) {
    assert.is((await dashboard.call('/sign-in', { form: { operator, password } })).status, 400, operator);
  }
  for (const operator of [' Zoë B. ', '\u0645\u0631\u064A\u0645']) {
    assert.is((await dashboard.call('/sign-in', { form: { operator, password } })).status, 303, operator);
  }
});

test('the hosted form registers a peer and shows its key', async () => {
  const call = await dashboard.signedIn();
  const json = { peer_name: 'Arena', game_ids: ['arena'] };
  const { status, body, headers } = await call('/commands/peers-add', { json });
  assert.equal([status, headers['cache-control'], body.api_key], [200, 'no-store', 'the-key']);
  const registration = { peerName: 'Arena', gameIds: ['arena'] };
  assert.equal(dashboard.calls.at(-1), ['register', registration, 'operator:dashboard', true]);
});

test('an invalid body is refused in the words of the public port, with every error', async () => {
  const call = await dashboard.signedIn();
  const json = { peer_name: ' Arena', game_ids: ['arena, chess'], contact_email: 'nobody' };
  const { status, body } = await call('/commands/peers-add', { json });
  const expected = validatorOf(registrationSchema)(json);
  assert.not.ok(expected.ok);
  if (!expected.ok) assert.equal([body.error, body.details], [expected.text, expected.details]);
  assert.equal([status, body.code, body.details.more.length], [400, 'schema_validation_failed', 2]);
  const player = await call('/commands/player', { json: { player_id: 'a\u200bb' } });
  const { error, details } = player.body;
  assert.is(error, 'player_id must not contain an invisible character; found U+200B');
  assert.equal([player.status, details], [400, { field: '/player_id', violation: 'pattern' }]);
});

test('bodies are bounded and must be JSON', async () => {
  const call = await dashboard.signedIn();
  const big = await call('/commands/player', { json: { player_id: 'a'.repeat(limits.eventBodyBytes) } });
  assert.equal([big.status, big.body.code], [413, 'payload_too_large']);
  const headers = { 'content-type': 'application/json' };
  const form = await call('/commands/player', { form: { player_id: 'a' }, headers });
  assert.equal([form.status, form.body.code], [400, 'malformed_json']);
});

test('commands that the page does not give are not there', async () => {
  const call = await dashboard.signedIn();
  for (const name of ['peers-purge', 'audit-page', 'constructor', 'toString']) {
    assert.is((await call(`/commands/${name}`, { json: {} })).status, 404, name);
  }
});

test('a player is looked up without anything that distinguishes peers', async () => {
  const call = await dashboard.signedIn();
  const player = (player_id: unknown) => call('/commands/player', { json: { player_id } });
  const hash = 'ab'.repeat(32);
  const { status, body } = await player(hash);
  assert.is(status, 200);
  assert.equal([body.subject_hash, body.score, body.verdict], [hash, 12.5, 'untrusted']);
  // Two peers contributed: a split would tell each what the other said.
  assert.equal([body.explain.lowering, body.explain.raising, body.explain.peers], [null, null, 2]);
  assert.equal(body.summary, [{ event_type: 'other', week: null, count: 4 }]);
  const raw = await player('passport-1');
  assert.equal([raw.status, raw.body.code], [422, 'player_id_not_canonical']);
  for (const wrong of ['', 'a'.repeat(129), '\ud800', 7, undefined]) assert.is((await player(wrong)).status, 400);
});

test('the overview is the state of the node, and ends with its session', async () => {
  const call = await dashboard.signedIn();
  const { status } = (await call('/overview')).body;
  assert.equal([status.version, status.counts.peers], ['1.2.3', 3]);
  await call('/sign-out', { form: {} });
  const after = await call('/overview');
  assert.equal([after.status, after.body.code], [401, 'invalid_session']);
});

test('a refusal says when to retry, with the text of the public port if it has no time', async () => {
  const refusals = [refused('overloaded'), refused('overloaded', { retryAfterS: 7 }), refused('unknown_peer')];
  await dashboard.close();
  dashboard = await startTestDashboard({ changePeer: async () => refusals.shift()! });
  const call = await dashboard.signedIn();
  const json = { peer_id: 'peer-0', status: 'active' };
  // `test/http/request/reply.test.ts` has the same second for the public port.
  for (const expected of ['1', '7', undefined]) {
    assert.is((await call('/commands/peers-status', { json })).headers['retry-after'], expected);
  }
});

test('an internal error reaches the page without its cause and the log with it', async () => {
  await dashboard.close();
  const pendingErasures = () => {
    throw new Error('a secret detail');
  };
  dashboard = await startTestDashboard({ pendingErasures, changePeer: async () => refused('peer_not_active') });
  const call = await dashboard.signedIn();
  const failed = await call('/commands/erase-pending', { json: { from: 0, limit: 10 } });
  assert.equal([failed.status, failed.body], [500, { error: 'internal error', code: 'internal_error' }]);
  assert.match(JSON.stringify(dashboard.logged), /a secret detail/);
  const refusal = await call('/commands/peers-status', { json: { peer_id: 'peer-0', status: 'active' } });
  assert.equal([refusal.status, refusal.body.code], [403, 'peer_not_active']);
});

test('every answer forbids frames, foreign and inline scripts, and is not cached', async () => {
  const cookie = await dashboard.signIn();
  for (const path of ['/', '/sign-in', '/session', '/nothing']) {
    const { headers } = await dashboard.call(path, { cookie });
    const policy = String(headers['content-security-policy']);
    assert.match(policy, /default-src 'none';script-src 'self';style-src 'self'/, path);
    assert.not.match(policy, /unsafe|\*/, path);
    assert.is(headers['x-frame-options'], 'DENY');
    assert.is(headers['x-content-type-options'], 'nosniff');
    assert.is(headers['cache-control'], 'no-store', path);
  }
  for (const path of ['/', '/sign-in']) {
    const { text } = await dashboard.call(path, path === '/' ? { cookie } : {});
    assert.not.match(text, /<script(?![^>]*\bsrc=)|<style| style=| on\w+=/);
  }
});

test('no password, cookie or key reaches the log', async () => {
  const cookie = await dashboard.signIn('alice');
  await dashboard.call('/sign-in', { form: { password: 'a wrong password' } });
  await dashboard.call('/commands/peers-add', { json: { peer_name: 'a', game_ids: ['b'] }, cookie });
  const lines = JSON.stringify(dashboard.logged);
  assert.match(lines, /signed in to the dashboard/);
  for (const secret of [password, 'a wrong password', cookie.replace('service_session=', ''), 'the-key']) {
    assert.not.ok(lines.includes(secret));
  }
});

test.run();
