import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { eventTypes } from '../../../src/core/evidence/event-types.js';
import { BatchWriter, chainStart, NONCE_BYTES } from '../../../src/core/records/batch.js';
import type { Chains } from '../../../src/group/access/subject-holdings.js';
import {
  isoWeek,
  listEvents,
  RecordReader,
  readPairEvents,
  readRecords,
  readRepeats,
} from '../../../src/group/listing/listing.js';
import { DamagedError } from '../../../src/group/ports/storage.js';
import { limits } from '../../../src/limits.js';
import { dayMs, subjectOf, submissionOf, t0 } from '../../support/given.js';
import { MemoryLog } from '../../support/memory-log.js';
import { submit } from '../commands.js';
import { Machine } from '../machine.js';

async function grown(peers: number, events: number): Promise<Machine> {
  const machine = await Machine.withPeers(peers);
  for (let i = 0; i < events; i++) {
    machine.now = t0 + i * dayMs;
    const more = { peerId: `peer-${i % peers}`, timestamp: machine.now };
    await machine.ask(`e${i}`, submit(submissionOf(`e${i}`, 'p', more)));
  }
  return machine;
}

const chainsIn = async (machine: Machine) =>
  (await machine.ask('chains', { type: 'chains', subject: subjectOf('p') })) as Chains;

/** A query for a page of 5 rows about the player, from the newest event on, by nobody. */
const query = { subject: subjectOf('p'), caller: null, holder: null, limit: 5, from: null };

const idsOf = (page: ReturnType<typeof listEvents>) => page!.own.map(({ event }) => event.event_id);
const seqOf = ({ actor: { state } }: Machine, id: string) => state.eventIds.seqOf(state.idTags.of(id));

async function list(machine: Machine, caller: number | null, limit: number, from: readonly number[] | null = null) {
  const { heads, withdrawn, expired } = await chainsIn(machine);
  const walk = { heads, withdrawn: new Set(withdrawn), expired };
  return listEvents(new RecordReader(machine.log), { ...query, ...walk, caller, limit, from });
}

// Weeks checked against the calendar of ISO 8601: 2026-01-01 is a Thursday, 2027-01-01 a Friday, 2024-12-30 a Monday.
test('a week is that of ISO 8601, whose year is that of its Thursday', () => {
  for (const [time, week] of [
    ['2026-01-01T00:00:00Z', '2026-W01'],
    ['2025-12-29T00:00:00Z', '2026-W01'],
    ['2025-12-28T23:59:59Z', '2025-W52'],
    ['2027-01-01T12:00:00Z', '2026-W53'],
    ['2024-12-30T00:00:00Z', '2025-W01'],
    ['1969-12-28T00:00:00Z', '1969-W52'],
    ['0001-01-01T00:00:00Z', '0001-W01'],
    ['0000-01-02T23:59:59Z', '-0001-W52'],
  ] as const)
    assert.is(isoWeek(Date.parse(time)), week, time);
});

test('a peer sees its own events, newest first, page by page, and no others', async () => {
  const machine = await grown(3, 21);
  const seen: string[] = [];
  let from: readonly number[] | null = null;
  do {
    const page: Awaited<ReturnType<typeof list>> = await list(machine, 1, 3, from);
    seen.push(...idsOf(page));
    from = page!.next;
  } while (from !== null);
  assert.equal(seen, ['e19', 'e16', 'e13', 'e10', 'e7', 'e4', 'e1']);
  assert.equal((await list(machine, null, 50))!.own, []);
});

// Found by review: pages of nothing, each with a cursor, one for every 20,000 events that had left.
test('a listing ends where retention deleted the events', async () => {
  const machine = await grown(3, 21);
  await machine.retire(t0 + 12 * dayMs);
  const page = await list(machine, 1, 3);
  assert.equal([idsOf(page), page!.next, page!.summarised], [['e19', 'e16', 'e13'], null, 9]);
  assert.equal((await list(machine, 1, 3, [seqOf(machine, 'e4')]))!.own, []);
});

test('a cursor that points at another peer, another player or nothing is refused', async () => {
  const machine = await grown(3, 6);
  for (const event of [submissionOf('x', 'q'), submissionOf('last', 'p', { timestamp: machine.now })])
    await machine.ask(event.eventId, submit(event));
  const page = (seq: number) => list(machine, 0, 5, [seq]);
  for (const seq of [seqOf(machine, 'e1'), seqOf(machine, 'x'), 1, 10_000]) assert.is(await page(seq), null, `${seq}`);
  assert.equal(idsOf(await page(seqOf(machine, 'e3'))), ['e3', 'e0']);
});

