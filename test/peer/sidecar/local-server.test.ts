/** The routes of the sidecar's local server, in front of a sidecar that answers as the test says. */
import { once } from 'node:events';
import { readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bounds } from '../../../src/client/bounds.js';
import { TrustError } from '../../../src/client/trust-error.js';
import { PeerError } from '../../../src/peer/peer-error.js';
import { type LocalServerOptions, startLocalServer, tokenIn } from '../../../src/peer/sidecar/local-server.js';
import type { Sidecar } from '../../../src/peer/sidecar/sidecar.js';
import { closing } from '../../support/closing.js';
import { temporaryFolder } from '../../support/process.js';

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

const started = (more: Partial<LocalServerOptions> = {}) =>
  startLocalServer({
    sidecar,
    token,
    pathSecret: null,
    gameIds: ['arena'],
    host: '127.0.0.1',
    port: 0,
    socketPath: undefined,
    log: () => {},
    ...more,
  });

/** Starts a server, and returns it with a caller of its routes, which returns status, headers and text. */
async function asking(more: Partial<LocalServerOptions> = {}) {
  const server = closing(await started(more));
  const ask = async (method: string, path: string, authorization = `Bearer ${token}`, body: string | null = null) => {
    const headers = { ...(authorization === '' ? {} : { authorization }), connection: 'close' };
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { method, headers, body });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  return { server, ask };
}

/** Resolves to the code and text of a refused start. */
const refusal = (more: Partial<LocalServerOptions>) =>
  started(more).then(
    () => 'started',
    ({ code, message }) => `${code}: ${message}`,
  );

test('each route passes on what it was asked, and answers what the sidecar answered', async () => {
  const { server, ask: send } = await asking();
  await using _ = server;
  const ask = async (method: string, path: string, body?: object) => {
    const { status, text } = await send(
      method,
      path,
      `Bearer ${token}`,
      body === undefined ? null : JSON.stringify(body),
    );
    return [status, JSON.parse(text)];
  };
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
  for (const key of [`Bearer ${token}x`, '']) assert.is((await send('GET', '/v1/status', key)).status, 401);
  assert.is((await ask('POST', '/v1/status', {}))[0], 405);
  assert.is((await ask('GET', '/v1/other'))[0], 404);
  assert.is(asked.length, 5);
});

