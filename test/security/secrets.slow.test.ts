/**
 * No secret and no player's id leaves a node, or stays in its files, after requests of every kind: a search of their
 * bytes. SECRETS_REQUESTS is about how many requests are sent.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { SignJWT } from 'jose';
import { request } from 'undici';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Conversation, writesOf } from '../fuzz/conversation.js';
import { FuzzNode, groupSalt } from '../fuzz/nodes.js';
import { conversations } from '../fuzz/requests.js';
import { answersOf, converse } from '../fuzz/wire.js';
import { endAll } from '../support/process.js';
import { filesUnder, found, type Haystack, type Needle } from './needles.js';

const requests = Number(process.env.SECRETS_REQUESTS ?? 2_000);
const seed = Number(process.env.FUZZ_SEED ?? 20_261_120);
const atOnce = 16;

const sessionSecret = 'a session secret of forty bytes or so...';

/** The name that the fuzz gives every player, and nothing else. */
const playerNeedle: Needle = { what: "a player's id", text: 'player-0000' };
const emailNeedle: Needle = { what: 'an e-mail address', text: 'ops@example.com' };

interface Heard {
  /** Errors, and successes other than the registrations that show a key. */
  readonly errors: string[];
  readonly successes: string[];
  readonly keys: string[];
}

async function talk(node: FuzzNode, all: readonly Conversation[], heard: Heard, from: number): Promise<void> {
  await Promise.all(
    all.map(async (conversation, place) => {
      const names = node.names(String(from + place).padStart(9, '0'));
      const received = await converse(node.port, writesOf(conversation, names));
      const methods = conversation.damages.length === 0 ? conversation.requests.map(({ method }) => method) : [];
      for (const { status, body } of answersOf(received, methods)) {
        const key = /"api_key":"([^"]+)"/.exec(body)?.[1];
        if (key !== undefined) heard.keys.push(key);
        else if (status >= 400) heard.errors.push(body);
        else heard.successes.push(body);
      }
    }),
  );
}

const haystack = (where: string, text: string): Haystack => ({ where, bytes: Buffer.from(text) });

test('no key, salt, secret or player id is found in files, output, metrics or errors', async () => {
  const cookie = await new SignJWT({})
    .setProtectedHeader({ alg: 'HS256' })
    .setAudience('ptf-dev')
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(sessionSecret));
  const node = new FuzzNode(
    'trace',
    {
      LOG_LEVEL: 'trace',
      METRICS_PORT: '0',
      REGISTRATION_MODE: 'session',
      SESSION_SECRET: sessionSecret,
      SNAPSHOT_EVERY: '100',
      ERASURE_QUOTA_PER_DAY: '20',
    },
    `service_session=${cookie}`,
  );
  await node.start();
  const heard: Heard = { errors: [], successes: [], keys: [] };
  let sent = 0;
  for (let round = 0; sent < requests; round++) {
    const all = fc.sample(conversations(12), { seed: seed + round, numRuns: atOnce });
    await talk(node, all, heard, round * atOnce);
    sent += all.reduce((sum, { requests: some }) => sum + some.length, 0);
  }
  const metricsPort = /"metrics":\{"host":"[^"]*","port":(\d+)/.exec(node.output)?.[1];
  const metrics = await (await request(`http://127.0.0.1:${metricsPort}/metrics`)).body.text();
  const running = filesUnder(node.dir);
  await node.end();

  const names = node.names('000000000');
  const keys = ['key0', 'key1', 'key2', 'key3'].map((name) => ({ what: name, text: names.get(name) ?? '' }));
  const secrets: Needle[] = [
    ...keys,
    // A few whole ones in every form, and what all of them begin with.
    ...heard.keys.slice(0, 20).map((text) => ({ what: 'a key', text })),
    { what: 'the beginning of a key', text: keys[0]!.text.slice(0, keys[0]!.text.lastIndexOf('_') + 1) },
    { what: 'the salt', text: groupSalt },
    { what: 'the session secret', text: sessionSecret },
    { what: 'a session', text: cookie.slice(-40) },
  ];
  const files = [...running, ...filesUnder(node.dir)];
  const output = [haystack('the output', node.output), haystack('the metrics', metrics)];
  const errors = haystack('the errors', heard.errors.join('\n'));
  const successes = haystack('the answers', heard.successes.join('\n'));

  // The search finds its targets: first, the haystacks are what they should be.
  assert.ok(heard.errors.length > requests / 10 && heard.successes.length > requests / 10, 'too few answers');
  const stored: Needle = { what: 'the id of a peer', text: names.get('peer0') ?? '' };
  assert.ok(
    found([stored], files).some((one) => /log\b/.test(one)),
    'not even the id of a peer was found in the log',
  );
  assert.ok(found([playerNeedle], [successes]).length > 0, 'no player was answered about');
  assert.ok(node.output.includes('"level":"debug"') && metrics.includes('ptf_http_requests_total'));

  assert.equal(found([...secrets, playerNeedle], files), []);
  assert.equal(found([...secrets, playerNeedle, emailNeedle], [...output, errors]), []);
  assert.equal(found(secrets, [successes]), []);

  const [key] = keys;
  for (const form of ['utf8', 'utf16le', 'hex', 'base64'] as const) {
    const planted = Buffer.from(
      `xx${Buffer.from(key!.text).toString(form === 'utf8' || form === 'utf16le' ? 'utf8' : form)}`,
    );
    const bytes = form === 'utf16le' ? Buffer.from(key!.text, 'utf16le') : planted;
    writeFileSync(join(node.dir, 'planted'), Buffer.concat([Buffer.alloc(10_000, 7), bytes, Buffer.alloc(100, 7)]));
    assert.equal(found(keys, filesUnder(node.dir)), ['key0 in planted'], `a key planted as ${form}`);
  }
  await node.stop().catch(() => {});
});

test.after(endAll);
test.run();
