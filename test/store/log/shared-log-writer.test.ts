/** The log of a cluster's node: which commits a turn waits for, and what a failed local commit does to later turns. */
import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { BatchWriter, chainStart, NONCE_BYTES } from '../../../src/core/records/batch.js';
import type { LogRecord } from '../../../src/core/records/records.js';
import { IdTags } from '../../../src/core/tables/id-tags.js';
import type { Fence, Slot } from '../../../src/group/ports/shared-log.js';
import { ScrubDeferredError, type StoredBatch } from '../../../src/group/ports/storage.js';
import { batchFrom } from '../../../src/group/recovery/recovery.js';
import { replacementOf } from '../../../src/group/removal/redaction.js';
import { limits } from '../../../src/limits.js';
import { timers } from '../../../src/node/system.js';
import type { LmdbLogWriter } from '../../../src/store/log/lmdb-log.js';
import { type SharedLogHooks, SharedLogWriter } from '../../../src/store/log/shared-log-writer.js';
import { everyRecord } from '../../support/every-record.js';
import { formedRecord, t0 } from '../../support/given.js';
import { until } from '../../support/until.js';
import { batchOf, rejection } from '../log-contract.js';

const fence = { revision: '7' } as unknown as Fence;

const recordOf = (type: LogRecord['type']) => everyRecord.find((record) => record.type === type)!;

/** Follows a promise, and everything that waits for it goes on until then. */
async function followed(promise: Promise<unknown>) {
  const state = { isDone: false, failure: null as string | null };
  promise.then(
    () => {
      state.isDone = true;
    },
    (error: Error) => {
      state.failure = error.message;
    },
  );
  await turn();
  return state;
}

/** A log whose commits end when the test says so. */
function harness() {
  const commits = new Map<string, (error?: Error) => void>();
  const firsts: number[] = [];
  const commit = (what: string) =>
    new Promise<void>((resolve, reject) => {
      commits.set(what, (error) => (error === undefined ? resolve() : reject(error)));
    });
  const local = {
    get newestFirstSeq() {
      return firsts.at(-1) ?? -1;
    },
    append: async (batch: StoredBatch, rewrites: readonly StoredBatch[]) => {
      await commit(`local ${batch.firstSeq} with ${rewrites.length} others`);
      firsts.push(batch.firstSeq);
    },
    appendAll: async (batches: readonly StoredBatch[]) => {
      await commit(`local ${batches.map(({ firstSeq }) => firstSeq).join(' ')}`);
      firsts.push(batches.at(-1)!.firstSeq);
    },
    at: () => batchOf(1),
    close: async () => void firsts.push(-1),
  };
  const shared = {
    append: (_fence: Fence, slot: Slot, previous: number) => commit(`shared ${slot.firstSeq} after ${previous}`),
  };
  const failures: unknown[] = [];
  let forgotten: () => void = () => undefined;
  const writer = new SharedLogWriter(local as unknown as LmdbLogWriter, shared, new Uint8Array(16), timers, {
    appended: () => undefined,
    redacted: () => undefined,
    forgetErased: () =>
      new Promise((resolve) => {
        forgotten = resolve;
      }),
    replaces: () => undefined,
    scrubOwn: (overwrite) => overwrite(),
    mayScrub: () => Promise.resolve(),
    scrubElsewhere: () => Promise.resolve(),
    storeFailed: (error) => void failures.push((error as Error).message),
  });
  writer.lead(fence);
  const end = async (what: string, error?: Error) => {
    const settle = commits.get(what);
    assert.ok(settle, `${what} is not in flight, but ${[...commits.keys()].join(', ')}`);
    commits.delete(what);
    settle!(error);
    await turn();
  };
  /** Appends a batch; `isDone` turns true once it is acknowledged. */
  const append = (firstSeq: number, rewrites: readonly StoredBatch[] = [], batch = batchOf(firstSeq)) =>
    followed(writer.append(batch, rewrites));
  return {
    writer,
    failures,
    append,
    end,
    inFlight: () => [...commits.keys()],
    /** Resolves once a local commit is in flight. */
    storing: () => until(() => [...commits.keys()].some((what) => what.startsWith('local'))),
    isClosed: () => firsts.includes(-1),
    /** Ends the wait until erased players are forgotten. */
    async forget() {
      forgotten();
      await turn();
    },
  };
}

