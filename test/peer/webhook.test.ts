/** A relay's sender against a receiver: how long it waits, and which answers end it. */
import type { IncomingHttpHeaders } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bounds } from '../../src/client/bounds.js';
import { systemRuntime } from '../../src/client/transport/time.js';
import { changeIdOf, type VerdictChange, webhookSender } from '../../src/peer/relay/webhook.js';
import { type FakeAnswer, fakeNode } from './fake-node.js';

const now = Date.UTC(2026, 10, 27, 12);
const change: VerdictChange = { id: 'change-1', subject: 'a'.repeat(64), from: 'neutral', to: null, at: now };

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

/** Sends one change to a receiver that gives the answers in turn, of which null cuts the connection off. */
const sent = (...replies: readonly (FakeAnswer | null)[]) => sentAs({}, ...replies);

async function sentAs(
  { secret = '', dice = 0, to = change.to, ending }: Sending,
  ...replies: readonly (FakeAnswer | null)[]
): Promise<Sent> {
  const left = [...replies, ...Array(9).fill({ status: 204 })];
  await using receiver = await fakeNode(() => {
    ending?.abort();
    return ending === undefined ? left.shift() : new Promise(() => {});
  });
  const pauses: number[] = [];
  const lines: (string | null)[] = [];
  const send = webhookSender({
    url: `${receiver.url}/hook`,
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
  const outcome = await send({ ...change, to }).catch((error: unknown) => error);
  const { headers, text } = receiver.asked.at(-1)!;
  return { outcome, pauses, lines, headers, text };
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
  const discord = { status: 400, body: { message: 'Unknown Webhook', code: 10015 } };
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
  const { outcome, pauses, lines } = await sentAs({ dice: 0.5 }, null, { status: 300 }, after(7), after(1e6));
  assert.is(outcome, true);
  assert.equal(pauses, [base / 2, base, 7_000 + 2 * base, cap + 4 * base]);
  const again = 'retried until the receiver accepts the webhook';
  const statuses = ['answered 300', 'answered 503', 'answered 503'];
  assert.equal(lines, [...['does not answer', ...statuses].map((what) => `${what}; ${again}`), null]);
  assert.is((await sent({ status: 200 })).pauses.length, 0);
  const long = { status: 400, body: { code: 10015, message: 'x'.repeat(4_096) } };
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