test('a refused call has its status, code and headers, and reaches the sidecar only if its ids are valid', async () => {
  const full = Object.assign(new Error('ENOSPC: no space'), { code: 'ENOSPC' });
  const failures: Readonly<Record<string, Error>> = {
    full: new TrustError('spool_full', 'the spool is full'),
    disk: new TrustError('spool_failed', 'the spool could not be written', { cause: full }),
    file: new PeerError('spool_failed', 'the disk is full', 3),
    closed: new TrustError('closed', 'the client is closed'),
    id: new TrustError('invalid_argument', 'the id is empty'),
    other: new TrustError('unreachable', 'a secret'),
    defect: new RangeError('a secret'),
    system: Object.assign(new Error('a secret'), { code: 'EMFILE', syscall: 'open' }),
  };
  const log: string[] = [];
  const player = async (id: string) => {
    throw failures[id] ?? new Error(`${id} was passed on`);
  };
  const players = async (ids: readonly string[]) => ids;
  const allow = async () => {
    throw failures.disk;
  };
  const refusing = { player, players, allow } as unknown as Sidecar;
  const { server, ask: send } = await asking({ sidecar: refusing, log: (line) => log.push(line) });
  await using _ = server;
  const ask = async (...call: Parameters<typeof send>) => {
    const { status, headers, text } = await send(...call);
    return { headers, result: [status, text === '' ? '' : JSON.parse(text).code], text };
  };
  const most = bounds.sidecarReadPlayers;
  const many = (count: number) => `/v1/players?ids=${Array(count).fill('a').join()}`;
  for (const [method, path, result, authorization, body] of [
    ['GET', '/v1/status', [401, 'missing_token'], ''],
    ['GET', '/v1/status', [401, 'invalid_token'], `Basic ${token}`],
    ['GET', '/v1/players/full', [503, 'spool_full'], `bearer ${token}`],
    ['GET', '/v1/players/disk', [503, 'spool_failed']],
    ['GET', '/v1/players/file', [503, 'spool_failed']],
    ['GET', '/v1/players/closed', [503, 'closed']],
    ['GET', '/v1/players/id', [400, 'invalid_parameter']],
    ['GET', '/v1/players/%ff', [400, 'invalid_parameter']],
    ['GET', '/v1/players', [400, 'invalid_parameter']],
    ['GET', '/v1/players?ids=', [400, 'invalid_parameter']],
    ['GET', many(most), [200, undefined]],
    ['GET', many(most + 1), [400, 'invalid_parameter']],
    ['HEAD', many(1), [200, '']],
    ['HEAD', '/v1/reports', [405, '']],
    ['POST', '/v1/allow', [503, 'spool_failed'], undefined, '{"player_id":"a","until":"2099-01-01T00:00:00Z"}'],
    ['GET', '/answers/secret/squad', [404, 'route_not_found']],
    ['POST', '/v1/reports', [413, 'payload_too_large'], undefined, 'x'.repeat(bounds.sidecarBodyBytes + 1)],
    ['POST', '/v1/reports', [400, 'malformed_json'], undefined, 'x'.repeat(bounds.sidecarBodyBytes)],
  ] as const) {
    assert.equal((await ask(method, path, authorization, body)).result, result, `${method} ${path}`);
  }
  assert.equal((await ask('GET', '/v1/players?ids=a%2Cb,c&id=d,e')).text, '{"data":["a","b","c","d,e"]}');
  assert.is((await ask('GET', '/v1/status', 'x')).headers.get('www-authenticate'), 'Bearer');
  const { headers } = await ask('GET', '/v1/reports');
  assert.equal([headers.get('allow'), headers.get('www-authenticate')], ['POST', null]);
  assert.equal([headers.get('content-type'), headers.get('cache-control')], ['application/json', 'no-store']);
  assert.match((await ask('GET', '/v1/players/disk')).text, 'the disk is full (ENOSPC): free disk space');
  const leaving = connect(server.port, '127.0.0.1');
  const head = `POST /v1/reports HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\ncontent-length: 9`;
  leaving.write(`${head}\r\nexpect: 100-continue\r\n\r\n`);
  await once(leaving, 'data');
  leaving.destroy();
  for (let turn = 0; turn < 3; turn++) await ask('GET', '/v1/other');
  assert.equal(log, []);
  for (const path of ['/v1/players/other', '/v1/players/defect', '/v1/players/system']) {
    const { result, text } = await ask('GET', path);
    assert.equal([...result, text.includes('secret')], [500, 'internal_error', false]);
  }
  const names = ['TrustError', 'RangeError', 'EMFILE'];
  assert.equal(
    log,
    names.map((name) => `a request failed: ${name}`),
  );
});

