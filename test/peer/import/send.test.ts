/** An import against a node that stops in the middle: it ends with the reason, and the next one sends the rest. */
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bounds } from '../../../src/client/bounds.js';
import { type Runtime, systemRuntime } from '../../../src/client/transport/time.js';
import { TrustError } from '../../../src/client/trust-error.js';
import { wireEvent } from '../../../src/client/write/client-event.js';
import type { PlanEntry } from '../../../src/peer/import/plan.js';
import { type Sent, sendEntries } from '../../../src/peer/import/send.js';
import { VirtualRuntime } from '../../client/virtual-runtime.js';
import { temporaryFolder } from '../../support/process.js';
import { until } from '../../support/until.js';

let folder = '';
test.before.each(() => {
  folder = temporaryFolder();
});

const entries = (count: number): PlanEntry[] =>
  Array.from({ length: count }, (_, i) => ({
    player: { id: `player-${i}`, kind: 'custom' },
    says: 'ban',
    line: i + 1,
    row: i + 1,
    bannedAt: null,
    expiresAt: null,
    state: 'send',
    at: 1_767_225_600_000,
    severity: 1,
    weight: 1,
    note: undefined,
    said: undefined,
    repeats: { lines: [], count: 0 },
  }));

/** Imports through a node that knows the events of `stored` and fails with `error` once it has taken `takes` events. */
function importThrough(
  count: number,
  takes: number,
  error: TrustError | null,
  {
    padding = 0,
    stored = new Set<string>(),
    before = async (_prepared: () => number) => {},
    signal = new AbortController().signal,
    onPrepare = () => {},
    runtime = undefined as Runtime | undefined,
  } = {},
): Promise<Sent> {
  let taken = 0;
  let prepared = 0;
  const virtual = new VirtualRuntime();
  const sent = sendEntries(entries(count), {
    to: {
      prepare: (event) => {
        prepared++;
        onPrepare();
        return { ...wireEvent(event, 'peer', (id) => id, systemRuntime), evidence: 'x'.repeat(padding) };
      },
      deliver: async (events) => {
        await before(() => prepared);
        if (taken >= takes && error !== null) throw error;
        taken += events.length;
        return events.map(({ event_id }) => {
          const status = stored.has(event_id) ? 'duplicate' : 'accepted';
          stored.add(event_id);
          return { eventId: event_id, status, code: null, reason: null };
        });
      },
    },
    events: { peerId: 'peer', groupSalt: 'salt', list: 'test', gameId: 'game' },
    folder,
    signal,
    onProgress: () => undefined,
    runtime: runtime ?? virtual,
  });
  return runtime === undefined ? virtual.until(sent) : sent;
}

test('a key that is refused in the middle ends an import, and the next one sends what waits', async () => {
  const refusal = new TrustError('invalid_api_key', 'the key is not valid', { status: 401 });
  const stored = new Set<string>();
  const first = await importThrough(2_500, 500, refusal, { stored });
  assert.is(first.obstacle?.code, 'invalid_api_key');
  assert.ok(first.delivered >= 500 && first.delivered < 2_500, `${first.delivered}`);
  assert.ok(first.waiting > 0);
  const second = await importThrough(2_500, 0, null, { stored });
  assert.equal([second.obstacle, second.waiting, stored.size], [null, 0, 2_500]);
  // A step whose position was not saved when the import ended is sent again, and the node knows its events.
  assert.is(first.delivered + second.delivered - second.duplicates, 2_500);
});

/** Its clock moves by the pauses between the tries alone, which end at once. */
function pausing(): Runtime {
  let elapsedMs = 0;
  const timers = new Set<{ readonly at: number; readonly run: () => void }>();
  const after = (ms: number, run: () => void) => {
    const timer = { at: elapsedMs + ms, run };
    if (ms === bounds.importStallMs) timers.add(timer);
    else {
      setImmediate(() => {
        elapsedMs += ms;
        for (const one of timers) if (one.at <= elapsedMs) one.run();
        run();
      });
    }
    return () => void timers.delete(timer);
  };
  return { ...systemRuntime, after, random: () => 0.5, elapsedMs: () => elapsedMs };
}

test('a node that accepts nothing for half a minute ends an import with its last error', async () => {
  for (const count of [10, 1]) {
    folder = temporaryFolder();
    let tries = 0;
    const ending = new AbortController();
    const before = async () => {
      if (++tries > 100) ending.abort();
    };
    const error = new TrustError('unreachable', 'nobody answers');
    const more = { before, signal: ending.signal, runtime: pausing() };
    const sent = await importThrough(count, 0, error, more);
    assert.equal([sent.obstacle?.code, sent.delivered, sent.waiting], ['unreachable', 0, count]);
    assert.ok(tries > 3, `${tries} tries`);
  }
});

test('an import larger than its spool waits for room, step by step, and delivers everything', async () => {
  const padding = 3_000;
  const count = Math.ceil((1.5 * bounds.importSpoolBytes) / padding);
  const sent = await importThrough(count, 0, null, { padding });
  assert.equal([sent.obstacle, sent.delivered, sent.waiting], [null, count, 0]);
});

test('while the node takes nothing, half of the spool and a step are the most that an import puts on disk', async () => {
  const step = bounds.importStepEvents;
  const place = join(folder, 'place.json');
  const added = () => (existsSync(place) ? JSON.parse(readFileSync(place, 'utf8'))?.added : 0);
  let most: number | undefined;
  const before = async (prepared: () => number) => {
    if (most !== undefined) return;
    await until(() => added() >= 2 * step);
    for (let turn = 0; turn < 20; turn++) await readFile(place);
    most ??= prepared();
  };
  const sent = await importThrough(4 * step, 0, null, { padding: 3_000, before });
  assert.equal([most, sent.delivered, sent.waiting, added()], [2 * step, 4 * step, 0, undefined]);
});

test('an import that is interrupted while it writes its events counts none of them as written', async () => {
  const ending = new AbortController();
  const stored = new Set<string>();
  const sent = await importThrough(3, 0, null, { stored, signal: ending.signal, onPrepare: () => ending.abort() });
  assert.equal([sent.obstacle?.code, sent.obstacle?.message], ['closed', 'the import was interrupted']);
  assert.not(existsSync(join(folder, 'place.json')));
  await importThrough(3, 0, null, { stored });
  assert.is(stored.size, 3);
});

test.run();
