/** A relay's sender against a receiver: how long it waits, and which answers end it. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bounds } from '../../src/client/bounds.js';
import { systemRuntime } from '../../src/client/transport/time.js';
import { type VerdictChange, webhookSender } from '../../src/peer/relay/webhook.js';

const now = Date.UTC(2026, 10, 27, 12);
const change: VerdictChange = {
  id: 'change-1',
  subject: 'a'.repeat(64),
  from: 'neutral',
  to: null,
  at: now,
};

interface Reply {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** Sends one change to a receiver that gives the answers in turn. Returns the outcome and the pauses in ms. */
async function sent(...replies: readonly Reply[]): Promise<{ outcome: unknown; pauses: number[]; lines: number }> {
  const left = [...replies];
  const server = createServer((request, response) => {
    request.resume();
    const { status, headers = {}, body = '' } = left.shift() ?? { status: 204 };
    response.writeHead(status, headers).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const pauses: number[] = [];
  let lines = 0;
  const send = webhookSender({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    secret: '',
    discord: true,
    runtime: {
      ...systemRuntime,
      now: () => now,
      random: () => 0,
      after: (ms, run) => {
        pauses.push(ms);
        const timer = setImmediate(run);
        return () => clearImmediate(timer);
      },
    },
    signal: new AbortController().signal,
    say: () => lines++,
  });
  try {
    const outcome = await send(change).catch((error: unknown) => error);
    return { outcome, pauses, lines };
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
    assert.equal([(outcome as { code?: string }).code, pauses, lines], ['webhook_gone', [], 0]);
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
});

test.run();
