import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { eventTypeNames } from '../../../src/core/evidence/event-types.js';
import { type Batch, BatchWriter, chainStart, NONCE_BYTES } from '../../../src/core/records/batch.js';
import type { GroupFormed, LogRecord } from '../../../src/core/records/records.js';
import { stateDigest } from '../../../src/core/snapshot/state-digest.js';
import { GroupState } from '../../../src/core/state.js';
import { EventColumns } from '../../../src/core/tables/event-columns.js';
import { Given, hourMs, salt, subjectOf, t0 } from '../../support/given.js';
import { Random } from '../../support/random.js';
import { actAtRandom } from '../random-act.js';

function batchOf(records: readonly LogRecord[], firstSeq: number, at: number): Batch {
  const writer = new BatchWriter();
  for (const record of records) writer.add(record);
  return writer.seal(firstSeq, at, Buffer.alloc(NONCE_BYTES), chainStart);
}

function lived(seed: number, players: number): { given: Given; batches: Batch[] } {
  const random = new Random(seed);
  const given = new Given(3).peers(8);
  const batches = [batchOf(recordsFrom(given, 0), 1, t0)];
  for (let turn = 1; turn <= 20; turn++) {
    const now = t0 + turn * hourMs;
    const before = given.records.length;
    for (let left = 1 + random.below(700); left > 0; left--) actAtRandom(given, random, now, players, 200);
    batches.push(batchOf(recordsFrom(given, before), before + 1, now));
  }
  return { given, batches };
}

const recordsFrom = (given: Given, from: number): LogRecord[] => given.records.slice(from).map(({ record }) => record);

const fresh = (given: Given): GroupState => new GroupState(given.records[0]!.record as GroupFormed, salt);

/** Takes a batch in by columns where they take any; returns how many events these held. */
function takeIn(state: GroupState, batch: Batch, columns: EventColumns): number {
  let inColumns = 0;
  while (state.lastSeq < batch.lastSeq) {
    const next = state.lastSeq + 1;
    batch.events(next, columns);
    if (columns.count > 0) state.applyEvents(columns, batch.at);
    else state.apply(batch.record(next), batch.at);
    inColumns += columns.count;
  }
  return inColumns;
}

/** The same life once more, with its events sorted before they go into the tables, for about so many at a time. */
function takenInSorted(given: Given, batches: readonly Batch[], count: number): GroupState {
  const state = fresh(given);
  const columns = new EventColumns();
  state.sortEvents(count);
  for (const batch of batches) takeIn(state, batch, columns);
  state.settle();
  return state;
}

for (const players of [5, 300, 100_000]) {
  test(`events taken in as columns lead to the same state as one by one, ${players} players`, () => {
    const { given, batches } = lived(players, players);
    const digest = stateDigest(given.state);
    for (const capacity of [1, 7, 256]) {
      const state = fresh(given);
      const columns = new EventColumns(capacity);
      const inColumns = batches.reduce((sum, batch) => sum + takeIn(state, batch, columns), 0);
      assert.is(inColumns, given.state.eventCount);
      assert.is(stateDigest(state), digest);
    }
  });
}

for (const players of [1, 5, 300, 100_000]) {
  test(`sorted events lead to the same state as events one by one, ${players} players`, () => {
    const { given, batches } = lived(players + 1, players);
    const digest = stateDigest(given.state);
    // Room for few fills up again and again; for all of them, it is only what looks into the tables that ends a
    // stretch.
    for (const count of [0, 1, 500, 10_000]) {
      const state = takenInSorted(given, batches, count);
      assert.is(stateDigest(state), digest);
      assert.is(state.eventCount, given.state.eventCount);
    }
  });
}

test('sorted events are in the tables once they are settled, and later events at once', () => {
  const { given, batches } = lived(6, 50);
  const state = takenInSorted(given, batches, 10_000);
  const now = t0 + 1000 * hourMs;
  const before = given.records.length;
  given.event(0, 'p1', {}, now);
  takeIn(state, batchOf(recordsFrom(given, before), before + 1, now), new EventColumns());
  assert.is(stateDigest(state), stateDigest(given.state));
  assert.ok(state.subjects.find(subjectOf('p1')) >= 0);
});

test('an id that comes twice is a broken log, whether it is found at once or sorted beforehand', () => {
  const given = new Given(1).peers(1);
  given.event(0, 'p', {}, t0);
  const [formed, registered, event] = given.records.map(({ record }) => record);
  const batch = batchOf([formed!, registered!, event!, event!], 1, t0);
  assert.throws(() => takeIn(fresh(given), batch, new EventColumns()), /record 4 repeats an id/);
  assert.throws(() => takenInSorted(given, [batch], 10), /record 4 repeats an id/);
});

test('an event of an unknown type enters no column, and is refused when it is read', () => {
  const given = new Given(1).peers(1);
  given.event(0, 'p', {}, t0);
  const [formed, registered, event] = given.records.map(({ record }) => record);
  const newer = Object.assign({ ...event! }, { event_type: eventTypeNames.length + 1 });
  const batch = batchOf([formed!, registered!, event!, newer], 1, t0);
  assert.not.ok(batch.isEvent(4));
  assert.throws(() => takeIn(fresh(given), batch, new EventColumns()), /newer release/);
  assert.throws(() => takenInSorted(given, [batch], 10), /newer release/);
});

test('columns end at a record that is no event or when they are full, and continue after it', () => {
  const { given, batches } = lived(3, 50);
  const columns = new EventColumns(100);
  for (const batch of batches) {
    for (let seq = batch.firstSeq; seq <= batch.lastSeq; seq += Math.max(1, columns.count)) {
      batch.events(seq, columns);
      const isEvent = (i: number) => given.records[i - 1]?.record.type === 'event_accepted' && i <= batch.lastSeq;
      let events = 0;
      while (isEvent(seq + events) && events < 100) events++;
      assert.is(columns.count, events);
    }
  }
});

test.run();