/** The same, with a first turn in the shared log that no local commit has stored. */
async function appended() {
  const made = harness();
  const first = await made.append(1);
  await made.end('shared 1 after 0');
  return { ...made, first };
}

test('a turn is acknowledged once the shared log has it, and stored by a local commit after that', async () => {
  const { writer, append, end, inFlight } = harness();
  const one = await append(1);
  assert.equal(inFlight(), ['shared 1 after 0']);
  await end('shared 1 after 0');
  assert.equal([one.isDone, inFlight(), writer.storingFrom], [true, [], 1]);
  const stored = await followed(writer.stored());
  const why = 'whoever needs the file does not wait for other turns';
  assert.equal([stored.isDone, inFlight()], [false, ['local 1']], why);
  await end('local 1');
  assert.equal([stored.isDone, writer.storingFrom], [true, null]);
});

test('a local commit stores all turns that were acknowledged since the last one', async () => {
  const { writer, append, end, inFlight, storing } = await appended();
  await append(5);
  await end('shared 5 after 1');
  await storing();
  const three = await append(9);
  assert.equal(inFlight(), ['local 1 5', 'shared 9 after 5']);
  await end('shared 9 after 5');
  assert.equal([three.isDone, inFlight(), writer.storingFrom], [true, ['local 1 5'], 1]);
  await end('local 1 5');
  assert.is(writer.storingFrom, 9);
  await storing();
  assert.equal(inFlight(), ['local 9']);
});

test('whoever needs the file waits for the turns before, and not for those that arrive meanwhile', async () => {
  const { writer, append, end } = await appended();
  const stored = await followed(writer.stored());
  await append(5);
  await end('shared 5 after 1');
  assert.is(stored.isDone, false);
  await end('local 1');
  assert.equal([stored.isDone, writer.storingFrom], [true, 5]);
});

test('a local commit that fails while the node begins to follow is reported', async () => {
  const { writer, failures, end } = await appended();
  writer.follow();
  const settled = await followed(writer.settled());
  await end('local 1', new Error('input/output error'));
  assert.equal([settled.isDone, failures], [true, ['input/output error']]);
});

test('turns wait for the local commit if too many bytes are not stored', async () => {
  const { append, end, inFlight } = harness();
  const large = await append(1, [], { firstSeq: 1, bytes: new Uint8Array(limits.storeWaitingBytes) });
  await end('shared 1 after 0');
  assert.equal([large.isDone, inFlight()], [false, ['local 1']]);
  await end('local 1');
  assert.ok(large.isDone);
  await append(5);
  assert.equal(inFlight(), ['shared 5 after 1']);
});

test('a turn that replaces batches is stored at once, after all turns before it', async () => {
  const { append, end, inFlight } = await appended();
  const two = await append(5, [batchOf(1)]);
  assert.equal(inFlight(), ['local 1'], 'the replacements are computed from stored batches');
  await end('local 1');
  await end('shared 5 after 1');
  assert.equal([two.isDone, inFlight()], [false, ['local 5 with 1 others']]);
  await end('local 5 with 1 others');
  assert.ok(two.isDone);
});

/** A slot that replaces the batch at record 1, so that players must be forgotten before it is stored. */
const erasing = (firstSeq: number): Slot => {
  const { bytes } = batchOf(1);
  return { firstSeq, bytes, redactions: [{ type: 'bytes', firstSeq: 1, bytes }] };
};
const plain = (firstSeq: number, bytes = batchOf(1).bytes): Slot => ({ firstSeq, bytes, redactions: [] });

test('slots of the shared log are taken at once and stored together, and the next leader appends after them', async () => {
  const { writer, append, end, inFlight } = harness();
  writer.take([plain(1), plain(3)]);
  assert.equal([inFlight(), writer.storingFrom], [[], 1]);
  await append(5);
  assert.equal(inFlight(), ['shared 5 after 3']);
  void writer.stored();
  await end('local 1 3');
  assert.is(writer.storingFrom, null);
});

