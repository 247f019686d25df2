/** A relay whose node answers as the test says. */
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { saltCheckOf } from '../../src/client/ids/salt-check.js';
import { relayFolder, relayVerdicts } from '../../src/peer/relay/relay.js';
import { frame, rowOf } from '../client/stream-double.js';
import { temporaryFolder } from '../support/process.js';
import { until } from '../support/until.js';
import { fakeNode } from './fake-node.js';

type Options = Parameters<typeof relayVerdicts>[0];

/** The options of a relay between a node and a webhook, with a state folder of its own. */
function relayOptions(url: string, webhook: string, more: Partial<Options> & { groupSalt?: string } = {}): Options {
  const { groupSalt = 'a salt of sixteen bytes', ...others } = more;
  const stateDir = temporaryFolder();
  const member = { url, peerId: 'p', gameIds: ['g'], apiKey: 'key', groupSalt, signingKey: undefined };
  const sending = { url: webhook, secret: `whsec_${'A'.repeat(32)}`, discord: false, newOnly: false };
  const ends = { log: () => undefined, signal: new AbortController().signal };
  return { config: { ...member, stateDir, path: stateDir }, ...sending, ...ends, ...others };
}

const nowhere = 'http://127.0.0.1:9/hook';

test('a relay whose node refuses the stream waits before it asks again, and ends with its signal', async () => {
  const ending = new AbortController();
  await using node = await fakeNode(() => ({ status: 401, body: { code: 'invalid_api_key', error: 'no' } }));
  const log = () => setImmediate(() => ending.abort());
  await relayVerdicts(relayOptions(node.url, nowhere, { signal: ending.signal, log }));
  assert.is(node.asked.length, 1);
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

function journalOf({ config, url }: Options): string {
  return join(relayFolder(config, url), `journal-${saltCheckOf(config.groupSalt)}.ndjson`);
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
    const more = { newOnly, signal: ending.signal, log: (line: string) => lines.push(line) };
    const options = relayOptions(node.url, receiver.url, more);
    const relaying = relayVerdicts(options);
    if (status === 410) {
      const failure = await relaying.catch(({ code, exitCode }) => [code, exitCode]);
      assert.equal([failure, got()], [['webhook_gone', 1], [B]]);
    } else {
      await until(() => hasRecorded(journalOf(options)));
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
  await using node = await fakeNode(() => ({ stream: stream() }));
  await using receiver = await fakeNode(({ text }) => ({ status: text.includes(A) ? 422 : 204, body: {} }));
  const ending = new AbortController();
  const lines: string[] = [];
  let atLog = '';
  const log = (line: string) => {
    lines.push(line);
    if (line.includes('is set aside')) atLog = readFileSync(path, 'utf8');
  };
  const options = relayOptions(node.url, receiver.url, { signal: ending.signal, log });
  const path = join(dirname(journalOf(options)), 'set-aside.ndjson');
  prepare(path);
  const { random } = Math;
  // The pauses before a webhook is sent again have no jitter and so no length.
  Math.random = () => 0;
  try {
    const relaying = relayVerdicts(options);
    let hasEnded = false;
    const note = () => {
      hasEnded = true;
    };
    relaying.then(note, note);
    await until(() => hasEnded || hasRecorded(journalOf(options)));
    ending.abort();
    await relaying;
  } finally {
    Math.random = random;
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
  const lines: string[] = [];
  const ending = new AbortController();
  // The journal cannot be written from the first webhook on.
  await using receiver = await fakeNode(() => {
    mkdirSync(journalOf(options), { recursive: true });
    return { status: 204, body: {} };
  });
  const more = { discord: true, signal: ending.signal, log: (line: string) => lines.push(line) };
  const options = relayOptions(node.url, receiver.url, more);
  const relaying = relayVerdicts(options);
  await until(() => lines.some((line) => line.startsWith('stream: ')));
  const second = await relayVerdicts({ ...options, log: () => undefined }).catch(({ code }) => code);
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
  const options = relayOptions(nowhere, nowhere);
  mkdirSync(dirname(journalOf(options)), { recursive: true });
  writeFileSync(journalOf(options), 'damaged\n');
  const refused = () => relayVerdicts(options).catch(({ code }) => code);
  assert.equal([await refused(), await refused()], ['wrong_usage', 'wrong_usage']);
});

test('groups that share a webhook and a folder have a journal each, which the next start continues', async () => {
  await using node = await fakeNode(() => ({ stream: stream() }));
  await using receiver = await fakeNode(() => ({ status: 204, body: {} }));
  const { stateDir } = relayOptions(node.url, receiver.url).config;
  const relayed = async (groupSalt: string) => {
    const [before, starts] = [receiver.asked.length, node.asked.length];
    const ending = new AbortController();
    const given = relayOptions(node.url, receiver.url, { groupSalt, newOnly: true, signal: ending.signal });
    const options = { ...given, config: { ...given.config, stateDir } };
    const relaying = relayVerdicts(options);
    await until(() => node.asked.length > starts && hasRecorded(journalOf(options)));
    ending.abort();
    await relaying;
    return receiver.asked.slice(before).map(({ text }) => JSON.parse(text).data.subject_hash);
  };
  for (const salt of ['a salt of sixteen bytes', 'a salt of another group']) assert.equal(await relayed(salt), [B]);
  await relayed('a salt of sixteen bytes');
  const resumedFrom = node.asked.map(({ headers }) => headers['last-event-id']);
  assert.equal(resumedFrom.slice(0, 2), [undefined, undefined]);
  assert.type(resumedFrom[2], 'string');
});

test.run();