test('game servers without a token get their answers at a secret path alone, and a ban of a day', async () => {
  const barred = '76561202255225729';
  const all = [
    { player_id: barred, verdict: 'untrusted' },
    { player_id: 'x', verdict: 'suspicious' },
  ];
  let verdict = 'untrusted';
  const barring = {
    barred: async (ids?: readonly string[]) => (ids === undefined ? all : ids.includes(barred) ? [{ verdict }] : []),
  };
  const given = { sidecar: barring as unknown as Sidecar, pathSecret: 'a-secret-of-the-test' };
  const { server, ask: send } = await asking(given);
  await using _ = server;
  const ask = (path: string, method = 'GET') => send(method, `/answers/${path}`, '');
  const endOf = (text = '') => Math.abs(Number(text) - bounds.answeredBanS - Date.now() / 1_000) < 600;
  const squad = await ask('a-secret-of-the-test/squad');
  const lines = /^76561202255225729:(\d+) \/\/untrusted in .*\nx:\d+ \/\/suspicious in the group of servers\n$/.exec(
    squad.text,
  );
  const type = squad.headers.get('content-type');
  assert.equal([squad.status, type, endOf(lines?.[1])], [200, 'text/plain; charset=utf-8', true]);
  const rust = JSON.parse((await ask(`a-secret-of-the-test/rust/${barred}`)).text);
  assert.equal([rust.steamId, endOf(rust.expiryDate)], [barred, true]);
  for (verdict of ['untrusted', 'suspicious']) {
    const { reason } = JSON.parse((await ask(`a-secret-of-the-test/rust/${barred}`)).text);
    assert.is(reason, `${verdict} in the group of servers`);
  }
  for (const [path, status, method] of [
    [`a-secret-of-the-test/rust/${barred.replace('29', '30')}`, 404],
    ['a-secret-of-the-test/rust/7', 404],
    ['a-secret-of-the-test/squad', 405, 'POST'],
    ['another-secret/squad', 401],
    ['a-secret-of-the-test/', 401],
  ] as const) {
    assert.is((await ask(path, method)).status, status, path);
  }
});

test('a Unix socket is for its owner alone, one left behind is replaced, and an address in use is refused', async () => {
  const socketPath = join(temporaryFolder(), 'socket');
  const killed = createServer().listen(`${socketPath}.killed`);
  await once(killed, 'listening');
  renameSync(`${socketPath}.killed`, socketPath);
  killed.close();
  await once(killed, 'close');
  await using server = closing(await started({ socketPath }));
  assert.is(statSync(socketPath).mode & 0o777, 0o600);
  const status = await new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` };
    const asking = request({ socketPath, path: '/v1/status', headers, agent: false }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode));
    });
    asking.once('error', reject).end();
  });
  assert.is(status, 200);
  const taken = `address_in_use: another process listens on ${socketPath}`;
  assert.is(await refusal({ socketPath }), taken);
  const port = `address_in_use: another process listens on 127.0.0.1:${server.port}`;
  assert.is(await refusal({ port: server.port }), port);
  const longest = socketPath.padEnd(bounds.socketPathBytes, 'x');
  const tooLong = `wrong_usage: --socket must have at most ${bounds.socketPathBytes} bytes, and has 108: name another`;
  assert.is(await refusal({ socketPath: `${longest}x` }), tooLong);
  assert.is(await refusal({ socketPath: `${longest.slice(0, -1)}é` }), tooLong);
  assert.equal(readdirSync(dirname(socketPath)), ['socket'], 'no truncated path');
  await (await started({ socketPath: longest })).close();
  assert.match(await refusal({ socketPath: `${socketPath}.d/socket` }), /^cannot_listen: cannot listen on .*: E/);
});

test('a file that is no socket stays as it is, although the path of a socket names it', async () => {
  const socketPath = join(temporaryFolder(), 'config.json');
  writeFileSync(socketPath, '{}');
  assert.is(await refusal({ socketPath }), `wrong_usage: ${socketPath} exists and is no socket; name another`);
  assert.is(readFileSync(socketPath, 'utf8'), '{}');
});

test('a token is made once, and one that is short, long or cannot be sent is refused', async () => {
  const path = join(temporaryFolder(), 'token');
  const made = await tokenIn(path);
  assert.match(made, /^[\w-]{43}$/);
  assert.equal([await tokenIn(path), statSync(path).mode & 0o777], [made, 0o600]);
  const most = bounds.sidecarTokenLength;
  for (const [text, isTaken] of [
    ['x'.repeat(16), true],
    ['x'.repeat(most), true],
    ['x'.repeat(15), false],
    ['x'.repeat(most + 1), false],
    [`${'x'.repeat(16)} y`, false],
  ] as const) {
    writeFileSync(path, `${text}\n`);
    assert.is(await tokenIn(path).catch(({ code }) => code), isTaken ? text : 'wrong_usage');
  }
});

test.run();
