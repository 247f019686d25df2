/**
 * A reader of the stream that moves from one node to another: the second node knows only up to which record, and up to
 * when, the first one had told everything.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { asOfTime, endOfMinute } from '../../../src/core/evidence/decay.js';
import { subjectHex } from '../../../src/core/hashing/pseudonym.js';
import { BatchWriter, chainStart, NONCE_BYTES } from '../../../src/core/records/batch.js';
import type { LogRecord } from '../../../src/core/records/records.js';
import { decideErasure } from '../../../src/core/rules/decide-removal.js';
import { trustOf } from '../../../src/core/scoring/score.js';
import { ChangeTable, type TouchedRows } from '../../../src/group/feed/change-table.js';
import { playersChangedSince } from '../../../src/group/replica/replica.js';
import type { PublishedPlayer } from '../../../src/group/verdict-changes.js';
import { limits } from '../../../src/limits.js';
import { dayMs, Given, hourMs, subjectOf, t0 } from '../../support/given.js';
import { MemoryLog } from '../../support/memory-log.js';
import { readInto } from '../../support/published-players.js';
import { Random } from '../../support/random.js';
import { weightsOf } from '../../support/weights.js';

const steps = { score: 100, confidence: 500, fixed: true } as const;
const bounds = { rowsMax: 7, lookedAtMax: 11, touchedMax: 1_000 };

/** A group with two nodes whose tables begin at different times, and the log that they share. */
class World {
  readonly given = new Given(1).peers(4).weigh({ a: [3, 3, 3, 3], b: [3, 3, 3, 3], z: [1, 1, 1, 1] });
  readonly log = new MemoryLog();
  readonly #writer = this.log.acquire();
  readonly #tables: ChangeTable[] = [];
  #logged = 0;
  #chain = chainStart;
  now = t0;

  get state() {
    return this.given.state;
  }

