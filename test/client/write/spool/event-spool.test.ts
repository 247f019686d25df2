/**
 * The spool against a node that does as it is told: order, rejects, trouble, a full disk's share, restarts, the owner.
 */
import { getEventListeners } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { systemRuntime } from '../../../../src/client/transport/time.js';
import { TrustError } from '../../../../src/client/trust-error.js';
import { type DeliveryResult, type TrustEvent, wireEvent } from '../../../../src/client/write/client-event.js';
import { EventSpool, type SpoolOptions } from '../../../../src/client/write/spool/event-spool.js';
import type { SpoolTarget } from '../../../../src/client/write/spool/progress.js';
import type { EventBody } from '../../../../src/contract/request-bodies.js';
import { closing } from '../../../support/closing.js';
import { temporaryFolder } from '../../../support/process.js';
import { until } from '../../../support/until.js';
import { codeOf } from '../../code-of.js';
import { thrownBy } from '../../thrown-by.js';
import { VirtualRuntime } from '../../virtual-runtime.js';

let folder = '';
const spools: EventSpool[] = [];
test.before.each(() => {
  folder = temporaryFolder();
});
test.after.each(async () => {
  for (const spool of spools.splice(0)) await spool.close();
});

const accepted = (event: EventBody): DeliveryResult => ({
  eventId: event.event_id,
  status: 'accepted',
  code: null,
  reason: null,
});
const later = (): DeliveryResult => ({ later: new TrustError('overloaded', 'later', { status: 503 }) });
const overloaded = () => new TrustError('overloaded', 'full', { status: 503 });

/** A node that says of each event what it is told to, and remembers the ids that it took, in order. */
class Node implements SpoolTarget {
  readonly took: string[] = [];
  readonly batches: string[][] = [];
  answer: (event: EventBody) => DeliveryResult = accepted;
  fail: (events: readonly EventBody[]) => Error | null = () => null;

  prepare(event: TrustEvent): EventBody {
    return wireEvent(event, 'peer', (id) => id, systemRuntime);
  }

  async deliver(events: readonly EventBody[]): Promise<DeliveryResult[]> {
    this.batches.push(events.map(({ event_id }) => event_id));
    const error = this.fail(events);
    if (error !== null) throw error;
    const results = events.map((event) => this.answer(event));
    for (const [index, result] of results.entries()) {
      const id = events[index]!.event_id;
      if ('status' in result && result.status === 'accepted' && !this.took.includes(id)) this.took.push(id);
    }
    return results;
  }
}

async function opened(to: SpoolTarget, options: Partial<SpoolOptions> = {}): Promise<EventSpool> {
  const spool = await EventSpool.open({ folder, to, ...options });
  spools.push(spool);
  return spool;
}

const event = (eventId: string, more: Partial<TrustEvent> = {}): TrustEvent => ({
  eventType: 'report_spam',
  playerId: 'p',
  gameId: 'g',
  severity: 0.5,
  eventId,
  ...more,
});
/** A spool in virtual time whose node takes nothing for now. */
async function stalled(options: Partial<SpoolOptions> = {}) {
  const node = new Node();
  node.fail = overloaded;
  const runtime = new VirtualRuntime();
  return { node, runtime, spool: await opened(node, { runtime, ...options }) };
}

/** Adds these events at once. */
const addAll = (spool: EventSpool, all: readonly string[]) => Promise.all(all.map((id) => spool.add(event(id))));
const ids = (count: number, from = 0) => Array.from({ length: count }, (_, index) => `e-${from + index}`);

test('no event is prepared before the node is ready, and none is accepted where it never is', async () => {
  const order: string[] = [];
  let isReady = true;
  class Waiting extends Node {
    async ready(): Promise<void> {
      await new Promise(setImmediate);
      if (!isReady) throw new TrustError('salt_mismatch', 'another salt', {});
      order.push('ready');
    }
    override prepare(added: TrustEvent): EventBody {
      order.push('prepared');
      return super.prepare(added);
    }
  }
  const node = new Waiting();
  const spool = await opened(node);
  await spool.add(event('e-0'));
  assert.equal(order, ['ready', 'prepared']);
  isReady = false;
  assert.is(await codeOf(spool.add(event('e-1'))), 'salt_mismatch');
  await spool.drained();
  assert.equal(node.took, ['e-0']);
});

