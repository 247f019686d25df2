/** Callers that may register, and what the list of peers shows. */
import { SignJWT } from 'jose';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Answer, ask } from '../exchange.js';
import { type FaceOptions, startFace } from '../face.js';

const secret = new TextEncoder().encode('a secret of at least thirty-two bytes');
const json = { peer_name: 'Peer', game_ids: ['arena'] };
const inAnHour = Math.floor(Date.now() / 1000) + 3600;

interface Token {
  readonly secret?: Uint8Array;
  readonly audience?: string;
  readonly algorithm?: string;
  readonly expires?: number | null;
}

function token(of: Token = {}): Promise<string> {
  const unsigned = new SignJWT({})
    .setProtectedHeader({ alg: of.algorithm ?? 'HS256' })
    .setAudience(of.audience ?? 'ptf-dev');
  if (of.expires !== null) unsigned.setExpirationTime(of.expires ?? inAnHour);
  return unsigned.sign(of.secret ?? secret);
}

async function register(options: FaceOptions, headers: Record<string, string>): Promise<Answer> {
  await using face = await startFace(options);
  return await ask(face.url, '/api/v1/peers/register', { json, headers });
}

const session: FaceOptions = { settings: { registrationMode: 'session', sessionSecret: secret } };

test('an open form ignores the cookie, good or bad', async () => {
  for (const cookie of ['', 'service_session=rubbish', `service_session=${await token()}`]) {
    assert.is((await register({}, { cookie })).status, 201);
  }
});

test('a closed form refuses everyone', async () => {
  const { status, body } = await register({ settings: { registrationMode: 'closed' } }, {});
  assert.equal([status, body.code], [403, 'registration_closed']);
});

test('the hosted form takes a valid session among other cookies', async () => {
  const { status } = await register(session, { cookie: `a=b; service_session=${await token()}; c=d` });
  assert.is(status, 201);
});

test('the hosted form refuses a missing, forged, expired, unbounded or foreign session', async () => {
  const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from(`{"aud":"ptf-dev","exp":${inAnHour}}`).toString('base64url')}.`;
  const cookies = [
    '',
    'service_session=',
    'service_session=rubbish',
    `Service_Session=${await token()}`,
    `service_session=${unsigned}`,
    `service_session=${'a'.repeat(5000)}`,
    `service_session=${await token({ secret: new TextEncoder().encode('another secret of thirty-two bytes!') })}`,
    `service_session=${await token({ audience: 'ptf-prod' })}`,
    `service_session=${await token({ expires: 1 })}`,
    `service_session=${await token({ expires: null })}`,
    `service_session=${await token({ algorithm: 'HS512', secret: Buffer.alloc(64, 7) })}`,
  ];
  for (const cookie of cookies) {
    const { status, body } = await register(session, { cookie });
    assert.equal([status, body.code], [401, 'invalid_session'], cookie.slice(0, 60));
  }
});

test('the hosted form refuses a session that was ended where it was opened', async () => {
  const asked: unknown[] = [];
  const sessionHolds: FaceOptions['sessionHolds'] = ({ jti }) => {
    asked.push(jti);
    return jti !== 'ended';
  };
  for (const [jti, expected] of [
    ['live', 201],
    ['ended', 401],
  ] as const) {
    const signed = await new SignJWT({ jti })
      .setProtectedHeader({ alg: 'HS256' })
      .setAudience('ptf-dev')
      .setExpirationTime(inAnHour)
      .sign(secret);
    const { status } = await register({ ...session, sessionHolds }, { cookie: `service_session=${signed}` });
    assert.is(status, expected, jti);
  }
  assert.equal(asked, ['live', 'ended']);
});

test('the session is checked before the body is read', async () => {
  await using face = await startFace(session);
  const { status } = await ask(face.url, '/api/v1/peers/register', { method: 'POST', raw: 'no JSON' });
  assert.is(status, 401);
});

for (const publishSaltCheck of [true, false]) {
  test(`the list of peers ${publishSaltCheck ? 'shows' : 'hides'} the fingerprint of the salt`, async () => {
    await using face = await startFace({ settings: { publishSaltCheck } });
    const { group } = (await ask(face.url, '/api/v1/peers')).body;
    // printf 'ptf-salt-checksalt' | sha256sum
    assert.is(group.salt_check, publishSaltCheck ? 'ac81b493' : null);
  });
}

test.run();
