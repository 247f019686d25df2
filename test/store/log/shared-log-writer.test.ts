/** The log of a cluster's node: which commits a turn waits for, and what a failed local commit does to later turns. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Fence, Slot } from '../../../src/group/ports/shared-log.js';
import type { StoredBatch } from '../../../src/group/ports/storage.js';
import { limits } from '../../../src/limits.js';
import { timers } from '../../../src/node/system.js';
import type { LmdbLogWriter } from '../../../src/store/log/lmdb-log.js';
import { SharedLogWriter } from '../../../src/store/log/shared-log-writer.js';
import { until } from '../../support/until.js';
import { batchOf } from '../log-contract.js';

const fence = { revision: '7' } as unknown as Fence;

/** A commit that ends when the test says so. */
interface Commit {
  readonly what: string;
  end(error?: Error): Promise<void>;
}

function harness() {
  const commits: Commit[] = [];
  const firsts: number[] = [];
  const commit = (what: string) =>
    new Promise<void>((resolve, reject) => {
      const end = async (error?: Error) => {
        commits.splice(commits.indexOf(one), 1);
        if (error === undefined) resolve();
        else reject(error);
        // Everything that waited for the commit goes on.
        await new Promise((next) => setImmediate(next));
      };
      const one: Commit = { what, end };
      commits.push(one);
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
  const writer = new SharedLogWriter(local as unknown as LmdbLogWriter, shared, new Uint8Array(16), timers, {
    appended: () => undefined,
    redacted: () => undefined,
    mayScrub: () => Promise.resolve(),
    scrubElsewhere: () => Promise.resolve(),
    storeFailed: (error) => void failures.push((error as Error).message),
  });
  writer.lead(fence);
  const end = (what: string, error?: Error) => {
    const found = commits.find((one) => one.what === what);
    assert.ok(found, `${what} is not in flight, but ${commits.map((one) => one.what).join(', ')}`);
    return found!.end(error);
  };
  /** Appends a batch; `done` turns true once it is acknowledged. */
  const append = async (firstSeq: number, rewrites: readonly StoredBatch[] = []) => {
    const state = { done: false, error: null as Error | null };
    writer.append(batchOf(firstSeq), rewrites).then(
      () => {
        state.done = true;
      },
      (error: Error) => {
        state.error = error;
      },
    );
    await new Promise((next) => setImmediate(next));
    return state;
  };
  return {
    writer,
    failures,
    append,
    end,
    inFlight: () => commits.map((one) => one.what),
    /** Resolves once a local commit is in flight. */
    storing: () => until(() => commits.some(({ what }) => what.startsWith('local'))),
    isClosed: () => firsts.includes(-1),
  };
}

test('a turn is acknowledged once the shared log has it, and stored by a local commit after that', async () => {
  const { writer, append, end, inFlight } = harness();
  const one = await append(1);
  assert.equal(inFlight(), ['shared 1 after 0']);
  await end('shared 1 after 0');
  assert.equal([one.done, inFlight(), writer.storingFrom], [true, [], 1]);
  let isStored = false;
  void writer.stored().then(() => {
    isStored = true;
  });
  await new Promise((next) => setImmediate(next));
  assert.equal([isStored, inFlight()], [false, ['local 1']], 'whoever needs the file does not wait for other turns');
  await end('local 1');
  assert.equal([isStored, writer.storingFrom], [true, null]);
});

test('a local commit stores all turns that were acknowledged since the last one', async () => {
  const { writer, append, end, inFlight, storing } = harness();
  await append(1);
  await end('shared 1 after 0');
  await append(5);
  await end('shared 5 after 1');
  await storing();
  const three = await append(9);
  assert.equal(inFlight(), ['local 1 5', 'shared 9 after 5']);
  await end('shared 9 after 5');
  assert.equal([three.done, inFlight(), writer.storingFrom], [true, ['local 1 5'], 1]);
  await end('local 1 5');
  assert.is(writer.storingFrom, 9);
  await storing();
  assert.equal(inFlight(), ['local 9']);
});

test('whoever needs the file waits for the turns before, and not for those that arrive meanwhile', async () => {
  const { writer, append, end } = harness();
  await append(1);
  await end('shared 1 after 0');
  let isStored = false;
  const stored = writer.stored().then(() => {
    isStored = true;
  });
  await append(5);
  await end('shared 5 after 1');
  await end('local 1');
  await stored;
  assert.equal([isStored, writer.storingFrom], [true, 5]);
});

test('a local commit that fails while the node begins to follow is reported', async () => {
  const { writer, failures, append, end } = harness();
  await append(1);
  await end('shared 1 after 0');
  writer.follow();
  const settled = writer.settled();
  await new Promise((next) => setImmediate(next));
  await end('local 1', new Error('input/output error'));
  await settled;
  assert.equal(failures, ['input/output error']);
});

test('turns wait for the local commit if too many bytes are not stored', async () => {
  const { writer, append, end, inFlight } = harness();
  const large = { firstSeq: 1, bytes: new Uint8Array(limits.storeWaitingBytes) };
  let isDone = false;
  void writer.append(large, []).then(() => {
    isDone = true;
  });
  await new Promise((next) => setImmediate(next));
  await end('shared 1 after 0');
  assert.equal([isDone, inFlight()], [false, ['local 1']]);
  await end('local 1');
  assert.ok(isDone);
  await append(5);
  assert.equal(inFlight(), ['shared 5 after 1']);
});

test('a turn that replaces batches is stored at once, after all turns before it', async () => {
  const { append, end, inFlight } = harness();
  await append(1);
  await end('shared 1 after 0');
  const two = await append(5, [batchOf(1)]);
  assert.equal(inFlight(), ['local 1'], 'the replacements are computed from stored batches');
  await end('local 1');
  await end('shared 5 after 1');
  assert.equal([two.done, inFlight()], [false, ['local 5 with 1 others']]);
  await end('local 5 with 1 others');
  assert.ok(two.done);
});

test('slots of the shared log are taken at once and stored together, and the next leader appends after them', async () => {
  const { writer, append, end, inFlight } = harness();
  const plain = { bytes: batchOf(1).bytes, redactions: [] };
  await writer.take([
    { firstSeq: 1, ...plain },
    { firstSeq: 3, ...plain },
  ]);
  assert.equal([inFlight(), writer.storingFrom], [[], 1]);
  await append(5);
  assert.equal(inFlight(), ['shared 5 after 3']);
  void writer.stored();
  await end('local 1 3');
  assert.is(writer.storingFrom, null);
});

test('a slot that replaces batches is stored before it counts as taken', async () => {
  const { writer, end, inFlight } = harness();
  const { bytes } = batchOf(1);
  await writer.take([{ firstSeq: 1, bytes, redactions: [] }]);
  let isTaken = false;
  void writer.take([{ firstSeq: 3, bytes, redactions: [{ type: 'bytes', firstSeq: 1, bytes }] }]).then(() => {
    isTaken = true;
  });
  await new Promise((next) => setImmediate(next));
  assert.equal(inFlight(), ['local 1']);
  await end('local 1');
  assert.equal([isTaken, inFlight()], [false, ['local 3 with 1 others']]);
  await end('local 3 with 1 others');
  assert.ok(isTaken);
});

test('a failed local commit is reported at once, and no turn reaches the shared log until the node follows', async () => {
  const { writer, failures, append, end, inFlight, storing } = harness();
  await append(1);
  await end('shared 1 after 0');
  await storing();
  const during = await append(5);
  await end('local 1', new Error('no space left'));
  assert.equal([failures, writer.storingFrom], [['no space left'], 1]);
  assert.match((await writer.stored().catch((error: Error) => error))?.toString() ?? '', /no space left/);
  await end('shared 5 after 1');
  assert.is(during.error?.message, 'no space left', 'its outcome is left to recovery');
  const two = await append(9);
  assert.equal([two.error?.message, inFlight()], ['no space left', []]);
  writer.follow();
  await writer.settled();
  await writer.stored();
  assert.is(writer.storingFrom, null);
  writer.lead(fence);
  await append(1);
  assert.equal(inFlight(), ['shared 1 after 0']);
});

test('a log that is closed, or whose node follows, waits for its local commit', async () => {
  const { writer, append, end, isClosed } = harness();
  await append(1);
  await end('shared 1 after 0');
  writer.follow();
  let isSettled = false;
  void writer.settled().then(() => {
    isSettled = true;
  });
  const closed = writer.close();
  await new Promise((next) => setImmediate(next));
  assert.equal([isSettled, isClosed()], [false, false]);
  await end('local 1');
  await closed;
  assert.equal([isSettled, isClosed()], [true, true]);
});

test.run();
