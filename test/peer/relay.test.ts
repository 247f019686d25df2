/** A relay whose node answers as the test says. */
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { saltCheckOf } from '../../src/client/ids/salt-check.js';
import type { PeerConfig } from '../../src/peer/config/peer-config.js';
import { relayFolder, relayVerdicts } from '../../src/peer/relay/relay.js';
import { frame, rowOf } from '../client/stream-double.js';
import { closing } from '../support/closing.js';
import { temporaryFolder } from '../support/process.js';
import { until } from '../support/until.js';
import { fakeNode } from './fake-node.js';

const secrets = { apiKey: 'key', groupSalt: 'a salt of sixteen bytes', signingKey: undefined };
const member = { peerId: 'p', gameIds: ['g'], ...secrets };

test('a relay whose node refuses the stream waits before it asks again, and ends with its signal', async () => {
  let asked = 0;
  const ending = new AbortController();
  const node = createServer((_, response) => {
    asked++;
    response.writeHead(401, { 'content-type': 'application/json' }).end('{"code":"invalid_api_key","error":"no"}');
  }).listen(0, '127.0.0.1');
  await once(node, 'listening');
  const url = `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
  const stateDir = temporaryFolder();
  const config = { ...member, url, stateDir, path: stateDir };
  const webhook = { url: 'http://127.0.0.1:9/', secret: '', discord: true, newOnly: true };
  await relayVerdicts({ config, ...webhook, signal: ending.signal, log: () => setImmediate(() => ending.abort()) });
  node.close();
  assert.is(asked, 1);
});

const [A, B] = ['a'.repeat(64), 'b'.repeat(64)];

/** The pieces of a stream in which A was untrusted before, and B becomes suspicious. */
async function* stream() {
  const now = new Date().toISOString();
  const row = (subject: string, verdict: 'untrusted' | 'suspicious') =>
    rowOf(subject, { score: 1, confidence: 1, verdict });
  const steps = { score_step: 1, confidence_step: 0.1 };
  const hello = { version: 1, group_id: 'local', identity_mode: 'privacy-first', now, heartbeat_ms: 60_000, ...steps };
  // The change arrives in one piece with the snapshot.
  const snapshot = frame('snapshot', { players: [row(A, 'untrusted')], last: true, as_of: now }, '1-0');
  const change = frame('change', { changes: [row(B, 'suspicious')], as_of: now }, '2-0');
  yield frame('hello', hello as never) + snapshot + change;
}

function journalOf(config: PeerConfig, webhook: string): string {
  return join(relayFolder(config, webhook), `journal-${saltCheckOf(config.groupSalt)}.ndjson`);
}

/** True once a relay has recorded the last change of the stream. */
function hasRecorded(journal: string): boolean {
  return existsSync(journal) && readFileSync(journal, 'utf8').endsWith('{"id":"2-0"}\n');
}

test('changes are delivered in their order and counted, and an address that is gone ends the relay', async () => {
  await using node = await fakeNode(() => ({ stream: stream() }));
  for (const [newOnly, status, delivered] of [
    [false, 204, [A, B]],
    [true, 204, [B]],
    [true, 410, []],
  ] as const) {
    await using receiver = await fakeNode(() => ({ status, body: {} }));
    const got = () => receiver.asked.map(({ text }) => JSON.parse(text).data.subject_hash);
    const ending = new AbortController();
    const lines: string[] = [];
    const stateDir = temporaryFolder();
    const config = { ...member, url: node.url, stateDir, path: stateDir };
    const webhook = { url: receiver.url, secret: `whsec_${'A'.repeat(32)}`, discord: false, newOnly };
    const journal = journalOf(config, receiver.url);
    const relaying = relayVerdicts({ config, ...webhook, signal: ending.signal, log: (line) => lines.push(line) });
    if (status === 410) {
      const failure = await relaying.catch(({ code, exitCode }) => [code, exitCode]);
      assert.equal([failure, got()], [['webhook_gone', 1], [B]]);
    } else {
      await until(() => hasRecorded(journal));
      ending.abort();
      await relaying;
      assert.equal(got(), delivered);
    }
    assert.is(lines.filter((line) => line === 'follows the stream').length, status === 410 ? lines.length - 1 : 1);
    assert.is(lines.at(-1), `delivered ${delivered.length} webhooks`);
  }
});

/** Relays the stream to a receiver that rejects the webhook about A as invalid. */
async function rejected(prepare: (setAside: string) => void) {
  const node = await fakeNode(() => ({ stream: stream() }));
  const receiver = await fakeNode(({ text }) => ({ status: text.includes(A) ? 422 : 204, body: {} }));
  const ending = new AbortController();
  const lines: string[] = [];
  const stateDir = temporaryFolder();
  const config = { ...member, url: node.url, stateDir, path: stateDir };
  const webhook = { url: receiver.url, secret: `whsec_${'A'.repeat(32)}`, discord: false, newOnly: false };
  const folder = relayFolder(config, receiver.url);
  const path = join(folder, 'set-aside.ndjson');
  prepare(path);
  let atLog = '';
  const log = (line: string) => {
    lines.push(line);
    if (line.includes('is set aside')) atLog = readFileSync(path, 'utf8');
  };
  const { random } = Math;
  // The pauses before a webhook is sent again have no jitter and so no length.
  Math.random = () => 0;
  try {
    const relaying = relayVerdicts({ config, ...webhook, signal: ending.signal, log });
    let hasEnded = false;
    const note = () => {
      hasEnded = true;
    };
    relaying.then(note, note);
    await until(() => hasEnded || hasRecorded(journalOf(config, receiver.url)));
    ending.abort();
    await relaying;
  } finally {
    Math.random = random;
    await receiver.close();
    await node.close();
  }
  return { path, lines, atLog, last: receiver.asked.at(-1)!.text };
}

test('a webhook that its receiver rejects as invalid is set aside for its owner, and the next is sent', async () => {
  const { path, lines, atLog, last } = await rejected(() => undefined);
  const { id, type, data } = JSON.parse(atLog);
  assert.equal([type, data.subject_hash, data.verdict], ['verdict.changed', A, 'untrusted']);
  assert.is(statSync(path).mode & 0o777, 0o600);
  assert.ok(lines.includes(`the receiver rejects the webhook ${id} as invalid; it is set aside in ${path}`));
  assert.is(lines.at(-1), 'delivered 1 webhooks');
  assert.match(last, B);
});

test('a relay that cannot set a rejected webhook aside ends before the next one', async () => {
  const failure = await rejected((path) => mkdirSync(path, { recursive: true })).catch(({ code }) => code);
  assert.is(failure, 'EISDIR');
});

test('a relay on the folder of a running one is refused, and a journal on a failed disk is said to be that', async () => {
  await using node = await fakeNode(() => ({ stream: stream() }));
  const stateDir = temporaryFolder();
  const config = { ...member, url: node.url, stateDir, path: stateDir };
  let journal = '';
  // The journal cannot be written from the first webhook on.
  await using receiver = await fakeNode(() => {
    mkdirSync(journal, { recursive: true });
    return { status: 204, body: {} };
  });
  journal = journalOf(config, receiver.url);
  const ending = new AbortController();
  const lines: string[] = [];
  const webhook = { url: receiver.url, secret: '', discord: true, newOnly: false, signal: ending.signal };
  const relay = (log: (line: string) => void) => relayVerdicts({ config, ...webhook, log });
  const relaying = relay((line) => lines.push(line));
  await until(() => lines.some((line) => line.startsWith('stream: ')));
  const second = await relay(() => undefined).catch(({ code }) => code);
  ending.abort();
  await relaying;
  const disk = 'the disk failed or is full: free disk space, or make this user the owner of the folder';
  assert.is(
    lines.find((line) => line.startsWith('stream: ')),
    `stream: ${disk} (spool_failed)`,
  );
  assert.is(second, 'spool_in_use');
});

test('a relay whose journal is damaged gives the folder back', async () => {
  const stateDir = temporaryFolder();
  const config = { ...member, url: 'http://127.0.0.1:9', stateDir, path: stateDir };
  const url = 'http://127.0.0.1:9/hook';
  const path = journalOf(config, url);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, 'damaged\n');
  const webhook = { url, secret: '', discord: true, newOnly: false, signal: new AbortController().signal };
  const refused = () => relayVerdicts({ config, ...webhook, log: () => undefined }).catch(({ code }) => code);
  assert.equal([await refused(), await refused()], ['wrong_usage', 'wrong_usage']);
});

test('groups that share a webhook and a folder have a journal each, which the next start continues', async () => {
  const resumedFrom: unknown[] = [];
  await using node = closing(
    createServer(async ({ headers }, response) => {
      resumedFrom.push(headers['last-event-id']);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for await (const piece of stream()) response.write(piece);
    }).listen(0, '127.0.0.1'),
  );
  await once(node, 'listening');
  const url = `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
  const receiver = await fakeNode(() => ({ status: 204, body: {} }));
  const stateDir = temporaryFolder();
  const relayed = async (groupSalt: string) => {
    const [before, starts] = [receiver.asked.length, resumedFrom.length];
    const config = { ...member, groupSalt, url, stateDir, path: stateDir };
    const webhook = { url: receiver.url, secret: `whsec_${'A'.repeat(32)}`, discord: false, newOnly: true };
    const ending = new AbortController();
    const relaying = relayVerdicts({ config, ...webhook, signal: ending.signal, log: () => undefined });
    await until(() => resumedFrom.length > starts && hasRecorded(journalOf(config, receiver.url)));
    ending.abort();
    await relaying;
    return receiver.asked.slice(before).map(({ text }) => JSON.parse(text).data.subject_hash);
  };
  for (const salt of ['a salt of sixteen bytes', 'a salt of another group']) assert.equal(await relayed(salt), [B]);
  await relayed('a salt of sixteen bytes');
  assert.equal(resumedFrom.slice(0, 2), [undefined, undefined]);
  assert.type(resumedFrom[2], 'string');
  await receiver.close();
  node.closeAllConnections();
});

test.run();
