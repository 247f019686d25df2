/** The log of a cluster's node: which commits a turn waits for, and what a failed local commit does to later turns. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Fence, Slot } from '../../../src/group/ports/shared-log.js';
import type { LmdbLogWriter } from '../../../src/store/log/lmdb-log-writer.js';
import { SharedLogWriter } from '../../../src/store/log/shared-log-writer.js';
import { batchOf } from '../../contracts/log.js';

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
    append: async (batch: { readonly firstSeq: number }) => {
      await commit(`local ${batch.firstSeq}`);
      firsts.push(batch.firstSeq);
    },
    close: async () => void firsts.push(-1),
  };
  const shared = {
    append: (_fence: Fence, slot: Slot, previous: number) => commit(`shared ${slot.firstSeq} after ${previous}`),
  };
  const failures: unknown[] = [];
  const writer = new SharedLogWriter(local as unknown as LmdbLogWriter, shared, new Uint8Array(16), {
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
  const append = async (firstSeq: number) => {
    const state = { done: false, error: null as Error | null };
    writer.append(batchOf(firstSeq), []).then(
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
    isClosed: () => firsts.includes(-1),
  };
}

test('a turn is acknowledged once the shared log has it, and stored by the local commit after that', async () => {
  const { writer, append, end, inFlight } = harness();
  const one = await append(1);
  assert.equal(inFlight(), ['shared 1 after 0']);
  await end('shared 1 after 0');
  assert.equal([one.done, inFlight(), writer.storingFrom], [true, ['local 1'], 1]);
  let isStored = false;
  void writer.stored().then(() => {
    isStored = true;
  });
  await new Promise((next) => setImmediate(next));
  assert.is(isStored, false);
  await end('local 1');
  assert.equal([isStored, writer.storingFrom], [true, null]);
});

test('the shared log takes the next turn during the local commit, which is at most one turn behind', async () => {
  const { append, end, inFlight } = harness();
  await append(1);
  await end('shared 1 after 0');
  const two = await append(5);
  assert.equal(inFlight(), ['local 1', 'shared 5 after 1']);
  await end('shared 5 after 1');
  assert.equal([two.done, inFlight()], [false, ['local 1']]);
  await end('local 1');
  assert.equal([two.done, inFlight()], [true, ['local 5']]);
});

test('a failed local commit is reported at once, and no turn reaches the shared log until the node follows', async () => {
  const { writer, failures, append, end, inFlight } = harness();
  await append(1);
  await end('shared 1 after 0');
  await end('local 1', new Error('no space left'));
  assert.equal([failures, writer.storingFrom], [['no space left'], 1]);
  assert.match((await writer.stored().catch((error: Error) => error))?.toString() ?? '', /no space left/);
  const two = await append(5);
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
