import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { asOfTime } from '../../../src/core/evidence/decay.js';
import { subjectHex } from '../../../src/core/hashing/pseudonym.js';
import { BatchWriter, chainStart, NONCE_BYTES } from '../../../src/core/records/batch.js';
import type { LogRecord } from '../../../src/core/records/records.js';
import { decideDispute, decideDisputeOpened } from '../../../src/core/rules/decide-dispute.js';
import { decideErasure, decideErasureRefused } from '../../../src/core/rules/decide-removal.js';
import { trustOf } from '../../../src/core/scoring/score.js';
import { EventColumns } from '../../../src/core/tables/event-columns.js';
import { ChangeTable } from '../../../src/group/feed/change-table.js';
import type { ChangePiece, PublishedPlayer } from '../../../src/group/verdict-changes.js';
import { dayMs, Given, subjectOf, t0 } from '../../support/given.js';
import { readInto } from '../../support/published-players.js';
import { Random } from '../../support/random.js';
import { weightsOf } from '../../support/weights.js';

const steps = { score: 100, confidence: 500 };
const bounds = { rowsMax: 3, lookedAtMax: 5, touchedMax: 4 };

/** A state whose records a table follows, and a reader of what it tells. */
class TableReader {
  readonly given = new Given(30).peers(4).weigh({ a: [3, 3, 3, 3], b: [3, 3, 3, 3], z: [1, 1, 1, 1] });
  readonly table = new ChangeTable(this.given.state, steps, bounds);
  readonly reader = new Map<string, PublishedPlayer>();
  now = t0;
  #isBegun = false;

  apply(records: readonly LogRecord[]): void {
    for (const record of records) {
      this.table.before(record);
      this.given.apply([record], this.now);
      this.table.after(record);
    }
  }

  event(peer: number, player: string, more: object = {}): void {
    const before = this.given.records.length;
    this.given.event(peer, player, { timestamp: this.now, ...more }, this.now);
    for (const { record } of this.given.records.slice(before)) this.table.after(record);
  }

  /** The events of a turn, taken in as columns. */
  eventsTogether(events: readonly (readonly [peer: number, player: string])[]): void {
    const firstSeq = this.given.state.lastSeq + 1;
    const writer = new BatchWriter();
    for (const [peer, player] of events) {
      this.given.event(peer, player, { timestamp: this.now }, this.now);
      writer.add(this.given.records.at(-1)!.record);
    }
    const columns = new EventColumns();
    writer.seal(firstSeq, this.now, Buffer.alloc(NONCE_BYTES), chainStart).events(firstSeq, columns);
    this.table.afterEvents(columns);
  }

  erase(player: string): void {
    const command = { caller: -2, subject: subjectOf(player), commitment: 'c', by: 'test' };
    this.apply(
      decideErasure(this.given.state, { peersMax: 9, erasureQuotaPerDay: 9, erasureMode: 'peer' }, command, this.now)
        .records,
    );
  }

  weigh(tau: number): void {
    const all = (value: number) => new Array<number>(4).fill(value);
    const weights = weightsOf(4, { tau: all(tau), a: all(2), b: all(2), z: all(0.5) }, 0.1);
    this.apply([{ type: 'weights_published', ...weights, computed_at: this.now }]);
  }

  piece(): ChangePiece {
    const piece = this.table.next(asOfTime(this.given.state, this.now), this.now);
    if (!this.#isBegun && piece.upTo !== null) {
      this.#isBegun = true;
      this.walk(0, this.reader);
    }
    for (const { subject, player } of piece.rows) {
      if (player === null) this.reader.delete(subject);
      else this.reader.set(subject, player);
    }
    return piece;
  }

  /** Reads what was told behind a position into a reader's table. */
  walk(since: number, into: Map<string, PublishedPlayer>): void {
    for (let from: number | null = 0; from !== null; ) {
      const { players, next } = this.table.walk(from, since);
      assert.ok(players.scores.length <= bounds.rowsMax);
      readInto(into, players);
      from = next;
    }
  }

  /** Everything that there is to tell; the last piece. */
  all(): ChangePiece {
    for (;;) {
      const piece = this.piece();
      if (!piece.more) return piece;
    }
  }

  /** Checks the rows of every player of the state, and of no other, within the steps. */
  holds(rows: ReadonlyMap<string, PublishedPlayer> = this.reader): void {
    const { subjects } = this.given.state;
    const asOf = asOfTime(this.given.state, this.now);
    assert.is(rows.size, subjects.size);
    for (let row = 0; row < subjects.rows; row++) {
      if (!subjects.has(row)) continue;
      const view = trustOf(this.given.state, row, asOf);
      const mine = rows.get(subjectHex(subjects.keyOf(row)));
      assert.is(mine?.verdict, view.verdict);
      // The step, and half of the last digit on both sides.
      assert.ok(Math.abs(mine!.score - view.score) < 1.01, `${mine!.score} for ${view.score}`);
      assert.ok(Math.abs(mine!.confidence - view.confidence) < 0.0501);
    }
  }
}