test('a slot that erases is stored alone, once players are forgotten, and the slots behind it after it', async () => {
  const { writer, end, inFlight, forget, storing } = harness();
  writer.take([plain(1), erasing(3), plain(5), plain(7), erasing(9)]);
  await writer.room();
  void writer.stored();
  assert.equal(inFlight(), ['local 1']);
  await end('local 1');
  assert.equal([inFlight(), writer.storingFrom], [[], 3], 'it waits, and so do those behind it');
  writer.take([plain(11)]);
  await forget();
  await end('local 3 with 1 others');
  await end('local 5 7');
  assert.equal([inFlight(), writer.storingFrom], [[], 9]);
  await forget();
  await end('local 9 with 1 others');
  await end('local 11');
  assert.equal([inFlight(), writer.storingFrom], [[], null]);
  writer.take([plain(13)]);
  await storing();
  assert.equal(inFlight(), ['local 13'], 'a timer stores what nobody waits for');
});

test('more bytes may wait behind a slot that erases than otherwise, but not any number', async () => {
  const { storeWaitingBytes, storeBehindErasureBytes } = limits;
  const hasRoom = async (taken: readonly Slot[]): Promise<boolean> => {
    const { writer } = harness();
    writer.take(taken);
    return (await followed(writer.room())).isDone;
  };
  assert.not(await hasRoom([plain(1, new Uint8Array(storeWaitingBytes))]));
  assert.ok(await hasRoom([plain(1, new Uint8Array(storeWaitingBytes)), erasing(3)]));
  assert.not(await hasRoom([plain(1, new Uint8Array(storeBehindErasureBytes)), erasing(3)]));
});

test('what waited behind a slot that erases is stored in commits of bounded size', async () => {
  const { writer, end, forget, inFlight } = harness();
  const half = new Uint8Array(limits.storeWaitingBytes / 2);
  writer.take([erasing(1), plain(3, half), plain(5, half), plain(7), plain(9, new Uint8Array(2 * half.length + 1))]);
  void writer.stored();
  await forget();
  for (const commit of ['local 1 with 1 others', 'local 3 5', 'local 7', 'local 9']) await end(commit);
  assert.equal([inFlight(), writer.storingFrom], [[], null]);
});

test('free space is overwritten once the files hold every slot that an earlier leader decided', async () => {
  const { writer, calls } = redacting();
  writer.take([plain(4)]);
  await writer.scrub();
  assert.equal(calls, [['may scrub'], ['stored', 1], ['scrub', undefined], ['scrub elsewhere', undefined]]);
  writer.take([erasing(6)]);
  writer.endTaking();
  assert.instance(await rejection(writer.scrub()), ScrubDeferredError);
});

test('a node that ends waits no longer until players are forgotten, and stores no slot behind', async () => {
  for (const isBegun of [false, true]) {
    const { writer, end, inFlight, failures } = harness();
    writer.take([plain(1), erasing(3), plain(5)]);
    const stored = writer.stored().catch(String);
    if (!isBegun) writer.endTaking();
    await end('local 1');
    if (isBegun) writer.endTaking();
    assert.match(String(await stored), 'the node is shutting down');
    assert.equal([inFlight(), writer.storingFrom, failures], [[], 3, []], 'that is no failure of the disk');
    writer.take([plain(7)]);
    assert.is(writer.storingFrom, 3, 'it follows until its end, and reads again from there');
    writer.take([plain(9, new Uint8Array(limits.storeBehindErasureBytes))]);
    await writer.room();
    await writer.settled();
    assert.match(String(await rejection(writer.stored())), 'StoreEndedError');
    assert.equal([inFlight(), writer.storingFrom], [[], 3], 'a change of the role does not forget the gap');
    await writer.close();
  }
});

test('a node whose players cannot be forgotten stores nothing behind, and reports it', async () => {
  const { writer, calls, failures, hooks } = redacting();
  Object.assign(hooks, { forgetErased: () => Promise.reject(new Error('no worker')) });
  writer.take([erasing(4), plain(6)]);
  assert.match(String(await rejection(writer.stored())), 'no worker');
  assert.throws(() => writer.take([plain(8)]), /no worker/);
  assert.equal([calls, failures, writer.storingFrom], [[], ['no worker'], 4]);
});