test('the summary counts by type and week from three peers on, and is one row below', async () => {
  const three = await list(await grown(3, 14), null, 1);
  assert.is(three!.summarised, 14);
  assert.equal(three!.summary, [
    { eventType: 'report_cheating', week: '2026-W03', count: 3 },
    { eventType: 'report_cheating', week: '2026-W02', count: 7 },
    { eventType: 'report_cheating', week: '2026-W01', count: 4 },
  ]);
  const two = await list(await grown(2, 14), null, 1);
  assert.equal(two!.summary, [{ eventType: 'other', count: 14 }]);
});

/**
 * A log behind whose end is a batch of events of peer 0 that are gone, each before the next one, the oldest of them
 * behind `head`; and the newest of them.
 */
function withGone({ log, actor }: Machine, count: number, head: number) {
  const first = actor.state.lastSeq + 1;
  const batch = new BatchWriter();
  for (let i = 0; i < count; i++) {
    const prev = i === 0 ? head : first + i - 1;
    batch.add({ type: 'event_gone', peer: 0, prev, id_tag: '0123456789' });
  }
  const { bytes } = batch.seal(first, t0, Buffer.alloc(NONCE_BYTES), chainStart);
  const at = (seq: number) => (seq < first ? log.at(seq) : { firstSeq: first, bytes });
  const reader = new RecordReader(Object.create(log, { at: { value: at } }));
  return { reader, newest: first + count - 1 };
}

const nothingGone = { withdrawn: new Set<number>(), expired: 0 };

test('a peer that withdrew very many events hides none of the others', async () => {
  const machine = await grown(3, 6);
  const { heads } = await chainsIn(machine);
  const { head } = heads.find(({ peer }) => peer === 0)!;
  const listedBehind = (count: number) => {
    const { reader, newest } = withGone(machine, count, head);
    const withdrawn = heads.map((one) => (one.peer === 0 ? { ...one, head: newest } : one));
    return listEvents(reader, { ...query, ...nothingGone, heads: withdrawn })!;
  };
  assert.is(listedBehind(5_000).summarised, 6, 'not so many that anything is left out');
  const { summarised, summary } = listedBehind(limits.walkRecordsMax);
  assert.equal([summarised, summary], [4, [{ eventType: 'other', count: 4 }]]);
});

test('a page that meets very many withdrawn events ends early, with a cursor if events may be left', async () => {
  const machine = await grown(1, 3);
  const [own] = (await chainsIn(machine)).heads;
  /** Pages of a peer whose withdrawn events come behind `head`. */
  const pageOf = (head: number, from: readonly number[] | null = null) => {
    const { reader, newest } = withGone(machine, limits.walkRecordsMax, head);
    const page = listEvents(reader, { ...query, ...nothingGone, heads: [{ ...own!, head: newest }], caller: 0, from });
    return { own: idsOf(page), next: page!.next, summary: page!.summary };
  };
  const { head } = own!;
  assert.equal(pageOf(head), { own: [], next: [head], summary: [] });
  assert.equal(pageOf(head, [head]), { own: ['e2', 'e1', 'e0'], next: null, summary: [] });
  assert.equal(pageOf(0), { own: [], next: null, summary: [] });
});

test('a record that the log lacks is damage, whether it ends before it or begins behind it', async () => {
  const machine = await grown(1, 1);
  const { lastSeq } = machine.actor.state;
  for (const [log, seq] of [
    [machine.log, lastSeq + 1],
    [new MemoryLog(), 1],
  ] as const) {
    assert.throws(
      () => readRecords(new RecordReader(log), [seq]),
      (error: unknown) => error instanceof DamagedError && error.message === `the log has no record ${seq}`,
    );
  }
});

test('a long walk lets others have the core before each of its records', async () => {
  const machine = await grown(1, 5);
  const { heads } = await chainsIn(machine);
  let yields = 0;
  const reader = new RecordReader(machine.log, () => void yields++);
  assert.is(readPairEvents(reader, { head: heads[0]!.head, expired: 0 }).read, 5);
  assert.is(yields, 5);
});

test('a chain ends at a record that names none before it', async () => {
  const { log } = await grown(1, 1);
  assert.equal(readPairEvents(new RecordReader(log), { head: 1, expired: 0 }), { events: [], read: 1, next: null });
  const check = { index: 0, head: 1, eventType: eventTypes.report_cheating.id, timestamp: t0 };
  const repeats = { checks: [check], withdrawn: [], expired: 0, from: null, holder: null };
  assert.equal(readRepeats(new RecordReader(log), repeats, 5), { found: [{ index: 0, head: 1, seq: 0 }], next: null });
});

test('the summary covers the newest thousand events', async () => {
  const machine = await grown(1, 0);
  for (let i = 0; i < 12; i++) {
    await machine.ask(`b${i}`, submit(...Array.from({ length: 100 }, (_, k) => submissionOf(`e${i}-${k}`, 'p'))));
  }
  assert.is((await list(machine, null, 1))!.summarised, 1000);
});

test.run();
