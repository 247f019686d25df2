/** The log: JSON lines with an ISO time, and no secret even where somebody hands one over. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createLog } from '../../src/node/logger.js';

/** The lines that `use` of a logger writes, parsed. */
function linesOf(use: (log: ReturnType<typeof createLog>) => void): Record<string, unknown>[] {
  const lines: string[] = [];
  use(createLog('debug', { write: (line) => lines.push(line) }));
  return lines.map((line) => JSON.parse(line));
}

test('a line is JSON with a level, a time in ISO 8601 and the message; none below the level is written', () => {
  const [line, ...more] = linesOf((log) => {
    log.trace('below the level');
    log.debug({ port: 1 }, 'listening');
  });
  assert.equal(more, []);
  assert.is(line?.level, 'debug');
  assert.match(String(line?.time), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.is(line?.msg, 'listening');
  assert.is(line?.port, 1);
});

test('no field that could hold a secret reaches a line, at any depth and in lists', () => {
  const secret = 'hunter2';
  const headers = { 'x-peer-api-key': secret, 'X-Peer-API-Key': secret, authorization: secret, cookie: secret };
  const fields = {
    api_key: secret,
    headers,
    list: [{ apiKey: secret, 'set-cookie': secret }],
    config: { salt: secret, GROUP_SALT: secret, group_salt: secret, sessionSecret: secret, SESSION_SECRET: secret },
    event: { player_id: secret, contact_email: secret, service_session: secret },
    a: { b: { c: { d: { e: { f: { salt: secret } } } } } },
  };
  const lines = linesOf((log) => {
    log.info(fields, 'all of them');
    log.child({ part: 'http' }).info({ request: { headers } }, 'of a child logger');
  });
  assert.is(lines.length, 2);
  assert.not.ok(JSON.stringify(lines).includes(secret));
});

test('a value that is not a secret stays unchanged', () => {
  const fields = {
    peer_id: 'p',
    code: 'invalid_api_key',
    salted: 1,
    list: [1, { b: null }],
    salt: null,
    at: new Date(0),
  };
  const [line] = linesOf((log) => log.info(fields));
  assert.equal(
    {
      peer_id: line?.peer_id,
      code: line?.code,
      salted: line?.salted,
      list: line?.list,
      salt: line?.salt,
      at: line?.at,
    },
    { ...fields, at: '1970-01-01T00:00:00.000Z' },
  );
});

test('an error keeps its message and stack', () => {
  const [line] = linesOf((log) => log.fatal({ err: new Error('boom') }, 'the node cannot continue'));
  assert.match(JSON.stringify(line?.err), 'boom');
  assert.match(JSON.stringify(line?.err), 'stack');
});

test.run();
