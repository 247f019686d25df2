/** The shared log on a model of etcd's state: what each call writes, and under which conditions. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Fence, LogLostError, SharedLogUnavailableError, type Slot } from '../../../src/group/ports/shared-log.js';
import { DamagedError, OwnerLostError } from '../../../src/group/ports/storage.js';
import { limits } from '../../../src/limits.js';
import type { KeyValue, TxnResponse, WatchResponse } from '../../../src/store/etcd/etcd-messages.js';
import { batchOf, isDamageOf, rejection } from '../log-contract.js';
import { given, keys, unavailable } from './model-log.js';

const at = { applied: 0, durable: 0, snapshot: 0, started: 0 };
const reported = { nodeId: 'a', url: 'http://x', role: 'follower', version: '0', format: 1, ...at, reason: null };
const slotOf = (firstSeq: number, length?: number): Slot => ({ ...batchOf(firstSeq, length), redactions: [] });
const long: Slot = { firstSeq: 1, bytes: new Uint8Array(limits.slotPartBytes).fill(7), redactions: [] };
const refusedAs = (error: unknown) => (error instanceof OwnerLostError ? error.message : error);

test('a compaction that etcd did not do rejects for its caller, instead of ending the process later', async () => {
  const { log, calls, compacted } = given();
  const { compact } = calls;
  calls.compact = async (revision) => {
    await compact(revision);
    throw unavailable();
  };
  assert.instance(await rejection(log.compact()), SharedLogUnavailableError);
  assert.equal(compacted, ['1']);
});

test('an empty log has no leader, no slots and no nodes, and the first format', async () => {
  const { log } = given();
  const view = { leader: null, slots: [], trimmed: 0, nodes: [], format: 1, revision: '1' };
  assert.equal(await log.view(1), view);
  const notes = [log.clusterId(), log.resigned(), log.scrubbed(), log.scrubDue()];
  assert.equal(await Promise.all(notes), [null, null, null, null]);
});

test('a slot is appended behind the previous one, or at the edge of the log, and only once', async () => {
  const { log, lead, seqs } = given();
  const fence = lead('a');
  await log.begin(fence, 'id', 4);
  const there = (seq: number) => `the slot at record ${seq} was refused: another turn is in the log there`;
  const lost = (seq: number) => new LogLostError(seq).message;
  for (const [firstSeq, previous, refusal] of [
    [6, 0, lost],
    [5, 0, undefined],
    [7, 5, undefined],
    [7, 5, there],
    [9, 6, lost],
  ] as const) {
    const error = await rejection(log.append(fence, slotOf(firstSeq, 40 + previous * firstSeq), previous));
    assert.is(refusedAs(error), refusal?.(firstSeq), `${firstSeq} after ${previous}`);
    if (firstSeq === 7) await log.append(fence, slotOf(8), 7).catch(() => undefined);
  }
  assert.equal(seqs(), [5, 7, 8]);
  assert.equal((await log.view(6)).slots, [slotOf(7, 75), slotOf(8)]);
  assert.equal((await log.view(5, 1)).slots.length, 1);
});

test('a slot at the edge needs no previous one, but a leader', async () => {
  const { log, lead } = given();
  const [old, fence] = [lead('a'), lead('b')];
  await log.begin(fence, 'id', 8);
  const lost = 'the slot at record 9 was refused: another node leads now';
  assert.is(refusedAs(await rejection(log.append(old, slotOf(9), 7))), lost);
  await log.append(fence, slotOf(9), 7);
  const there = 'the slot at record 9 was refused: another turn is in the log there';
  assert.is(refusedAs(await rejection(log.append(fence, slotOf(9, 50), 7))), there);
  assert.equal((await log.view(1)).slots, [slotOf(9)]);
});

test('an append without an answer is repeated, and recognizes the slot that it has written', async () => {
  const { log, calls, lead, loseAnswer, pauses } = given();
  const fence = lead('a');
  await log.begin(fence, 'id', 0);
  loseAnswer();
  await log.append(fence, slotOf(1), 0);
  assert.equal([pauses, (await log.view(1)).slots], [[limits.etcdRetryMs], [slotOf(1)]]);

  let tried = 0;
  const ending = new AbortController();
  calls.txn = async () => {
    tried += 1;
    if (tried === 3) ending.abort();
    throw unavailable();
  };
  assert.instance(await rejection(log.append(fence, slotOf(2), 1, ending.signal)), SharedLogUnavailableError);
  assert.is(tried, 3);
  calls.isClosed = true;
  assert.instance(await rejection(log.append(fence, slotOf(2), 1)), SharedLogUnavailableError);
  assert.is(tried, 4);
  calls.isClosed = false;
  calls.txn = () => Promise.reject(new Error('permission denied'));
  assert.match(String(await rejection(log.append(fence, slotOf(2), 1))), /permission denied/);
});

test('the parts of a long slot are written by the leader alone, and a missing one is damage', async () => {
  const { log, store, lead, seqs } = given();
  const [old, fence] = [lead('a'), lead('b')];
  await log.begin(fence, 'id', 0);
  assert.is(refusedAs(await rejection(log.append(old, long, 0))), 'another node leads now');
  assert.is(store.range({ key: keys.part(1, 0) }).count, '0');
  await log.append(fence, long, 0);
  const { slots } = await log.view(1);
  assert.ok(Buffer.from(long.bytes).equals(slots[0]!.bytes));
  store.txn({ compare: [], success: [{ request_delete_range: { key: keys.part(1, 1) } }] });
  assert.ok(isDamageOf('a part of the slot at record 1 is missing')(await rejection(log.view(1))));
  assert.equal(seqs(), [1]);
});

test('a long slot that is trimmed while it is read is no damage: the next view begins after it', async () => {
  const { log, calls, lead } = given();
  const fence = lead('a');
  await log.begin(fence, 'id', 0);
  await log.append(fence, long, 0);
  await log.append(fence, slotOf(2), 1);
  const { range } = calls;
  calls.range = async (request) => {
    calls.range = range;
    await log.trim(fence, 2, 1);
    return range(request);
  };
  assert.instance(await rejection(log.view(1)), SharedLogUnavailableError);
  const { slots, trimmed } = await log.view(1);
  assert.equal([slots, trimmed], [[slotOf(2)], 1]);
});

test('a log is begun once, and only the leader begins it, raises its format and trims it', async () => {
  const { log, lead, text, seqs, put, compacted, store } = given();
  const [old, fence] = [lead('a'), lead('b')];
  const acts = [(by: Fence) => log.begin(by, 'id', 2), (by: Fence) => log.raiseFormat(by, 4)];
  for (const act of acts) {
    assert.is(refusedAs(await rejection(act(old))), 'another node leads now');
    await act(fence);
  }
  assert.instance(await rejection(log.begin(fence, 'other', 7)), OwnerLostError);
  const { leader, trimmed, format } = await log.view(1);
  assert.equal(leader, { nodeId: 'b', url: 'http://x', since: 1, cause: 'a test', fence });
  assert.equal([trimmed, text(keys.floor), format, await log.clusterId()], [2, '2', 4, 'id']);

  for (const seq of [3, 5, 7]) await log.append(fence, slotOf(seq), seq === 3 ? 0 : seq - 2);
  for (const part of [keys.part(3, 1), keys.part(5, 0)]) put(part, 'x');
  assert.instance(await rejection(log.trim(old, 5, 3)), OwnerLostError);
  assert.instance(await rejection(log.trim(fence, 6, 3)), OwnerLostError, 'the slot that would stay');
  assert.equal([seqs(), compacted], [[3, 5, 7], []]);
  await log.trim(fence, 5, 3);
  assert.equal([seqs(), await log.slotSeqs(6, 9), await log.slotSeqs(0, 1)], [[5, 7], [7], [5]]);
  const parts = store.range({ key: keys.part(0, 0), range_end: keys.part(9, 0) }).kvs.map(({ key }) => String(key));
  assert.equal([parts, text(keys.trimmed), text(keys.floor)], [[String(keys.part(5, 0))], '4', '3']);
  assert.equal(compacted, [String(store.revision)]);
});

test('a node with a place leads if no other does, also if the answer to its campaign was lost', async () => {
  const { log, store, loseAnswer, text } = given();
  const campaign = (lease: string, since = 0) =>
    log.campaign({ nodeId: 'a', url: 'http://x', since, cause: 'a test' }, lease);
  assert.is(await campaign('1'), null, 'its lease has ended');
  for (const lease of ['1', '2']) store.grantLease(lease, 60);
  assert.is(await campaign('1'), null, 'it has no place');
  assert.is(await log.putNode(reported, '1'), null);
  assert.is(await campaign('2'), null, 'the place is that of another lease');
  loseAnswer();
  assert.instance(await rejection(campaign('1')), SharedLogUnavailableError);
  const fence = await campaign('1');
  assert.equal(fence, (await log.view(1)).leader?.fence);
  assert.is(await campaign('1', 5), null, 'the key holds another campaign');
  assert.is(await campaign('2'), null);

  await log.resign({ fence: { revision: '1' }, cause: 'an old one' });
  assert.equal([(await log.view(1)).leader?.fence, await log.resigned()], [fence, null]);
  await log.resign({ fence: fence!, cause: 'a stop' });
  assert.equal([text(keys.leader), await log.resigned()], [undefined, { fence, cause: 'a stop' }]);
  assert.equal(Object.keys((await campaign('1')) ?? {}), ['revision']);
});

test('a node id belongs to one lease, and a refusal ends once its node has a place', async () => {
  const { log, store } = given();
  assert.match(String(await rejection(log.putNode(reported, '1'))), /the lease of this node has ended/);
  for (const lease of ['1', '2']) store.grantLease(lease, 60);
  const other = { ...reported, url: 'http://y' };
  const refused = { nodeId: 'a', url: 'http://y', reason: 'the id is taken' };
  for (const role of ['joining', 'follower']) assert.is(await log.putNode({ ...reported, role }, '1'), null);
  assert.equal(await log.putNode(other, '2'), reported);
  await log.putRefused(refused, '2');
  await log.putRefused(refused, '7');
  assert.equal([await log.refused(), await log.nodes()], [[refused], [reported]]);
  store.revokeLease('1');
  assert.is(await log.putNode(other, '2'), null);
  assert.equal([await log.refused(), (await log.view(1)).nodes], [[], [other]]);
});

test('a report that is carried out late undoes no newer one, and an overtaken one ends as the newer one', async () => {
  const { log, calls, store } = given();
  store.grantLease('1', 60);
  const roleNow = async () => (await log.nodes())[0]?.role;
  const put = (role: string) => log.putNode({ ...reported, role }, '1');
  await put('left');
  const { txn } = calls;
  let late = async (): Promise<unknown> => undefined;
  calls.txn = async (request) => {
    calls.txn = txn;
    late = () => txn(request);
    throw unavailable();
  };
  assert.instance(await rejection(put('left')), SharedLogUnavailableError);
  assert.is(await put('follower'), null);
  await late();
  assert.is(await roleNow(), 'follower');

  const answers: ((answer: TxnResponse) => void)[] = [];
  calls.txn = () => new Promise((answer) => answers.push(answer));
  const [older, newer] = [put('older'), put('newer')];
  answers[0]!({ header: { revision: '99', member_id: '1' }, succeeded: true, responses: [] });
  const holder = { lease: '9', value: Buffer.from('{"url":"http://z"}'), key: keys.node('a') } as KeyValue;
  const range = { header: { revision: '1', member_id: '1' }, kvs: [holder], more: false, count: '1' };
  answers[1]!({ ...range, succeeded: false, responses: [{ response_range: range }] });
  assert.equal(await Promise.all([older, newer]), Array(2).fill({ nodeId: 'a', url: 'http://z' }));

  let tried = 0;
  calls.txn = async () => {
    tried += 1;
    return { ...range, succeeded: false, responses: [{ response_range: { ...range, kvs: [] } }] };
  };
  assert.match(String(await rejection(put('never'))), /the place of this node changed with each try/);
  assert.is(tried, 3);
});

test('the first node determines the secret of the group, and no other secret proves to be it', async () => {
  const { log, withSecret, text, calls } = given();
  const { range } = calls;
  calls.range = async (request) => {
    // Another node writes the proof between the look and the write of this one.
    calls.range = range;
    const before = await range(request);
    await withSecret().hasSecret();
    return before;
  };
  assert.ok(await log.hasSecret());
  const proof = text(keys.secret);
  assert.ok(await log.hasSecret());
  assert.not(await withSecret('another secret of the tests, 32 bytes').hasSecret());
  assert.is(text(keys.secret), proof);
});

test('the notes of a scrub are read as written, and a newer scrub that is due outlives an older one', async () => {
  const { log } = given();
  const ended = { at: 5, complete: true, detail: 'x', marker: 'ff' };
  await log.putScrubbed(ended);
  assert.equal(await log.scrubbed(), ended);
  await log.putScrubDue(7);
  await log.clearScrubDue(6);
  assert.is(await log.scrubDue(), 7);
  await log.clearScrubDue(7);
  assert.is(await log.scrubDue(), null);
});

test("a watch hears each answer's slots in order, no deletion, and ends at a slot that cannot be read", async () => {
  const { log, store, calls, lead, put } = given();
  const fence = lead('a');
  await log.begin(fence, 'id', 0);
  await log.append(fence, long, 0);
  await log.append(fence, slotOf(2), 1);
  let answer: (response: WatchResponse) => void = () => undefined;
  let range = {};
  let stops = 0;
  calls.watch = (asked, heard) => {
    [range, answer] = [asked, heard];
    return () => {
      stops += 1;
    };
  };
  const heard: number[][] = [];
  const ends: unknown[] = [];
  log.watch(
    '7',
    (slots) => heard.push(slots.map(({ firstSeq }) => firstSeq)),
    (error) => ends.push(error),
  );
  assert.equal(range, { key: keys.slot(0), rangeEnd: keys.logEnd, revision: '7' });
  const kvOf = (seq: number) => store.range({ key: keys.slot(seq) }).kvs[0]!;
  const say = (...events: WatchResponse['events']) =>
    answer({ header: { revision: '1', member_id: '1' }, created: false, canceled: false, events });
  say({ type: 'PUT', kv: kvOf(1) }, { type: 'DELETE', kv: kvOf(2) });
  say({ type: 'PUT', kv: kvOf(2) }, { type: 'PUT', kv: kvOf(2) });
  say({ type: 'DELETE', kv: kvOf(2) });
  await new Promise((next) => setImmediate(next));
  assert.equal([heard, ends, stops], [[[1], [2, 2]], [], 0]);
  put(keys.slot(3), 'nonsense of a sufficient length');
  say({ type: 'PUT', kv: kvOf(3) });
  await new Promise((next) => setImmediate(next));
  assert.instance(ends[0], DamagedError);
  assert.equal([ends.length, stops], [1, 1]);
});

test.run();