test('events that are applied together publish every player, like single events', () => {
  const reader = new TableReader();
  for (let i = 0; i < 3; i++) reader.event(0, `p${i}`);
  reader.all();
  reader.eventsTogether([
    [1, 'p0'],
    [2, 'p0'],
    [3, 'p7'],
  ]);
  const { rows } = reader.all();
  assert.equal(
    rows.map(({ subject }) => subject).sort(),
    ['p0', 'p7'].map((name) => subjectHex(subjectOf(name))).sort(),
  );
  reader.holds();
});

test('a walk first reads all players in pieces, then sends them', () => {
  const reader = new TableReader();
  for (let i = 0; i < 12; i++) reader.event(0, `p${i}`);
  const table = new ChangeTable(reader.given.state, steps, bounds);
  const pieces = Array.from({ length: 3 }, () => table.next(asOfTime(reader.given.state, t0), t0));
  // 12 rows, 5 at a time.
  assert.equal(
    pieces.map(({ rows, upTo, position }) => [rows.length, upTo?.seq, position]),
    [
      [0, undefined, 0],
      [0, undefined, 0],
      [0, reader.given.state.lastSeq, 1],
    ],
  );
  assert.equal(
    [table.walk(0, 0), table.walk(0, 1)].map(({ players }) => players.scores.length),
    [bounds.rowsMax, 0],
  );
  reader.all();
  reader.holds();
});

test('a change of less than a step is not sent, and a change of a step is', () => {
  const reader = new TableReader();
  reader.event(0, 'a');
  reader.all();
  // n = 1: one event of severity 1 brings 50 to 45; a hundredth of it moves the score by less than a point.
  reader.event(0, 'a', { severity: 0.01 });
  assert.equal(reader.all().rows, []);
  reader.event(1, 'a');
  assert.is(reader.piece().rows.length, 1);
});

test('decay alone is sent once it amounts to a step', () => {
  const reader = new TableReader();
  for (const peer of [0, 1, 2]) reader.event(peer, 'a');
  reader.all();
  let published = 0;
  for (let day = 1; day <= 60; day++) {
    reader.now = t0 + day * dayMs;
    published += reader.piece().rows.length;
    reader.holds();
  }
  assert.ok(published > 1 && published < 60, `${published} times in 60 days`);
});

test('new weights are sent for all players that they change', () => {
  const reader = new TableReader();
  for (let i = 0; i < 10; i++) for (const peer of [0, 1]) reader.event(peer, `p${i}`);
  reader.all();
  reader.weigh(0.3);
  assert.ok(reader.piece().more);
  reader.all();
  reader.holds();
});

test('a sweep publishes everything known at its start, although more changes come meanwhile', () => {
  const reader = new TableReader();
  for (let i = 0; i < 12; i++) reader.event(0, `p${i}`);
  reader.all();
  reader.weigh(0.3);
  const began = reader.given.state.lastSeq;
  let piece = reader.piece();
  for (let i = 0; piece.upTo!.seq < began; i++) {
    for (let n = 0; n < 3; n++) reader.event(1, `new ${i} ${n}`);
    piece = reader.piece();
    assert.ok(i < 100);
  }
  assert.ok(piece.more);
  assert.is(piece.upTo?.seq, began);
});

test('a state completes even if changes always exceed a piece', () => {
  const reader = new TableReader();
  reader.event(0, 'first');
  reader.all();
  let whole = 0;
  for (let i = 0; i < 200; i++) {
    const { seq } = reader.piece().upTo!;
    assert.ok(seq >= whole);
    whole = seq;
    for (let n = 0; n < 4; n++) reader.event(1, `p${i} ${n}`);
    if (i % 7 === 0) reader.weigh(0.1 + (i % 8) / 10);
  }
  assert.ok(whole > 100, `whole up to ${whole} of ${reader.given.state.lastSeq}`);
  reader.all();
  reader.holds();
});

test('a state completes without a sweep although changed players always wait', () => {
  const reader = new TableReader();
  const touch = (from: number, count: number) => {
    for (let n = from; n < from + count; n++) reader.event(1, `p${n % 8}`);
  };
  touch(0, 8);
  reader.all();
  touch(0, 4);
  const began = reader.given.state.lastSeq;
  for (let i = 0; i < 4; i++) {
    assert.ok(reader.piece().more);
    touch(4 + 3 * i, 3);
  }
  assert.ok(reader.piece().upTo!.seq > began);
});

test('an erased player is sent before all others, and a later one under its name is a new player', () => {
  const reader = new TableReader();
  for (let i = 0; i < 6; i++) reader.event(0, `p${i}`);
  reader.all();
  for (let i = 0; i < 5; i++) reader.event(1, `p${i}`);
  reader.erase('p0');
  reader.event(2, 'p0');
  const piece = reader.piece();
  // With the peers whose events went, which are those that had reported it by then.
  assert.equal(piece.rows[0], { subject: subjectHex(subjectOf('p0')), player: null, peers: [0, 1] });
  reader.all();
  reader.holds();
});

