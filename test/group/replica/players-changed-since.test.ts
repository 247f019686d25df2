/**
 * A reader of the stream that moves from one node to another: the second node knows only up to which record, and up to
 * when, the first one had told everything.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { asOfTime, endOfMinute } from '../../../src/core/evidence/decay.js';
import { type Batch, BatchWriter, chainStart, NONCE_BYTES } from '../../../src/core/records/batch.js';
import { ChangeTable, type TouchedRows } from '../../../src/group/feed/change-table.js';
import type { LogReader } from '../../../src/group/ports/storage.js';
import { playersChangedSince } from '../../../src/group/replica/replica.js';
import { limits } from '../../../src/limits.js';
import { dayMs, hourMs } from '../../support/given.js';
import { logOf } from '../../support/log-of.js';
import { MemoryLog } from '../../support/memory-log.js';
import { Random } from '../../support/random.js';
import { FollowedState, type Players, readRows, readWalk } from '../feed/followed-state.js';

const steps = { score: 100, confidence: 500, fixed: true } as const;
const bounds = { rowsMax: 7, lookedAtMax: 11, touchedMax: 1_000 };

interface Place {
  readonly seq: number;
  readonly asOf: number;
}

/** A group with nodes whose tables begin at different times, and the log that they share. */
class World extends FollowedState {
  constructor() {
    super(1, endOfMinute);
  }

  changedSince(seq: number, log: LogReader = this.#logBehind(seq)): TouchedRows | null {
    return playersChangedSince(log, this.state, seq);
  }

  /** The log behind a record, in batches of two records. */
  #logBehind(seq: number): LogReader {
    const batches: Batch[] = [];
    for (let before = seq; before < this.state.lastSeq; before += 2) {
      const writer = new BatchWriter();
      for (const { record } of this.given.records.slice(before, before + 2)) writer.add(record);
      batches.push(writer.seal(before + 1, this.now, Buffer.alloc(NONCE_BYTES), chainStart));
    }
    return logOf(batches);
  }

  /** The table of a node that begins now. */
  table(): ChangeTable {
    const table = new ChangeTable(this.state, steps, bounds);
    this.tables.push(table);
    this.publish(table, new Map());
    return table;
  }

  /** Has a node tell everything to a reader; the place up to which it has. */
  publish(table: ChangeTable, reader: Players): Place {
    for (;;) {
      const { rows, more, upTo } = table.next(this.asOf, this.now);
      readRows(reader, rows);
      if (!more) return upTo!;
    }
  }

  /** A reader whom a node that begins now told everything, and the place up to which it has. */
  reading(): { readonly reader: Players; readonly place: Place } {
    const table = this.table();
    const reader: Players = new Map();
    readWalk(reader, (from) => table.walk(from, 0));
    return { reader, place: this.publish(table, reader) };
  }

  /** Reads the rows that a reader lacks who was told everything up to a place by another node; their number. */
  resume(table: ChangeTable, { seq, asOf }: Place, reader: Players): number {
    const touched = this.changedSince(seq);
    if (touched === null) throw new Error('nobody was erased');
    const until = asOfTime(this.state, endOfMinute(asOf));
    const sizes = readWalk(reader, (from) => table.walkElsewhere(from, touched, until));
    return sizes.reduce((sum, size) => sum + size);
  }
}

test('a reader that changes nodes has every verdict of the new node, whatever both had sent before', () => {
  for (let seed = 1; seed <= 15; seed++) {
    const random = new Random(seed);
    const world = new World();
    const some = (count: number) => {
      for (let i = 0; i < count; i++) {
        world.now += random.below(6 * hourMs);
        const eventType = random.pick(['report_cheating', 'commendation', 'ban_applied'] as const);
        world.event(random.below(4), `p${random.below(40)}`, { eventType, severity: random.below(101) / 100 });
      }
    };
    some(60);
    const first = world.table();
    some(random.below(30));
    const reader: Players = new Map();
    readWalk(reader, (from) => first.walk(from, 0));
    const second = random.below(2) === 0 ? world.table() : null;
    let place = world.publish(first, reader);
    world.holds(reader);
    for (let moves = 0; moves < 4; moves++) {
      some(random.below(12));
      if (random.below(4) === 0) world.weigh(random.next());
      world.now += random.below(2 * dayMs);
      const next = second ?? world.table();
      if (second !== null) world.publish(second, new Map());
      world.resume(next, place, reader);
      world.holds(reader);
      place = { seq: world.state.lastSeq, asOf: world.now };
    }
  }
});

test('a reader that moves gets no row of a player who has not moved', () => {
  const world = new World();
  for (let i = 0; i < 30; i++) world.event(i % 4, `p${i}`);
  const { reader, place } = world.reading();
  world.event(0, 'p3');
  world.event(1, 'new');
  assert.is(world.resume(world.table(), place, reader), 2);
  world.holds(reader);
});

test('a reader that moves gets no row that its new node has not published yet', () => {
  const world = new World();
  world.event(0, 'p');
  const { reader, place } = world.reading();
  const second = world.table();
  world.event(1, 'new');
  assert.is(world.resume(second, place, reader), 0);
  world.publish(second, reader);
  world.holds(reader);
});

test('new weights may move any player, so that a reader who moves gets every row', () => {
  const world = new World();
  for (let i = 0; i < 9; i++) world.event(i % 4, `p${i}`);
  const { lastSeq } = world.state;
  world.weigh(0.4);
  assert.is(world.changedSince(lastSeq), 'all');
});

test('a reader starts anew after an erasure, and with a record that is ahead of the log or too far behind', () => {
  const world = new World();
  for (const player of ['p', 'q']) world.event(0, player);
  const { lastSeq } = world.state;
  assert.is((world.changedSince(lastSeq) as ReadonlySet<number>).size, 0, 'one that has everything gets nothing');
  assert.is(world.changedSince(lastSeq + 1), null);
  let reads = 0;
  const log = Object.assign(new MemoryLog(), { from: () => [].slice(reads++) });
  for (const more of [0, 1]) world.changedSince(lastSeq - limits.streamResumeRecordsMax - more, log);
  assert.is(reads, 1);
  world.erase('p');
  assert.is(world.changedSince(lastSeq), null);
});

test.run();