test('events are delivered in the order in which they were added, 500 at most at a time', async () => {
  const node = new Node();
  const spool = await opened(node);
  assert.equal(await addAll(spool, ids(1_234)), ids(1_234));
  await spool.drained();
  assert.equal(node.took, ids(1_234));
  for (const batch of node.batches) assert.ok(batch.length <= 500);
  const { pending, pendingBytes, delivered, phase } = spool.progress;
  assert.equal([pending, pendingBytes, delivered], [0, 0, 1_234]);
  assert.ok(phase === 'idle' || phase === 'delivering');
});

test('a listener on the signal of a delivery is notified of that delivery and of the end of the spool', async () => {
  const signals: AbortSignal[] = [];
  const node = new Node();
  const spool = await opened({
    prepare: (one) => node.prepare(one),
    async deliver(events, { signal }) {
      signals.push(signal!);
      if (signals.length === 3) await new Promise((_, reject) => signal?.addEventListener('abort', reject));
      return node.deliver(events);
    },
  });
  for (const id of ids(2)) {
    await spool.add(event(id));
    await spool.drained();
  }
  await spool.add(event('last'));
  await until(() => signals.length === 3);
  await spool.close();
  assert.equal(
    signals.map(({ aborted }) => aborted),
    [false, false, true],
  );
});

test('events that wait when a spool is closed are delivered by the next one, none of them twice', async () => {
  const { node, spool: first } = await stalled();
  await addAll(first, ids(10));
  await first.close();
  assert.equal([await codeOf(first.add(event('late'))), first.progress.phase], ['closed', 'closed']);
  node.fail = () => null;
  const second = await opened(node);
  await second.drained();
  assert.equal(node.took, ids(10));
  await second.close();
  const third = await opened(node);
  assert.is(third.progress.pending, 0);
  await third.add(event('more'));
  await third.drained();
  assert.equal(node.took, [...ids(10), 'more']);
});

test('a rejected event is set aside, reported, and delays no other; duplicates, and no evidence, are counted', async () => {
  const node = new Node();
  const results: Readonly<Record<string, object>> = {
    'e-1': { status: 'rejected', code: 'game_id_not_registered', reason: 'no such game' },
    'e-2': { status: 'duplicate' },
    'e-3': { counts: false },
  };
  node.answer = (one) => ({ ...accepted(one), ...results[one.event_id] });
  const reported: string[] = [];
  const spool = await opened(node, { onSetAside: ({ event: one, code }) => reported.push(`${one.event_id} ${code}`) });
  await addAll(spool, ids(5));
  await spool.drained();
  assert.equal(reported, ['e-1 game_id_not_registered']);
  const { delivered, duplicates, setAside, uncounted } = spool.progress;
  assert.equal([delivered, duplicates, setAside, uncounted], [4, 1, 1, 1]);
  const line = JSON.parse(readFileSync(join(folder, 'set-aside.ndjson'), 'utf8')) as { event: EventBody; code: string };
  assert.equal([line.event.event_id, line.code], ['e-1', 'game_id_not_registered']);
});

test('from the first event that the node cannot store now on, all are sent again, in order', async () => {
  const node = new Node();
  let isBusy = true;
  node.answer = (one) => (isBusy && one.event_id === 'e-3' ? later() : accepted(one));
  const runtime = new VirtualRuntime();
  const spool = await opened(node, { runtime });
  await addAll(spool, ids(6));
  await runtime.until(settled(() => spool.progress.phase === 'waiting'));
  assert.equal([spool.progress.delivered, spool.progress.pending], [3, 3]);
  assert.is(spool.progress.lastError?.code, 'overloaded');
  isBusy = false;
  await runtime.until(spool.drained());
  assert.equal(node.batches.at(-1), ['e-3', 'e-4', 'e-5']);
  assert.is(spool.progress.delivered, 6);
  assert.is(spool.progress.lastError, null);
});

