import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { EventSubmission } from '../../../src/core/commands.js';
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
import { DamagedError, type LogReader, type StoredBatch } from '../../../src/group/ports/storage.js';
import { limits } from '../../../src/limits.js';
import { dayMs, subjectKeyOf, subjectOf, t0 } from '../../support/given.js';
import { MemoryLog } from '../../support/memory-log.js';
import { Machine } from '../machine.js';

const submission: EventSubmission = {
  schemaVersion: '1.0.0',
  eventId: 'e',
  eventType: 'report_cheating',
  peerId: 'peer-0',
  subject: subjectKeyOf('p'),
  gameId: 'g1',
  severity: 1,
  timestamp: t0,
};

async function grown(peers: number, events: number): Promise<Machine> {
  const machine = await Machine.start();
  for (let i = 0; i < peers; i++) {
    const command = { peerId: `peer-${i}`, peerName: 'P', gameIds: ['g1'], keyDigest: `k${i}`, by: 't' };
    await machine.ask(`r${i}`, { type: 'register', ...command });
  }
  for (let i = 0; i < events; i++) {
    const event = { ...submission, eventId: `e${i}`, peerId: `peer-${i % peers}`, timestamp: t0 + i * dayMs };
    machine.now = t0 + i * dayMs;
    await machine.ask(`e${i}`, { type: 'submit', caller: null, events: [event] });
  }
  return machine;
}

async function list(machine: Machine, caller: number | null, limit: number, from: readonly number[] | null = null) {
  const subject = subjectOf('p');
  const chains = (await machine.ask('chains', { type: 'chains', subject })) as Chains;
  const { heads, withdrawn, expired } = chains;
  return listEvents(new RecordReader(machine.log), {
    subject,
    heads,
    withdrawn: new Set(withdrawn),
    expired,
    caller,
    holder: null,
    limit,
    from,
  });
}

// Weeks checked against the calendar of ISO 8601: 2026-01-01 is a Thursday, 2027-01-01 a Friday, 2024-12-30 a Monday.
test('a week is that of ISO 8601, whose year is that of its Thursday', () => {
  const week = (text: string) => isoWeek(Date.parse(text));
  assert.is(week('2026-01-01T00:00:00Z'), '2026-W01');
  assert.is(week('2025-12-29T00:00:00Z'), '2026-W01');
  assert.is(week('2025-12-28T23:59:59Z'), '2025-W52');
  assert.is(week('2027-01-01T12:00:00Z'), '2026-W53');
  assert.is(week('2024-12-30T00:00:00Z'), '2025-W01');
  assert.is(week('1969-12-28T00:00:00Z'), '1969-W52');
  assert.is(week('0001-01-01T00:00:00Z'), '0001-W01');
  assert.is(week('0000-01-02T23:59:59Z'), '-0001-W52');
});