test('a failed local commit is reported at once, and no turn reaches the shared log until the node follows', async () => {
  const { writer, failures, append, end, inFlight, storing } = await appended();
  await storing();
  const during = await append(5);
  await end('local 1', new Error('no space left'));
  assert.equal([failures, writer.storingFrom], [['no space left'], 1]);
  assert.match(String(await rejection(writer.stored())), /no space left/);
  await end('shared 5 after 1');
  assert.is(during.failure, 'no space left', 'its outcome is left to recovery');
  const two = await append(9);
  assert.equal([two.failure, inFlight()], ['no space left', []]);
  writer.follow();
  await writer.settled();
  await writer.stored();
  assert.is(writer.storingFrom, null);
  writer.lead(fence);
  await append(1);
  assert.equal(inFlight(), ['shared 1 after 0']);
});

test('a log that is closed, or whose node follows, waits for its local commit', async () => {
  const { writer, end, isClosed } = await appended();
  writer.follow();
  const settled = await followed(writer.settled());
  const closed = await followed(writer.close());
  assert.equal([settled.isDone, closed.isDone, isClosed()], [false, false, false]);
  await end('local 1');
  assert.equal([settled.isDone, closed.isDone, isClosed()], [true, true, true]);
});

test('a node that follows waits for the append under way, also if that fails', async () => {
  const { writer, append, end } = harness();
  const one = await append(1);
  writer.follow();
  const settled = await followed(writer.settled());
  assert.not(settled.isDone);
  await end('shared 1 after 0', new Error('lost'));
  assert.equal([settled.isDone, one.failure], [true, 'lost']);
});

/** A log whose stored batch has the formation of a group, an event, and an erasure: records 1 to 3. */
function redacting() {
  const salt = Buffer.from('a salt of a test');
  const written = new BatchWriter();
  const [event, erasure] = (['event_accepted', 'subject_erased'] as const).map((type) => recordOf(type));
  for (const record of [formedRecord(), event!, erasure!]) written.add(record);
  const { bytes } = written.seal(1, t0, Buffer.alloc(NONCE_BYTES), chainStart);
  const batch = batchFrom({ firstSeq: 1, bytes });
  const tags = new IdTags(Buffer.from(formedRecord().node_secret, 'hex'), salt);
  const erased = [event!, erasure!].map((record) => replacementOf(record, (id) => tags.of(id)));
  const calls: unknown[] = [];
  const callsAtRead: number[] = [];
  const local = {
    newestFirstSeq: 1,
    at: (seq: number): StoredBatch | undefined => {
      callsAtRead.push(calls.length);
      return seq === 0 ? undefined : { firstSeq: 1, bytes };
    },
    appendAll: async (batches: readonly StoredBatch[]) => void calls.push(['stored', batches.length]),
    from: () => [{ firstSeq: 1, bytes }],
    append: async (...asked: unknown[]) => void calls.push(asked),
    scrub: async (signal?: AbortSignal) => void calls.push(['scrub', signal]),
    close: async () => undefined,
  };
  const slots: Slot[] = [];
  const failures: string[] = [];
  const signals: (AbortSignal | undefined)[] = [];
  const shared = {
    append: async (_fence: Fence, slot: Slot, _previous: number, signal?: AbortSignal) => {
      slots.push(slot);
      signals.push(signal);
    },
  };
  const hooks: SharedLogHooks = {
    appended: (seq) => calls.push(['appended', seq]),
    redacted: (seq) => calls.push(['redacted', seq]),
    forgetErased: async () => void calls.push(['forgets']),
    replaces: () => calls.push(['replaces']),
    scrubOwn: (overwrite) => overwrite(),
    mayScrub: async () => void calls.push(['may scrub']),
    scrubElsewhere: async (signal) => void calls.push(['scrub elsewhere', signal]),
    storeFailed: (error) => failures.push((error as Error).message),
  };
  const writer = new SharedLogWriter(local as unknown as LmdbLogWriter, shared, salt, timers, hooks);
  const rewrite = (...replaced: readonly (readonly [number, LogRecord])[]) => {
    const { firstSeq, bytes: rewritten } = batch.rewrite(new Map(replaced));
    return { firstSeq, bytes: rewritten };
  };
  return { writer, erased, rewrite, calls, callsAtRead, slots, failures, signals, hooks };
}