/** Resolves once it holds, looked at after every turn of the loop. */
async function settled(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

test('a failing node is retried often, a refusal of the peer seldom, and neither loses an event', async () => {
  const node = new Node();
  const runtime = new VirtualRuntime();
  let error: Error | null = new TrustError('unreachable', 'gone');
  node.fail = () => error;
  const phases = new Set<string>();
  const spool = await opened(node, { runtime, onProgress: ({ phase }) => phases.add(phase) });
  await spool.add(event('e'));
  await runtime.until(settled(() => node.batches.length >= 4));
  error = new TrustError('peer_not_active', 'suspended', { status: 403 });
  const before = runtime.elapsedMs();
  const tries = node.batches.length;
  await runtime.until(settled(() => node.batches.length >= tries + 3));
  assert.ok(runtime.elapsedMs() - before >= 2 * 15_000, 'half of 30 s at least between two');
  error = null;
  await runtime.until(spool.drained());
  assert.equal(node.took, ['e']);
  assert.ok(phases.has('waiting') && phases.has('refused') && phases.has('delivering'));
});

test('a batch that is refused as a whole is halved until the faulty event is alone', async () => {
  const node = new Node();
  node.fail = (events) =>
    events.some(({ event_id }) => event_id === 'e-37')
      ? new TrustError('payload_too_large', 'no', { status: 413 })
      : null;
  const spool = await opened(node);
  await addAll(spool, ids(100));
  await spool.drained();
  assert.equal(
    node.took,
    ids(100).filter((id) => id !== 'e-37'),
  );
  assert.is(spool.progress.setAside, 1);
});

test('a batch that does not get through in time is sent in smaller ones, which grow again', async () => {
  for (const slow of [new TrustError('timeout', 'slow'), new TrustError('request_timeout', 'slow', { status: 408 })]) {
    folder = temporaryFolder();
    const node = new Node();
    node.fail = (events) => (events.length > 100 ? slow : null);
    const runtime = new VirtualRuntime();
    await using spool = closing(await opened(node, { runtime }));
    await addAll(spool, ids(1_000));
    await runtime.until(spool.drained());
    assert.equal(node.took, ids(1_000));
    const sizes = node.batches.map(({ length }) => length);
    assert.equal(sizes.slice(0, 4), [500, 250, 125, 63]);
    assert.ok(Math.max(...sizes.slice(4)) > 100, 'it is tried again with more');
  }
});

test('a node that asks to wait for a day is tried again after five minutes', async () => {
  const { node, runtime, spool } = await stalled();
  node.fail = () => new TrustError('overloaded', 'later', { status: 503, retryAfterMs: 86_400_000 });
  runtime.dice = 0;
  await spool.add(event('e'));
  await runtime.until(settled(() => node.batches.length === 2));
  assert.is(runtime.elapsedMs(), 5 * 60_000);
});

/** Flips one bit of the only file of events, at a byte of its first record. */
function flipBit(): void {
  const [name] = readdirSync(folder).filter((one) => one.endsWith('.events'));
  const path = join(folder, name!);
  const bytes = readFileSync(path);
  bytes[100]! ^= 1;
  writeFileSync(path, bytes);
}

test('one damaged bit costs at most one event, which is counted, and later ones are delivered', async () => {
  const { node, runtime, spool: first } = await stalled();
  await addAll(first, ids(1_000));
  await runtime.until(first.close());
  flipBit();
  node.fail = () => null;
  const second = await opened(node);
  assert.equal([second.progress.pending, second.cuts], [1_000, []]);
  await second.drained();
  assert.equal(node.took, ids(999, 1));
  const { delivered, damaged, pending, pendingBytes, lastError } = second.progress;
  assert.equal([delivered, damaged, pending, pendingBytes, lastError], [999, 1, 0, 0, null]);
  await second.close();
  const third = await opened(node);
  assert.equal([third.progress.pending, third.progress.damaged], [0, 0], 'what is through is not counted again');
});

test('an idle spool has no error, even if the event that met one was damaged before the next attempt', async () => {
  const { runtime, spool } = await stalled();
  await spool.add(event('e-0'));
  await runtime.until(settled(() => spool.progress.phase === 'waiting'));
  flipBit();
  await runtime.until(settled(() => spool.progress.phase === 'idle'));
  assert.equal([spool.progress.damaged, spool.progress.lastError], [1, null]);
});

test('a wrong address sets nothing aside', async () => {
  const { node, spool } = await stalled();
  node.fail = () => new TrustError('route_not_found', 'no', { status: 404 });
  await spool.add(event('e'));
  await settled(() => spool.progress.phase === 'refused');
  assert.equal([spool.progress.pending, spool.progress.setAside], [1, 0]);
});

const hasFullDevice = existsSync('/dev/full');
if (!hasFullDevice) process.stdout.write('SKIPPED: there is no /dev/full, so no file is without room\n');

if (hasFullDevice) {
  test('if the mark finds no room on the disk, delivered events still make room', async () => {
    symlinkSync('/dev/full', join(folder, 'delivered'));
    const node = new Node();
    let isBusy = true;
    node.answer = (one) => (isBusy && one.event_id === 'e-1' ? later() : accepted(one));
    const runtime = new VirtualRuntime();
    const spool = await opened(node, { runtime, bytesMax: 2_000 });
    await addAll(spool, ids(2));
    await runtime.until(settled(() => spool.progress.phase === 'waiting'));
    assert.equal([spool.progress.delivered, spool.progress.pending], [1, 1]);
    assert.is(spool.progress.lastError?.code, 'overloaded');
    isBusy = false;
    await runtime.until(spool.drained());
    assert.equal(node.took, ids(2));
    assert.equal([spool.progress.pending, spool.progress.pendingBytes], [0, 0]);
  });

  test('if a rejected event finds no room to be set aside, it stays, and earlier events are delivered', async () => {
    const aside = join(folder, 'set-aside.ndjson');
    symlinkSync('/dev/full', aside);
    const node = new Node();
    const rejected = { status: 'rejected', code: 'game_id_not_registered', reason: 'no such game' } as const;
    node.answer = (one) => ({ ...accepted(one), ...(one.event_id === 'e-1' ? rejected : {}) });
    const runtime = new VirtualRuntime();
    const spool = await opened(node, { runtime });
    await addAll(spool, ids(3));
    await runtime.until(settled(() => spool.progress.phase === 'waiting'));
    const { delivered, setAside, pending, lastError } = spool.progress;
    assert.equal([delivered, setAside, pending, lastError?.code], [1, 0, 2, 'spool_failed']);
    rmSync(aside);
    await runtime.until(spool.drained());
    assert.equal([spool.progress.delivered, spool.progress.setAside], [2, 1]);
    assert.match(readFileSync(aside, 'utf8'), '"event_id":"e-1"');
  });
}

test('a full spool refuses, and takes events again when there is room', async () => {
  const { node, runtime, spool } = await stalled({ bytesMax: 1_000 });
  const outcomes = [];
  for (const id of ids(10)) outcomes.push(await codeOf(spool.add(event(id))));
  const taken = outcomes.filter((code) => code === 'no error').length;
  assert.ok(taken > 0 && taken < 10);
  assert.equal(outcomes.slice(taken), Array(10 - taken).fill('spool_full'));
  assert.ok(spool.progress.pendingBytes <= 1_000);
  node.fail = () => null;
  await runtime.until(spool.drained());
  assert.is(await codeOf(spool.add(event('again'))), 'no error');
});

test('a spool without a folder is refused, and one with an unknown whenFull, as of an earlier release', async () => {
  // An empty path is the working folder.
  for (const wrong of [
    { folder: undefined as unknown as string },
    { folder: '' },
    { whenFull: 'drop-oldest' as 'wait' },
  ]) {
    assert.is(await codeOf(EventSpool.open({ folder, to: new Node(), ...wrong })), 'invalid_argument');
  }
});

test('a full spool that waits delays the adder, in order, until there is room or it gives up', async () => {
  const { node, runtime, spool } = await stalled({ bytesMax: 1_000, whenFull: 'wait' });
  const adding = addAll(spool, ids(50));
  const reason = new Error('enough');
  const controller = new AbortController();
  const givenUp = spool.add(event('given-up'), { signal: controller.signal }).catch((error: unknown) => error);
  await settled(() => spool.progress.pending > 0);
  controller.abort(reason);
  assert.is(await givenUp, reason);
  assert.ok(spool.progress.pendingBytes <= 1_000);
  node.fail = () => null;
  assert.equal(await runtime.until(adding), ids(50));
  await runtime.until(spool.drained());
  assert.equal([...node.took].sort(), ids(50).sort());
  assert.not.ok(node.took.includes('given-up'));
});

test('a spool never exceeds its bound, and refuses an event that would not fit alone, whatever it does if full', async () => {
  const bytes = JSON.stringify(new Node().prepare(event('e-0'))).length;
  const { node, runtime, spool } = await stalled({ bytesMax: 10 * (bytes + 28) - 1 });
  const codes = await Promise.all(ids(10).map((id) => codeOf(spool.add(event(id)))));
  // Each is 28 bytes longer on disk: its checksum, its number and two line breaks.
  assert.equal(codes, [...Array(9).fill('no error'), 'spool_full']);
  assert.is(spool.progress.pendingBytes, 9 * (bytes + 28));
  await spool.close();
  for (const whenFull of ['refuse', 'wait'] as const) {
    await using small = closing(await opened(node, { runtime, bytesMax: bytes + 27, whenFull }));
    assert.is(await runtime.until(codeOf(small.add(event('e-0')))), 'invalid_argument', whenFull);
  }
});

test('of those that wait for room only as many are looked at as there is room for', async () => {
  let looks = 0;
  const node = new Node();
  const options = {
    folder,
    to: node,
    bytesMax: 3_000,
    get whenFull(): 'wait' {
      looks++;
      return 'wait';
    },
  };
  const spool = await EventSpool.open(options);
  spools.push(spool);
  const all = ids(2_000);
  await addAll(spool, all);
  await spool.drained();
  assert.equal(node.took, all);
  assert.ok(looks < 5 * all.length, `${looks} looks`);
});

test('room is given in order: small events do not pass a large one until it gives up', async () => {
  const { spool } = await stalled({ bytesMax: 2_000, whenFull: 'wait' });
  await addAll(spool, ids(6));
  const controller = new AbortController();
  const { signal } = controller;
  const large = spool.add(event('large', { gameId: 'g'.repeat(1_000) }), { signal }).catch((error: unknown) => error);
  const small = addAll(spool, ids(2, 6));
  const givenUp = spool.add(event('given-up'), { signal }).catch((error: unknown) => error);
  await settled(() => spool.progress.phase === 'waiting');
  assert.is(spool.progress.pending, 6);
  controller.abort('over');
  assert.equal(await Promise.all([large, givenUp]), ['over', 'over']);
  assert.equal(await small, ids(2, 6));
  assert.is(spool.progress.pending, 8);
});

test('callers that wait for room are notified when the spool is closed', async () => {
  const { spool } = await stalled({ bytesMax: 300, whenFull: 'wait' });
  await spool.add(event('e-0'));
  const waiting = ids(3, 1).map((id) => codeOf(spool.add(event(id))));
  await new Promise(setImmediate);
  await spool.close();
  assert.equal(await Promise.all(waiting), Array(3).fill('closed'));
});

test('no event leaves a listener on its signal, whether it was written or the spool was closed before', async () => {
  const { signal } = new AbortController();
  const listeners = () => getEventListeners(signal, 'abort').length;
  const { spool } = await stalled({ bytesMax: 300, whenFull: 'wait' });
  await spool.add(event('written'), { signal });
  assert.is(listeners(), 0);
  const waiting = codeOf(spool.add(event('waiting'), { signal }));
  await settled(() => listeners() > 0);
  await spool.close();
  assert.equal([await waiting, listeners()], ['closed', 0]);
});

test('a caller that waits for room gets it even if the events before it could not be written', async () => {
  const runtime = new VirtualRuntime();
  const spool = await opened(new Node(), { runtime, bytesMax: 400, whenFull: 'wait' });
  const inTheWay = join(folder, '0000000000000001.events');
  mkdirSync(inTheWay);
  const codes = await runtime.until(Promise.all(ids(5).map((id) => codeOf(spool.add(event(id))))));
  assert.equal(codes, Array(5).fill('spool_failed'));
  rmdirSync(inTheWay);
  assert.is(await codeOf(spool.add(event('e'))), 'no error');
});

test('an event that cannot be one is refused before it is written', async () => {
  const spool = await opened(new Node());
  assert.is(await codeOf(spool.add(event('with blanks in it'))), 'invalid_argument');
  assert.is(await codeOf(spool.add(event('e', { playerId: 'x'.repeat(20_000) }))), 'invalid_argument');
  assert.is(spool.progress.pending, 0);
});

test('a listener that throws throws for itself: events are accepted and delivered all the same', async () => {
  const thrown = await thrownBy(async (fault) => {
    const node = new Node();
    const spool = await opened(node, {
      onProgress() {
        throw fault;
      },
    });
    assert.is(await spool.add(event('e')), 'e');
    await spool.drained();
    await spool.close();
    assert.equal(node.took, ['e']);
  });
  assert.ok(thrown.length > 0);
});

test('a folder in use is refused to other users, and free once it is released', async () => {
  const node = new Node();
  const spool = await opened(node);
  assert.is(await codeOf(EventSpool.open({ folder, to: node })), 'spool_in_use');
  await spool.add(event('e'));
  await spool.close();
  const next = await opened(node);
  await next.close();
  assert.equal(
    readdirSync(folder).filter((name) => name.endsWith('.sock')),
    [],
  );
});

test('a folder that cannot be a spool is refused with a code, and leaves nothing open', async () => {
  const open = (where: string) => codeOf(EventSpool.open({ folder: where, to: new Node() }));
  const file = join(folder, 'file');
  writeFileSync(file, '');
  assert.is(await open(file), 'spool_failed');
  for (const inTheWay of ['0000000000000001.events', 'delivered']) {
    const where = join(folder, `with ${inTheWay}`);
    mkdirSync(join(where, inTheWay), { recursive: true });
    const before = openFiles();
    assert.is(await open(where), 'spool_failed');
    assert.is(openFiles(), before);
    rmdirSync(join(where, inTheWay));
    await (await EventSpool.open({ folder: where, to: new Node() })).close();
  }
});

/** How many files this process holds open, where the system says it. */
const openFiles = (): number => (existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0);

test('of several that start together one gets the folder', async () => {
  for (let round = 0; round < 4; round++) {
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, () => EventSpool.open({ folder, to: new Node() }).catch(codeIn)),
    );
    const owners = outcomes.filter((outcome) => outcome instanceof EventSpool);
    assert.is(owners.length, 1, `round ${round}`);
    assert.ok(outcomes.every((outcome) => outcome instanceof EventSpool || outcome === 'spool_in_use'));
    for (const owner of owners) if (owner instanceof EventSpool) await owner.close();
  }
});