test('a peer sees its own events, newest first, page by page, and no others', async () => {
  const machine = await grown(3, 21);
  const seen: string[] = [];
  let from: readonly number[] | null = null;
  do {
    const page: Awaited<ReturnType<typeof list>> = await list(machine, 1, 3, from);
    seen.push(...page!.own.map(({ event }) => event.event_id));
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
  assert.equal(
    page!.own.map(({ event }) => event.event_id),
    ['e19', 'e16', 'e13'],
  );
  assert.is(page!.next, null);
  assert.is(page!.summarised, 9);
  const behind = machine.actor.state.eventIds.seqOf(machine.actor.state.idTags.of('e4'));
  assert.equal((await list(machine, 1, 3, [behind]))!.own, []);
});

test('a cursor that points at another peer, another player or nothing is refused', async () => {
  const machine = await grown(3, 6);
  const other = { ...submission, eventId: 'x', subject: subjectKeyOf('q') };
  for (const event of [other, { ...submission, eventId: 'last', timestamp: machine.now }])
    await machine.ask(event.eventId, { type: 'submit', caller: null, events: [event] });
  const seqOf = (id: string) => machine.actor.state.eventIds.seqOf(machine.actor.state.idTags.of(id));
  assert.is(await list(machine, 0, 5, [seqOf('e1')]), null);
  assert.is(await list(machine, 0, 5, [seqOf('x')]), null);
  assert.is(await list(machine, 0, 5, [1]), null);
  assert.is(await list(machine, 0, 5, [10_000]), null);
  assert.equal(
    (await list(machine, 0, 5, [seqOf('e3')]))!.own.map(({ event }) => event.event_id),
    ['e3', 'e0'],
  );
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

test('a peer that withdrew very many events hides none of the others', async () => {
  const machine = await grown(3, 6);
  const subject = subjectOf('p');
  const { heads } = (await machine.ask('chains', { type: 'chains', subject })) as Chains;
  const head = heads.find(({ peer }) => peer === 0)!.head;
  const first = machine.actor.state.lastSeq + 1;
  /** With so many events of the first peer behind the log of the machine, all of them gone. */
  const listedBehind = (goneCount: number) => {
    const gone = goneBatch(first, goneCount, head);
    const log: LogReader = Object.create(machine.log, {
      at: { value: (seq: number) => (seq < first ? machine.log.at(seq) : gone) },
    });
    const withdrawn = heads.map((one) => (one.peer === 0 ? { ...one, head: first + goneCount - 1 } : one));
    const walk = { heads: withdrawn, withdrawn: new Set<number>(), expired: 0 };
    return listEvents(new RecordReader(log), { subject, ...walk, caller: null, holder: null, limit: 1, from: null })!;
  };
  assert.is(listedBehind(5_000).summarised, 6, 'not so many that anything is left out');
  const { summarised, summary } = listedBehind(limits.walkRecordsMax);
  assert.is(summarised, 4);
  assert.equal(summary, [{ eventType: 'other', count: 4 }]);
});

test('a page that meets very many withdrawn events ends early, with a cursor if events may be left', async () => {
  const machine = await grown(1, 3);
  const subject = subjectOf('p');
  const { heads } = (await machine.ask('chains', { type: 'chains', subject })) as Chains;
  const first = machine.actor.state.lastSeq + 1;
  const count = limits.walkRecordsMax;
  /** Pages of a peer whose withdrawn events come behind `head`. */
  const pageOf = (head: number, from: readonly number[] | null = null) => {
    const gone = goneBatch(first, count, head);
    const log: LogReader = Object.create(machine.log, {
      at: { value: (seq: number) => (seq < first ? machine.log.at(seq) : gone) },
    });
    const walk = { heads: [{ ...heads[0]!, head: first + count - 1 }], withdrawn: new Set<number>(), expired: 0 };
    const { own, next, summary } = listEvents(new RecordReader(log), {
      subject,
      ...walk,
      caller: 0,
      holder: null,
      limit: 5,
      from,
    })!;
    return { own: own.map(({ event }) => event.event_id), next, summary };
  };
  assert.equal(pageOf(heads[0]!.head), { own: [], next: [heads[0]!.head], summary: [] });
  assert.equal(pageOf(heads[0]!.head, [heads[0]!.head]), { own: ['e2', 'e1', 'e0'], next: null, summary: [] });
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
  const { heads } = (await machine.ask('chains', { type: 'chains', subject: subjectOf('p') })) as Chains;
  let yields = 0;
  const reader = new RecordReader(machine.log, () => void yields++);
  assert.is(readPairEvents(reader, { head: heads[0]!.head, expired: 0 }).read, 5);
  assert.is(yields, 5);
});

test('a chain ends at a record that names none before it', async () => {
  const { log } = await grown(1, 1);
  assert.equal(readPairEvents(new RecordReader(log), { head: 1, expired: 0 }), { events: [], read: 1, next: null });
  const check = { index: 0, head: 1, eventType: eventTypes.report_cheating.id, timestamp: t0 };
  const query = { checks: [check], withdrawn: [], expired: 0, from: null, holder: null };
  assert.equal(readRepeats(new RecordReader(log), query, 5), { found: [{ index: 0, head: 1, seq: 0 }], next: null });
});

/** Events of peer 0 that are gone, each before the next one, the oldest of them behind `head`. */
function goneBatch(firstSeq: number, count: number, head: number): StoredBatch {
  const batch = new BatchWriter();
  for (let i = 0; i < count; i++) {
    const prev = i === 0 ? head : firstSeq + i - 1;
    batch.add({ type: 'event_gone', peer: 0, prev, id_tag: '0123456789' });
  }
  return { firstSeq, bytes: batch.seal(firstSeq, t0, Buffer.alloc(NONCE_BYTES), chainStart).bytes };
}

test('the summary covers the newest thousand events', async () => {
  const machine = await grown(1, 0);
  for (let i = 0; i < 12; i++) {
    const events = Array.from({ length: 100 }, (_, k) => ({ ...submission, eventId: `e${i}-${k}` }));
    await machine.ask(`b${i}`, { type: 'submit', caller: null, events });
  }
  assert.is((await list(machine, null, 1))!.summarised, 1000);
});

test.run();
