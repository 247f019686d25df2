/** How sessions of the dashboard end: by time, a new password, a sign-out, or too many of them. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { limits } from '../../../../src/limits.js';
import { Sessions } from '../../../../src/operator/dashboard/sessions/sessions.js';

let now = Date.UTC(2026, 10, 27);
let passwordHash: string | null = 'hash';
const deps = { environment: 'dev', clock: { now: () => now }, passwordHash: () => passwordHash } as const;
const opened = (sessions: Sessions) => sessions.open('alice', passwordHash!);

test('a session lasts until its time is over', async () => {
  const sessions = new Sessions({ secret: null, ...deps });
  const { token } = await opened(sessions);
  now += limits.sessionMs - 1_000;
  assert.is((await sessions.read(token))?.operator, 'alice');
  now += 1_000;
  assert.is(await sessions.read(token), undefined);
});

test('a sign-out, and a new password, end a session', async () => {
  const sessions = new Sessions({ secret: null, ...deps });
  const [first, second] = [await opened(sessions), await opened(sessions)];
  sessions.end(first.session);
  assert.is(await sessions.read(first.token), undefined);
  assert.ok(await sessions.read(second.token));
  for (const hash of ['other', 'hash']) {
    passwordHash = hash;
    assert.is(await sessions.read(second.token), undefined);
  }
  const { token } = await opened(sessions);
  passwordHash = null;
  assert.is(await sessions.read(token), undefined);
  passwordHash = 'hash';
});

test('one session too many ends the oldest, unless one is over', async () => {
  const sessions = new Sessions({ secret: null, ...deps });
  await opened(sessions);
  now += 1_000;
  const tokens: string[] = [];
  for (let i = 1; i < limits.sessionsMax; i++) tokens.push((await opened(sessions)).token);
  now += limits.sessionMs - 1_000;
  tokens.push((await opened(sessions)).token);
  const live = async () => (await Promise.all(tokens.map((token) => sessions.read(token)))).map(Boolean);
  assert.equal(
    await live(),
    tokens.map(() => true),
  );
  await opened(sessions);
  assert.equal(
    await live(),
    tokens.map((_, i) => i > 0),
  );
});

test('a token is valid where it was signed, for its environment', async () => {
  const secret = new Uint8Array(32).fill(1);
  const { token } = await opened(new Sessions({ secret, ...deps }));
  for (const other of [
    new Sessions({ secret, ...deps }),
    new Sessions({ secret, ...deps, environment: 'prod' }),
    new Sessions({ secret: null, ...deps }),
  ]) {
    assert.is(await other.read(token), undefined);
  }
});

test('a token of another issuer holds, and one of the dashboard while its session lasts', async () => {
  const sessions = new Sessions({ secret: null, ...deps });
  const { session } = await opened(sessions);
  const iss = 'ptf-dashboard';
  const holds = [{ iss: 'another' }, {}, { iss, jti: session.id }, { iss, jti: 'unknown' }, { iss }];
  assert.equal(
    holds.map((claims) => sessions.holds(claims)),
    [true, true, true, false, false],
  );
  sessions.end(session);
  assert.is(sessions.holds({ iss, jti: session.id }), false);
});

test.run();
