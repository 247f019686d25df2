/** The routes of the sidecar's local server, in front of a sidecar that answers as the test says. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startLocalServer } from '../../../src/peer/sidecar/local-server.js';
import type { Sidecar } from '../../../src/peer/sidecar/sidecar.js';

const token = 'a-token-of-the-test-that-is-long-enough';
const asked: unknown[] = [];

/** Notes each call; a turn later it resolves to the value. */
const answers = (name: string, value: unknown) => async (asks: unknown) => {
  asked.push([name, asks]);
  await new Promise((resolve) => setImmediate(resolve));
  return value;
};

const sidecar = {
  status: { state: 'ok' },
  player: answers('player', { player_id: 'steam:1' }),
  players: answers('players', [{ player_id: 'a' }, { player_id: 'b' }]),
  person: answers('person', { verdict: 'neutral' }),
  report: answers('report', ['e1', 'e2']),
  allow: answers('allow', undefined),
  disallow: answers('disallow', true),
} as unknown as Sidecar;

test('each route passes on what it was asked, and answers what the sidecar answered', async () => {
  const server = await startLocalServer({
    sidecar,
    token,
    pathSecret: null,
    gameIds: ['arena'],
    host: '127.0.0.1',
    port: 0,
    socketPath: undefined,
    log: () => {},
  });
  const ask = async (method: string, path: string, body?: object, key = token) => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, connection: 'close' },
      body: body === undefined ? null : JSON.stringify(body),
    });
    return [response.status, await response.json()];
  };
  try {
    assert.equal(await ask('GET', '/v1/status'), [200, { state: 'ok' }]);
    assert.equal(await ask('GET', '/v1/players/steam:1'), [200, { player_id: 'steam:1' }]);
    const many = await ask('GET', '/v1/players?id=a&id=b');
    assert.equal(many, [200, { data: [{ player_id: 'a' }, { player_id: 'b' }] }]);
    assert.equal(await ask('GET', '/v1/persons?id=a&id=b'), [200, { verdict: 'neutral' }]);
    const report = { event_type: 'report_cheating', player_id: 'a', severity: 0.5 };
    const reported = await ask('POST', '/v1/reports', report);
    assert.equal(reported, [202, { event_id: 'e1', event_ids: ['e1', 'e2'], status: 'spooled' }]);
    assert.equal(await ask('DELETE', '/v1/allow/a'), [200, { player_id: 'a', removed: true }]);
    const names = asked.map((one) => (one as unknown[])[0]);
    assert.equal(names, ['player', 'players', 'person', 'report', 'disallow']);
    assert.equal(asked[1], ['players', ['a', 'b']]);
    assert.is((await ask('GET', '/v1/status', undefined, `${token}x`))[0], 401);
    assert.is((await fetch(`http://127.0.0.1:${server.port}/v1/status`)).status, 401);
    assert.is((await ask('POST', '/v1/status', {}))[0], 405);
    assert.is((await ask('GET', '/v1/other'))[0], 404);
    assert.is(asked.length, 5);
  } finally {
    await server.close();
  }
});

test.run();
