/**
 * Writes that meet a node which is away for a while: as long as their deadline has room they try again, and they do not
 * come all at once.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bounds } from '../../../src/client/bounds.js';
import { Retries } from '../../../src/client/transport/retries.js';
import { TransportError } from '../../../src/client/transport/transport.js';
import { TrustClient } from '../../../src/client/trust-client.js';
import { TrustError } from '../../../src/client/trust-error.js';
import { refusal, ScriptedTransport } from '../scripted-transport.js';
import { VirtualRuntime } from '../virtual-runtime.js';

const { deadlineMs, breakerOpenMs, backoffBaseMs } = bounds;
const unreachable = new TrustError('unreachable', 'away');
const circuitOpen = (retryAfterMs: number) => new TrustError('circuit_open', 'left alone', { retryAfterMs });

function withDice(dice: number): { readonly runtime: VirtualRuntime; readonly retries: Retries } {
  const runtime = new VirtualRuntime();
  runtime.dice = dice;
  return { runtime, retries: new Retries(runtime, deadlineMs) };
}

test('waits on an open circuit do not widen the pauses after sent requests', () => {
  const { retries } = withDice(1);
  assert.is(retries.pauseMs(unreachable), backoffBaseMs);
  for (let index = 0; index < 10; index++) assert.is(retries.pauseMs(circuitOpen(700)), 700 + breakerOpenMs);
  assert.is(retries.pauseMs(unreachable), 2 * backoffBaseMs);
});

test('a pause beyond the deadline is shortened for one last attempt, with half of the remaining time', async () => {
  const { runtime, retries } = withDice(1);
  // The window is at its 5 s after seven attempts.
  for (let index = 0; index < 7; index++) retries.pauseMs(unreachable);
  await runtime.advance(deadlineMs - 3_000);
  // 3 s are left: an open circuit takes one of them, and sends nothing.
  assert.is(retries.pauseMs(circuitOpen(2_900)), 2_950);
  assert.is(retries.pauseMs(circuitOpen(2_900)), 2_950);
  assert.is(retries.pauseMs(unreachable), null);
  const other = withDice(1);
  for (let index = 0; index < 7; index++) other.retries.pauseMs(unreachable);
  await other.runtime.advance(deadlineMs - 3_000);
  assert.is(other.retries.pauseMs(unreachable), 1_500);
  await other.runtime.advance(1_500);
  assert.is(other.retries.pauseMs(unreachable), null);
});

test('a wait that the node or the circuit requires is never shortened', async () => {
  const { runtime, retries } = withDice(0);
  await runtime.advance(deadlineMs - 3_000);
  assert.is(retries.pauseMs(new TrustError('overloaded', 'full', { status: 503, retryAfterMs: 3_000 })), null);
  assert.is(retries.pauseMs(circuitOpen(3_000)), null);
});

/** A writer is refused while the node shuts down, then no node answers, then the node is back. */
function restarting(seed: number, backAtMs: number) {
  const runtime = new VirtualRuntime(seed);
  const arrivals: number[] = [];
  const transport = new ScriptedTransport(({ path, body }) => {
    const at = runtime.elapsedMs();
    if (at < 300) return refusal(503, 'dependency_unavailable', { 'retry-after': '1' });
    if (at < backAtMs) return new TransportError('connect ECONNREFUSED', false);
    arrivals.push(at);
    if (!path.endsWith('/batch')) return { status: 201, body: { event_id: 'e', status: 'accepted' } };
    const { events } = JSON.parse(body ?? '') as { readonly events: readonly { readonly event_id: string }[] };
    return { status: 200, body: { results: events.map(({ event_id }) => ({ event_id, status: 201 })) } };
  });
  const client = new TrustClient({ url: 'http://node', peerId: 'peer', apiKey: 'key', transport, runtime });
  return { runtime, client, arrivals };
}

const event = { eventType: 'report_cheating', playerId: 'p', gameId: 'g', severity: 0.5, eventId: 'e' } as const;

for (const [what, backAtMs] of [
  ['a third', 5_300],
  ['two thirds', 10_000],
] as const) {
  test(`writes survive a node that is away for ${what} of their deadline`, async () => {
    for (let seed = 1; seed <= 40; seed++) {
      const { runtime, client } = restarting(seed, backAtMs);
      const works = Array.from({ length: 10 }, async (_, index) => {
        await new Promise<void>((resolve) => {
          runtime.after(300 * index, resolve);
        });
        if (index === 9) assert.is((await client.submitMany([event])).accepted, 1);
        else assert.is((await client.submit(event)).status, 'accepted');
      });
      await runtime.until(Promise.all(works));
    }
  });
}

test('calls that waited for the circuit do not resume all at once', async () => {
  const { runtime, client, arrivals } = restarting(1, 5_300);
  await runtime.until(Promise.all(Array.from({ length: 300 }, () => client.submit(event))));
  const spread = arrivals.map((at) => arrivals.filter((other) => at <= other && other < at + backoffBaseMs).length);
  assert.ok(Math.max(...spread) < 100, `${Math.max(...spread)} of ${arrivals.length} within ${backoffBaseMs} ms`);
});

test.run();
