/** The caller of a request, and the sessions that may register. */
import type { IncomingHttpHeaders } from 'node:http';
import { SignJWT } from 'jose';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Outcome } from '../../../src/errors.js';
import type { HttpDeps } from '../../../src/http/deps.js';
import { apiKeyOf, callerOf, mayRegister } from '../../../src/http/request/auth.js';
import { limits } from '../../../src/limits.js';
import { activeKey, nodeDouble, suspendedKey } from '../group-double.js';

const resultOf = <T>(outcome: Outcome<T>): T | string => (outcome.ok ? outcome.value : outcome.code);

test('a key is the text of its field, and blank fields are no key', () => {
  const keys = [undefined, '', ' \t', ' a ', ['a', 'b'], ['', ' '], ', '].map(apiKeyOf);
  assert.equal(keys, [undefined, undefined, undefined, ' a ', 'a,b', undefined, undefined]);
});

test('a key decides where it is required, names its peer where it is optional, and is ignored elsewhere', () => {
  const node = nodeDouble();
  const active = node.group.peers(0, 1)[0]!;
  const keys = [undefined, '', 'unknown', suspendedKey, activeKey];
  const callers = (auth: 'none' | 'optional' | 'required', isEnabled: boolean) =>
    keys.map((key) => resultOf(callerOf(auth, isEnabled, key === undefined ? {} : { 'x-peer-api-key': key }, node)));
  const refusals = ['missing_api_key', 'missing_api_key', 'invalid_api_key', 'peer_not_active'];
  assert.equal(callers('required', true), [...refusals, active]);
  assert.equal(callers('required', false), [null, null, null, null, null]);
  for (const isEnabled of [true, false]) {
    assert.equal(callers('optional', isEnabled), [null, null, null, null, active]);
    assert.equal(callers('none', isEnabled), [null, null, null, null, null]);
  }
});

test('a header block is asked for its key once, and one with another key names another peer', () => {
  const node = nodeDouble();
  const headers = { 'x-peer-api-key': activeKey };
  for (let n = 0; n < 2; n++) assert.ok(callerOf('required', true, headers, node).ok);
  assert.is(resultOf(callerOf('required', true, { 'x-peer-api-key': 'other' }, node)), 'invalid_api_key');
});

test('the refusal of a missing key hints at the right header if the key came as a bearer token', () => {
  const detailsOf = (headers: IncomingHttpHeaders) => {
    const outcome = callerOf('required', true, headers, nodeDouble());
    return outcome.ok || outcome.details;
  };
  assert.is(detailsOf({}), undefined);
  assert.equal(detailsOf({ authorization: 'Bearer x' }), {
    expected_header: 'X-Peer-API-Key',
    hint: 'the header Authorization is ignored; send the key in the header X-Peer-API-Key',
  });
});

const secret = new TextEncoder().encode('a secret of at least thirty-two bytes');
const nowS = 1_800_000_000;

interface Token {
  readonly alg?: string;
  readonly audience?: string;
  readonly expires?: number | null;
  readonly by?: Uint8Array;
  readonly claims?: Record<string, unknown>;
}

function token(of: Token = {}): Promise<string> {
  const { alg = 'HS256', audience = 'ptf-dev', expires = nowS + 1, by = secret, claims = {} } = of;
  const unsigned = new SignJWT(claims).setProtectedHeader({ alg }).setAudience(audience);
  if (expires !== null) unsigned.setExpirationTime(expires);
  return unsigned.sign(by);
}

async function registering(cookies: string | undefined, more: Partial<HttpDeps['settings']> = {}, holds = true) {
  const settings = { registrationMode: 'session', sessionSecret: secret, ...more } as HttpDeps['settings'];
  const clock = { now: () => nowS * 1000 };
  return resultOf(await mayRegister({ settings, node: nodeDouble(), clock, sessionHolds: () => holds }, cookies));
}

test('anybody may register in an open group, and nobody in a closed one', async () => {
  const valid = `service_session=${await token()}`;
  for (const cookies of [undefined, 'service_session=x', valid]) {
    assert.is(await registering(cookies, { registrationMode: 'open', sessionSecret: null }), null);
    assert.is(await registering(cookies, { registrationMode: 'closed' }), 'registration_closed');
  }
});

test('with sessions only a cookie that was signed for this group, is not over and holds may register', async () => {
  const valid = await token();
  for (const cookies of [`service_session=${valid}`, `a=b; service_session = ${valid} ; c=d`]) {
    assert.is(await registering(cookies), null);
  }
  const refused = [
    undefined,
    '',
    'service_session=',
    'service_session=x',
    `session=${valid}`,
    `my_service_session=${valid}`,
    `Service_Session=${valid}`,
    `service_session=${await token({ claims: { padding: 'x'.repeat(limits.sessionCookieLength) } })}`,
    `service_session=${valid.replace(/^[^.]*/, btoa('{"alg":"none"}')).replace(/[^.]*$/, '')}`,
    `service_session=${await token({ audience: 'ptf-prod' })}`,
    `service_session=${await token({ alg: 'HS512' })}`,
    `service_session=${await token({ by: new Uint8Array(32) })}`,
    `service_session=${await token({ expires: nowS })}`,
    `service_session=${await token({ expires: null })}`,
  ];
  for (const cookies of refused) assert.is(await registering(cookies), 'invalid_session', cookies);
  assert.is(await registering(`service_session=${valid}`, {}, false), 'invalid_session', 'the session has ended');
  assert.is(await registering(`service_session=${valid}`, { sessionSecret: null }), 'invalid_session');
});

test.run();
