/** A first program, as a process of its own, against a node that refuses its key or has another salt. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { saltCheckOf } from '../../src/client/ids/salt-check.js';
import { execute, type Ran } from '../support/child-process.js';
import { temporaryFolder } from '../support/process.js';
import { peersAnswer, refusal, type Scripted } from './scripted-transport.js';

const entry = new URL('../../src/client/entry.js', import.meta.url).href;
const salt = 'a salt of sixteen bytes';

/** Runs a program with `client` and `folder` against a node of that salt that refuses every key, or streams. */
async function run(nodeSalt: string, program: string): Promise<Ran> {
  const peers = peersAnswer(saltCheckOf(nodeSalt));
  const stream = { status: 200, body: '', headers: { 'content-type': 'text/event-stream' } };
  const answerOf = (path: string): Scripted => {
    if (path.includes('/peers')) return peers;
    return nodeSalt === salt ? refusal(401, 'invalid_api_key') : stream;
  };
  const server = createServer((request, response) => {
    const { status, body, headers } = answerOf(request.url ?? '');
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  });
  await new Promise<void>((listens) => void server.listen(0, '127.0.0.1', listens));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const folder = temporaryFolder();
  const options = { url, peerId: 'peer-1', apiKey: 'a-key', groupSalt: salt, readBudgetMs: 10_000 };
  const text = `import { EventSpool, TrustClient } from ${JSON.stringify(entry)};
    const folder = ${JSON.stringify(folder)};
    const client = new TrustClient(${JSON.stringify(options)});
    ${program}`;
  try {
    return await execute(process.execPath, ['--input-type=module', '--eval', text], { timeout: 20_000 });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const report = "{ eventType: 'report_cheating', playerId: 'player-2', gameId: 'arena', severity: 0.7 }";
const unheard = `client.follow();
  await client.scores(['player-1']);
  const spool = await EventSpool.open({ folder, to: client });
  await spool.add(${report});`;

const warningsOf = (err: string): readonly string[] => err.split('\n').filter((line) => line.includes('TrustWarning'));

test('a program without listeners is warned once of a wrong key, and ends', async () => {
  const { code, err } = await run(salt, unheard);
  assert.is(code, 0, err);
  assert.equal(warningsOf(err).length, 1, err);
  assert.match(err, /\[invalid_api_key\] TrustWarning: text of invalid_api_key/);
  assert.not.match(err, /a-key/);
});

test('a program without listeners is warned once of a wrong salt, and ends', async () => {
  for (const program of [unheard, "await client.scores(['player-1']); await client.scores(['player-2']);"]) {
    const { code, err } = await run('the salt of the group', program);
    assert.is(code, 0, err);
    assert.equal(warningsOf(err).length, 1, err);
    assert.match(err, /\[salt_mismatch\] TrustWarning: groupSalt is not the salt of the group "local"/);
    assert.not.ok(err.includes(salt));
  }
});

test('a program that listens hears of the refusal from its listeners alone', async () => {
  const { out, err } = await run(
    salt,
    `const end = () => process.exit();
    const onState = ({ phase }) => console.log('stream', phase);
    await client.follow({ onState }).live().catch(({ code }) => console.log(code));
    const onProgress = ({ phase }) => { if (phase === 'refused') { console.log('spool', phase); end(); } };
    const spool = await EventSpool.open({ folder, to: client, onProgress });
    await spool.add(${report});`,
  );
  assert.is(err, '');
  assert.equal(out.trim().split('\n').sort(), ['invalid_api_key', 'spool refused', 'stream refused']);
});

test.run();
