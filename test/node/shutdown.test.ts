/** The order in which a node closes what it opened, and the time that a stop leaves. */
import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { limits } from '../../src/limits.js';
import { Closers, type WindingDown, windDown } from '../../src/node/shutdown.js';
import { readExpectedHead } from '../../src/store/files/folder-files.js';
import { temporaryFolder } from '../support/process.js';

function closersOf(names: readonly string[]): { readonly closers: Closers; readonly closed: string[] } {
  const closers = new Closers();
  const closed: string[] = [];
  for (const name of names) closers.add(async () => void closed.push(name));
  return { closers, closed };
}

test('resources are closed in reverse order, one after the other, and once', async () => {
  const { closers, closed } = closersOf(['a', 'b']);
  closers.add(async () => {
    closed.push('c begins');
    await new Promise((resolve) => setImmediate(resolve));
    closed.push('c ends');
  });
  await closers.close();
  await closers.close();
  assert.equal(closed, ['c begins', 'c ends', 'b', 'a']);
});

test('a part that cannot be closed does not prevent others from closing, and the stop fails with its error', async () => {
  const { closers, closed } = closersOf(['folder']);
  closers.add(() => Promise.reject(new Error('first')));
  closers.add(() => Promise.reject(new Error('earlier')));
  assert.is(await closers.close().catch((error: Error) => error.message), 'earlier');
  assert.equal(closed, ['folder']);
});

test('a stop leaves its time minus that of threads and unmeasured work, and never a negative one', async () => {
  const { closers } = closersOf([]);
  assert.is(closers.msLeft(60_000), 60_000);
  await closers.close();
  const left = closers.msLeft(60_000);
  assert.ok(left <= limits.shutdownMs - limits.shutdownPoolMs - limits.shutdownLastMs && left > 0, String(left));
  assert.is(closers.msLeft(1), 1);
  assert.is(closers.msLeft(-1), 0);
});

/** Winds a group down. Returns the lines that were logged, and the position in head.json. */
async function woundDown(given: {
  failed?: boolean;
  snapshotMs?: number;
  snapshot?: () => Promise<void>;
  stored?: () => Promise<void>;
}) {
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(String(JSON.parse(line).msg)) });
  const dir = temporaryFolder();
  const loop = {
    failed: given.failed ?? false,
    snapshotNow: async () => {
      lines.push('snapshot');
      await given.snapshot?.();
    },
    actor: { durableHead: { lastSeq: 7, chain: new Uint8Array(32) } },
    log: { stored: given.stored ?? (async () => undefined) },
  };
  const group = { drain: async () => void lines.push('drained') };
  const winding = { group, current: { loop }, dir, log, snapshotMs: () => given.snapshotMs ?? 60_000 };
  await windDown(winding as unknown as WindingDown);
  return { lines, head: readExpectedHead(dir)?.lastSeq };
}

test('a group that ends answers its commands, then makes a snapshot, then stores its head', async () => {
  const fails = (text: string) => () => Promise.reject(new Error(text));
  assert.equal(await woundDown({}), { lines: ['drained', 'snapshot'], head: 7 });
  assert.equal(await woundDown({ failed: true }), { lines: ['drained'], head: undefined });
  const failed = await woundDown({ snapshot: fails('disk') });
  assert.equal(failed, { lines: ['drained', 'snapshot', 'the last snapshot failed'], head: 7 });
  let fail = (_error: Error): void => undefined;
  const endless = new Promise<void>((_resolve, reject) => {
    fail = reject;
  });
  const late = await woundDown({ snapshot: () => endless, snapshotMs: 1 });
  fail(new Error('ended'));
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(late, { lines: ['drained', 'snapshot', 'the last snapshot takes too long and is skipped'], head: 7 });
  const full = await woundDown({ stored: fails('disk') });
  assert.equal(full, { lines: ['drained', 'snapshot', 'head.json was not written'], head: undefined });
});

test.run();