const codeIn = (error: unknown): unknown => (error instanceof TrustError ? error.code : error);

test('drained gives up with its signal, and rejects where the spool is closed first, or is closing already', async () => {
  const { runtime, spool } = await stalled();
  await spool.add(event('e'));
  const reason = new Error('enough');
  assert.is(await spool.drained({ signal: AbortSignal.abort(reason) }).catch((error: unknown) => error), reason);
  const before = codeOf(spool.drained());
  await settled(() => spool.progress.phase === 'waiting');
  const closed = spool.close();
  const during = codeOf(spool.drained());
  assert.equal(await runtime.until(Promise.all([before, during])), ['closed', 'closed']);
  await closed;
});

test('drained waits for events added before the call, not for later ones', async () => {
  let isOver = false;
  let added = 0;
  const add = () => spool.add(event(`more-${added++}`));
  const node = new (class extends Node {
    override async deliver(events: readonly EventBody[]): Promise<DeliveryResult[]> {
      // Something waits at all times.
      if (!isOver) await add();
      return super.deliver(events);
    }
  })();
  const runtime = new VirtualRuntime();
  const spool = await opened(node, { runtime });
  await addAll(spool, ids(3));
  await runtime.until(spool.drained());
  assert.equal(node.took.slice(0, 3), ids(3));
  isOver = true;
  await runtime.until(spool.drained());
  assert.is(node.took.length, 3 + added);
});

test('drained comes also while something is written at all times', async () => {
  let isOver = false;
  let added = 0;
  const adding = async () => {
    while (!isOver) await spool.add(event(`more-${added++}`));
  };
  const runtime = new VirtualRuntime();
  const spool = await opened(new Node(), { runtime });
  const first = adding();
  // The first is on its way to the disk now, and the second waits behind it: from here on one of them always does.
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  const second = adding();
  await runtime.until(spool.drained());
  isOver = true;
  await Promise.all([first, second]);
});

test.run();