test('a replacement that follows from the old batch is shared as its records, any other as its bytes', async () => {
  const { writer, erased, rewrite, calls, slots } = redacting();
  writer.lead(fence);
  const both = rewrite([2, erased[0]!], [3, erased[1]!]);
  const other = rewrite([2, recordOf('epoch_moved')]);
  for (const [firstSeq, one, redaction, redacted] of [
    [4, both, { type: 'records', firstSeq: 1, seqs: [2, 3] }, [2, 3]],
    [5, other, { type: 'bytes', ...other }, [1]],
    [6, batchOf(1), { type: 'bytes', ...batchOf(1) }, [1]],
  ] as const) {
    await writer.append(batchOf(firstSeq), [one]);
    assert.equal(slots.pop(), { ...batchOf(firstSeq), redactions: [redaction] });
    const noticed = redacted.map((seq) => ['redacted', seq]);
    const marked = [['replaces'], [batchOf(firstSeq), [one]]];
    assert.equal(calls.splice(0), [['appended', firstSeq], ...noticed, ...marked], 'a crash leaves a scrub due');
  }
  assert.is(writer.appendedBytes, 3 * batchOf(1).bytes.length);
});

test('a node makes the same batch from a shared redaction, and forgets a player whom it removes before', async () => {
  const records = (firstSeq: number, ...seqs: number[]) => ({ type: 'records', firstSeq, seqs }) as const;
  const takes = async (...redactions: Slot['redactions']) => {
    const world = redacting();
    world.writer.take([plain(2), { ...batchOf(4), redactions }]);
    const error = await world.writer.stored().then(() => null, String);
    return { ...world, error };
  };
  const { calls, callsAtRead, erased, rewrite } = await takes(records(1, 2, 3));
  const both = rewrite([2, erased[0]!], [3, erased[1]!]);
  const stored = ['stored', 1];
  assert.equal(calls, [stored, ['forgets'], ['replaces'], [batchOf(4), [both]]]);
  assert.equal(callsAtRead, [1, 3], 'the replaced batch is read once all earlier ones are stored');
  const event = await takes(records(1, 2));
  assert.equal(event.calls, [stored, ['replaces'], [batchOf(4), [rewrite([2, erased[0]!])]]]);
  const bytes = await takes({ type: 'bytes', ...both });
  assert.equal(bytes.calls, calls, 'bytes may replace anything');
  for (const seq of [0, 2]) {
    const { error } = await takes(records(seq, seq));
    assert.match(String(error), `there is no batch at ${seq} to replace`);
  }
});

test('a node that does not lead appends nothing, and one that leads nothing before its newest batch', async () => {
  const { writer, calls, slots, signals } = redacting();
  const refusal = async (batch: StoredBatch | null) => String(await rejection(writer.append(batch, [])));
  for (const batch of [batchOf(4), null]) assert.match(await refusal(batch), 'this node does not lead');
  writer.lead(fence);
  assert.match(await refusal(batchOf(1)), 'a batch at 1 cannot follow the one at 1');
  assert.equal([calls, slots], [[], []]);
  await writer.append(null, [batchOf(1)]);
  assert.equal([calls, slots], [[[null, [batchOf(1)]]], []], 'rewrites alone are those of this node');
  await writer.append(batchOf(4), []);
  writer.follow();
  writer.lead(fence);
  await writer.append(batchOf(5), []);
  assert.equal([signals[0]?.aborted, signals[1]?.aborted], [true, false]);
});

test('a scrub asks first, then overwrites the files of this node, and then those of the others', async () => {
  const { writer, calls, hooks } = redacting();
  const { signal } = new AbortController();
  await writer.scrub(signal);
  assert.equal(calls.splice(0), [['may scrub'], ['scrub', signal], ['scrub elsewhere', signal]]);
  Object.assign(hooks, { mayScrub: () => Promise.reject(new Error('not now')) });
  assert.match(String(await rejection(writer.scrub(signal))), 'not now');
  assert.equal(calls, []);
});

test.run();
