/** Callers that may register, and what the list of peers shows. */
import { SignJWT } from 'jose';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ask } from '../exchange.js';
import { startFace } from '../face.js';

const secret = new TextEncoder().encode('a secret of at least thirty-two bytes');
const path = '/api/v1/peers/register';
const json = { peer_name: 'Peer', game_ids: ['arena'] };

test('a closed form refuses everyone', async () => {
  await using face = await startFace({ settings: { registrationMode: 'closed' } });
  const { status, body } = await ask(face.url, path, { json });
  assert.equal([status, body.code], [403, 'registration_closed']);
});

test('the hosted form takes a session that holds where it was opened, and looks at it before the body', async () => {
  const asked: unknown[] = [];
  await using face = await startFace({
    settings: { registrationMode: 'session', sessionSecret: secret },
    sessionHolds: ({ jti }) => asked.push(jti) > 0 && jti !== 'ended',
  });
  const withSession = async (jti: string) => {
    const signed = new SignJWT({ jti }).setProtectedHeader({ alg: 'HS256' }).setAudience('ptf-dev');
    const cookie = `a=b; service_session=${await signed.setExpirationTime('1h').sign(secret)}; c=d`;
    return (await ask(face.url, path, { json, headers: { cookie } })).status;
  };
  assert.equal([await withSession('live'), await withSession('ended')], [201, 401]);
  assert.equal(asked, ['live', 'ended']);
  const { status, body } = await ask(face.url, path, { method: 'POST', raw: 'no JSON' });
  assert.equal([status, body.code], [401, 'invalid_session']);
});

test('the list of peers shows the fingerprint of the salt unless the node hides it', async () => {
  // printf 'ptf-salt-checksalt' | sha256sum
  for (const [publishSaltCheck, shown] of [
    [true, 'ac81b493'],
    [false, null],
  ] as const) {
    await using face = await startFace({ settings: { publishSaltCheck } });
    assert.is((await ask(face.url, '/api/v1/peers')).body.group.salt_check, shown);
  }
});

test.run();