test('erased players are sent alone if only these are requested, and the others afterwards', () => {
  const reader = new TableReader();
  for (let i = 0; i < 6; i++) reader.event(0, `p${i}`);
  const { upTo } = reader.all();
  for (let i = 0; i < 5; i++) reader.event(1, `p${i}`);
  for (let i = 0; i < 4; i++) reader.erase(`p${i}`);
  const pieces = [reader.table.nextErased(), reader.table.nextErased(), reader.table.nextErased()];
  assert.equal(
    pieces.map(({ rows, more, moreErased }) => [rows.map(({ player }) => player), more, moreErased]),
    [
      [[null, null, null], true, true],
      [[null], true, false],
      [[], true, false],
    ],
  );
  // Nothing new is known in full by that.
  for (const piece of pieces) assert.equal(piece.upTo, upTo);
  for (let i = 0; i < 4; i++) reader.reader.delete(subjectHex(subjectOf(`p${i}`)));
  reader.all();
  reader.holds();
});

test('a withdrawal is sent for its player', () => {
  const world = new TableReader();
  world.event(0, 'p');
  const seq = world.given.state.lastSeq;
  world.all();
  const before = world.given.records.length;
  assert.is(world.given.withdraw(null, seq), 'ok');
  for (const { record } of world.given.records.slice(before)) world.table.after(record);
  assert.is(world.all().rows.length, 1);
  world.holds();
});

test('a new mark on a player that has not moved is sent to the peers that see it, and to no others', () => {
  const world = new TableReader();
  const { state } = world.given;
  const subject = subjectOf('p');
  for (const peer of [0, 2]) world.event(peer, 'p');
  world.all();
  const marked = () => world.all().rows.map((row) => [row.subject, row.peers, row.quiet]);
  const opening = { disputeId: 'd', caller: 1, subject, text: 'not him', by: 'test' };
  world.apply(decideDisputeOpened(state, opening, world.now).records);
  assert.equal(marked(), [[subjectHex(subject), [0, 2], true]]);
  const group = { peersMax: 9, erasureQuotaPerDay: 9, erasureMode: 'operator' } as const;
  const request = { caller: 3, subject, commitment: 'c', by: 'peer-3' };
  world.apply(decideErasure(state, group, request, world.now).records);
  world.apply(decideErasureRefused(state, { subject, reason: 'no', by: 'test' }, world.now).records);
  assert.equal(marked(), [[subjectHex(subject), [3], true]]);
  world.apply(decideDispute(state, { disputeId: 'd', decision: 'reject', peerIds: [], by: 'test' }, world.now).records);
  assert.equal(marked(), [[subjectHex(subject), [0, 2], true]]);
  assert.equal(marked(), []);
});

test('nothing counts as published while erased players wait', () => {
  const world = new TableReader();
  for (let i = 0; i < 9; i++) world.event(0, `p${i}`);
  const { seq } = world.all().upTo!;
  for (let i = 0; i < 2 * bounds.rowsMax; i++) world.erase(`p${i}`);
  const first = world.piece();
  assert.equal([first.moreErased, first.upTo?.seq], [true, seq]);
  assert.is(world.all().upTo?.seq, world.given.state.lastSeq);
});

test('a player that was never sent is not sent as erased', () => {
  const reader = new TableReader();
  reader.all();
  reader.event(0, 'brief');
  reader.erase('brief');
  assert.equal(reader.all().rows, []);
});

test('readers of pieces and readers of walks always end with the values of reads', () => {
  const random = new Random(3);
  const reader = new TableReader();
  for (let round = 0; round < 200; round++) {
    // A walk from a position that was whole, with everything told meanwhile behind it.
    reader.all();
    const walker = new Map(reader.reader);
    const since = reader.table.walk(0, 0).position;
    const gone = new Set<string>();
    for (let n = random.below(12); n > 0; n--) {
      const player = `p${random.below(25)}`;
      const dice = random.below(20);
      if (dice === 0) reader.weigh(0.1 + 0.9 * random.next());
      else if (dice === 1 && reader.given.row(player) >= 0) {
        reader.erase(player);
        gone.add(subjectHex(subjectOf(player)));
      } else if (dice === 2) reader.now += random.below(20) * dayMs;
      else
        reader.event(random.below(4), player, {
          eventType: random.pick(['report_cheating', 'commendation', 'ban_applied']),
        });
      if (random.below(3) === 0) reader.piece();
    }
    reader.all();
    for (const subject of gone) walker.delete(subject);
    reader.walk(since, walker);
    reader.holds();
    reader.holds(walker);
    assert.equal([...walker].sort(), [...reader.reader].sort());
  }
});

test.run();