  async event(peer: number, player: string, more: object = {}): Promise<void> {
    const before = this.given.records.length;
    this.given.event(peer, player, { timestamp: this.now, ...more }, this.now);
    for (const { record } of this.given.records.slice(before)) for (const table of this.#tables) table.after(record);
    await this.#append();
  }

  async apply(records: readonly LogRecord[]): Promise<void> {
    for (const record of records) {
      for (const table of this.#tables) table.before(record);
      this.given.apply([record], this.now);
      for (const table of this.#tables) table.after(record);
    }
    await this.#append();
  }

  weigh(tau: number): Promise<void> {
    const all = (value: number) => new Array<number>(4).fill(value);
    const weights = weightsOf(4, { tau: all(tau), a: all(2), b: all(2), z: all(0.5) }, 0.1);
    return this.apply([{ type: 'weights_published', ...weights, computed_at: this.now }]);
  }

  async #append(): Promise<void> {
    const batch = new BatchWriter();
    const firstSeq = this.#logged + 1;
    for (const { record } of this.given.records.slice(this.#logged)) batch.add(record);
    if (batch.count === 0) return;
    this.#logged = this.given.records.length;
    const { bytes, chain } = batch.seal(firstSeq, this.now, Buffer.alloc(NONCE_BYTES), this.#chain);
    this.#chain = chain;
    await this.#writer.append({ firstSeq, bytes }, []);
  }

  /** The table of a node that begins now. */
  table(): ChangeTable {
    const table = new ChangeTable(this.state, steps, bounds);
    this.#tables.push(table);
    this.publish(table, new Map());
    return table;
  }

  /** Has a node tell everything to a reader; the place up to which it has. */
  publish(table: ChangeTable, reader: Map<string, PublishedPlayer>): { readonly seq: number; readonly asOf: number } {
    for (;;) {
      const { rows, more, upTo } = table.next(asOfTime(this.state, endOfMinute(this.now)), this.now);
      for (const { subject, player } of rows) {
        if (player === null) reader.delete(subject);
        else reader.set(subject, player);
      }
      if (!more) return upTo!;
    }
  }

  /** Everything that a node has told. */
  snapshot(table: ChangeTable): Map<string, PublishedPlayer> {
    const reader = new Map<string, PublishedPlayer>();
    for (let from: number | null = 0; from !== null; ) {
      const { players, next } = table.walk(from, 0);
      readInto(reader, players);
      from = next;
    }
    return reader;
  }

  /** The rows that a reader lacks who was told everything up to a place by another node; their number. */
  resume(table: ChangeTable, touched: TouchedRows, asOf: number, reader: Map<string, PublishedPlayer>): number {
    let count = 0;
    for (let from: number | null = 0; from !== null; ) {
      const piece = table.walkElsewhere(from, touched, asOfTime(this.state, endOfMinute(asOf)));
      readInto(reader, piece.players);
      count += piece.players.scores.length;
      from = piece.next;
    }
    return count;
  }

  /** Fails unless a reader holds the verdict of each player, and numbers that are less than a step off. */
  holds(reader: ReadonlyMap<string, PublishedPlayer>): void {
    const asOf = asOfTime(this.state, endOfMinute(this.now));
    const { subjects } = this.state;
    assert.is(reader.size, subjects.size);
    for (let row = 0; row < subjects.rows; row++) {
      if (!subjects.has(row)) continue;
      const view = trustOf(this.state, row, asOf);
      const held = reader.get(subjectHex(subjects.keyOf(row)));
      assert.is(held?.verdict, view.verdict);
      assert.ok(Math.abs(held!.score - view.score) < 1.01, `${held!.score} for ${view.score}`);
      assert.ok(Math.abs(held!.confidence - view.confidence) < 0.0501);
    }
  }
}

test('a reader that changes nodes has every verdict of the new node, whatever both had sent before', async () => {
  for (let seed = 1; seed <= 15; seed++) {
    const random = new Random(seed);
    const world = new World();
    const type = () => random.pick(['report_cheating', 'commendation', 'ban_applied'] as const);
    const some = async (count: number) => {
      for (let i = 0; i < count; i++) {
        world.now += random.below(6 * hourMs);
        const severity = random.below(101) / 100;
        await world.event(random.below(4), `p${random.below(40)}`, { event_type: type(), severity });
      }
    };
    await some(60);
    const first = world.table();
    await some(random.below(30));
    const reader = world.snapshot(first);
    const second = random.below(2) === 0 ? world.table() : null;
    let place = world.publish(first, reader);
    world.holds(reader);
    for (let moves = 0; moves < 4; moves++) {
      await some(random.below(12));
      if (random.below(4) === 0) await world.weigh(random.next());
      world.now += random.below(2 * dayMs);
      const next = second ?? world.table();
      if (second !== null) world.publish(second, new Map());
      const touched = playersChangedSince(world.log, world.state, place.seq);
      if (touched === null) throw new Error('nobody was erased');
      world.resume(next, touched, place.asOf, reader);
      world.holds(reader);
      place = { seq: world.state.lastSeq, asOf: world.now };
    }
  }
});

test('a reader that moves gets no row of a player who has not moved', async () => {
  const world = new World();
  for (let i = 0; i < 30; i++) await world.event(i % 4, `p${i}`);
  const first = world.table();
  const reader = world.snapshot(first);
  const place = world.publish(first, reader);
  await world.event(0, 'p3');
  await world.event(1, 'new');
  const second = world.table();
  const touched = playersChangedSince(world.log, world.state, place.seq);
  assert.is(world.resume(second, touched!, place.asOf, reader), 2);
  world.holds(reader);
});

test('a reader that moves gets no row that its new node has not published yet', async () => {
  const world = new World();
  await world.event(0, 'p');
  const first = world.table();
  const reader = world.snapshot(first);
  const place = world.publish(first, reader);
  const second = world.table();
  await world.event(1, 'new');
  const touched = playersChangedSince(world.log, world.state, place.seq);
  assert.is(world.resume(second, touched!, place.asOf, reader), 0);
  world.publish(second, reader);
  world.holds(reader);
});

test('new weights may move any player, so that a reader who moves gets every row', async () => {
  const world = new World();
  for (let i = 0; i < 9; i++) await world.event(i % 4, `p${i}`);
  const { lastSeq } = world.state;
  await world.weigh(0.4);
  assert.is(playersChangedSince(world.log, world.state, lastSeq), 'all');
});

test('after an erasure, or with a record that does not exist yet, a reader starts anew', async () => {
  const world = new World();
  await world.event(0, 'p');
  await world.event(0, 'q');
  const { lastSeq } = world.state;
  assert.is(playersChangedSince(world.log, world.state, lastSeq + 1), null);
  const command = { caller: -2, subject: subjectOf('p'), commitment: 'c', by: 'test' };
  const group = { peersMax: 9, erasureQuotaPerDay: 9, erasureMode: 'peer' } as const;
  await world.apply(decideErasure(world.state, group, command, world.now).records);
  assert.is(playersChangedSince(world.log, world.state, lastSeq), null);
});

test('a reader that has everything gets nothing, and one that lacks too many records starts anew', async () => {
  const world = new World();
  await world.event(0, 'p');
  const { lastSeq } = world.state;
  assert.is((playersChangedSince(world.log, world.state, lastSeq) as ReadonlySet<number>).size, 0);
  let reads = 0;
  const log = Object.assign(new MemoryLog(), { from: () => [].slice(reads++) });
  for (const more of [0, 1]) playersChangedSince(log, world.state, lastSeq - limits.streamResumeRecordsMax - more);
  assert.is(reads, 1);
});

test.run();
