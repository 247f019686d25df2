/** A relay's sender against a receiver: how long it waits, and which answers end it. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bounds } from '../../src/client/bounds.js';
import { systemRuntime } from '../../src/client/transport/time.js';
import { changeIdOf, type VerdictChange, webhookSender } from '../../src/peer/relay/webhook.js';

const now = Date.UTC(2026, 10, 27, 12);
const change: VerdictChange = { id: 'change-1', subject: 'a'.repeat(64), from: 'neutral', to: null, at: now };

interface Reply {
  /** 0: the connection is cut off. */
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

interface Sent {
  readonly outcome: unknown;
  /** In ms. */
  readonly pauses: readonly number[];
  readonly lines: readonly (string | null)[];
  /** The last request that the receiver got. */
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

interface Sending {
  readonly secret?: string;
  readonly dice?: number;
  readonly to?: VerdictChange['to'];
  /** Aborted by the receiver instead of an answer, if given. */
  readonly ending?: AbortController | undefined;
}

/** Sends one change to a receiver that gives the answers in turn. */
const sent = (...replies: readonly Reply[]) => sentAs({}, ...replies);

async function sentAs(
  { secret = '', dice = 0, to = change.to, ending }: Sending,
  ...replies: readonly Reply[]
): Promise<Sent> {
  const left = [...replies];
  let got: { readonly headers: IncomingHttpHeaders; readonly text: string } = { headers: {}, text: '' };
  const server = createServer(async (request, response) => {
    const { status, headers = {}, body = '' } = left.shift() ?? { status: 204 };
    let text = '';
    for await (const part of request.setEncoding('utf8')) text += part;
    got = { headers: request.headers, text };
    if (ending !== undefined) ending.abort();
    else if (status === 0) request.socket.destroy();
    else response.writeHead(status, headers).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const pauses: number[] = [];
  const lines: (string | null)[] = [];
  const send = webhookSender({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    secret,
    discord: secret === '',
    runtime: {
      ...systemRuntime,
      now: () => now,
      random: () => dice,
      after: (ms, run) => {
        pauses.push(ms);
        const timer = setImmediate(run);
        return () => clearImmediate(timer);
      },
    },
    signal: (ending ?? new AbortController()).signal,
    say: (line) => lines.push(line?.replace(/^127\.0\.0\.1:\d+ /, '') ?? null),
  });
  try {
    const outcome = await send({ ...change, to }).catch((error: unknown) => error);
    return { outcome, pauses, lines, ...got };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test('a receiver may ask for a pause in seconds or until a date', async () => {
  const date = new Date(now + 90_000).toUTCString();
  const { outcome, pauses } = await sent(
    { status: 429, headers: { 'retry-after': '7' } },
    { status: 503, headers: { 'retry-after': date } },
    { status: 503, headers: { 'retry-after': new Date(now - 1_000).toUTCString() } },
  );
  assert.is(outcome, true);
  assert.equal(pauses, [7_000, 90_000, 0]);
});

test('an address that is gone ends the relay at once, by its status or the code of Discord', async () => {
  const discord = { status: 400, body: '{"message": "Unknown Webhook", "code": 10015}' };
  for (const reply of [{ status: 401 }, { status: 404 }, { status: 410 }, discord]) {
    const { outcome, pauses, lines } = await sent(reply);
    assert.equal([(outcome as { code?: string }).code, pauses, lines], ['webhook_gone', [], []]);
  }
});

test('a webhook that is refused for its content is tried a few times, any other until it arrives', async () => {
  const times = (count: number, status: number) => Array.from({ length: count }, () => ({ status }));
  const tries = bounds.webhookTriesMax;
  for (const status of [400, 413, 422]) {
    assert.is((await sent(...times(tries - 1, status))).outcome, true);
    const { outcome, pauses } = await sent(...times(tries, status));
    assert.equal([outcome, pauses.length], [false, tries - 1]);
  }
  assert.is((await sent(...times(tries + 2, 500))).outcome, true);
  const later = await sent(...times(tries, 503), ...times(tries - 1, 400));
  assert.is(later.outcome, true, 'only refusals for the content count');
});

test('a webhook is retried after a growing, bounded pause with jitter, and each problem is reported', async () => {
  const after = (seconds: number) => ({ status: 503, headers: { 'retry-after': `${seconds}` } });
  const { webhookBackoffBaseMs: base, webhookBackoffCapMs: cap } = bounds;
  const { outcome, pauses, lines } = await sentAs({ dice: 0.5 }, { status: 0 }, { status: 300 }, after(7), after(1e6));
  assert.is(outcome, true);
  assert.equal(pauses, [base / 2, base, 7_000 + 2 * base, cap + 4 * base]);
  const again = 'retried until the receiver accepts the webhook';
  const statuses = ['answered 300', 'answered 503', 'answered 503'];
  assert.equal(lines, [...['does not answer', ...statuses].map((what) => `${what}; ${again}`), null]);
  assert.is((await sent({ status: 200 })).pauses.length, 0);
  const long = { status: 400, body: `{"code": 10015, "message": "${'x'.repeat(4_096)}"}` };
  assert.is((await sent(long)).outcome, true, 'a long answer is not read for a code');
});

test('a signal ends the delivery of a webhook at once, and is no problem of the receiver', async () => {
  const { outcome, pauses, lines } = await sentAs({ ending: new AbortController() });
  assert.equal([(outcome as Error).name, pauses, lines], ['AbortError', [], []]);
});

test('a webhook is signed as Standard Webhooks state, and Discord gets its own unsigned form', async () => {
  const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
  const values = { score: 12, confidence: 0.5, verdict: 'untrusted', known: true } as const;
  const timestamp = '2026-11-27T12:00:00.000Z';
  for (const [to, type, more] of [
    [values, 'verdict.changed', { verdict: 'untrusted', previous_verdict: 'neutral', score: 12, confidence: 0.5 }],
    [null, 'player.removed', { previous_verdict: 'neutral' }],
  ] as const) {
    const { headers, text } = await sentAs({ secret, to });
    assert.equal(JSON.parse(text), { type, timestamp, data: { subject_hash: change.subject, ...more } });
    const signed = new Webhook(secret).sign('change-1', new Date(now), text);
    const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature } = headers;
    assert.equal([id, at, signature], ['change-1', `${now / 1_000}`, signed]);
  }
  const field = (name: string, value: string) => ({ name, value, inline: true });
  const fields = [field('Player', `\`${'a'.repeat(16)}…\``), field('Before', 'neutral')];
  const scores = [field('Score', '12'), field('Confidence', '0.5')];
  for (const [to, title, color, shown] of [
    [values, 'A player is now untrusted', 0xc62828, [...fields, ...scores]],
    [null, 'A player was removed from the group', 0x757575, fields],
  ] as const) {
    const { headers, text } = await sentAs({ to });
    const embed = { title, color, fields: shown, timestamp, footer: { text: 'change-1' } };
    assert.equal(JSON.parse(text), { allowed_mentions: { parse: [] }, embeds: [embed] });
    assert.is(headers['webhook-signature'], undefined);
  }
});

test('a change has one id wherever it is sent, and any other change another', () => {
  const { subject, from } = change;
  const to = { score: 1, confidence: 1, verdict: 'untrusted', known: true } as const;
  const ids = [
    changeIdOf('id-1', 0, { subject, from, to }),
    changeIdOf('id-2', 0, { subject, from, to }),
    changeIdOf('id-1', 1, { subject, from, to }),
    changeIdOf('id-1', 0, { subject: 'b'.repeat(64), from, to }),
    changeIdOf('id-1', 0, { subject, from: 'trusted', to }),
    changeIdOf('id-1', 0, { subject, from, to: null }),
  ];
  assert.equal([new Set(ids).size, ids.every((id) => /^msg_[0-9a-f]{40}$/.test(id))], [ids.length, true]);
  assert.is(changeIdOf('id-1', 0, { subject, from, to: { ...to, score: 2 } }), ids[0]);
});

test.run();
